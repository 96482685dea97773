import type { createScheduleBody, updateScheduleBody } from '@baton/contracts/http/execution-schedules';
import { badParameter, readInstant } from '@baton/kernel';
import type { z } from 'zod';
import { parseRecurrence, type ScheduleRule } from './recurrence';
import type { ExecutionArguments } from './schedule';

type CreateBody = z.output<typeof createScheduleBody>;
type TimingBody = Pick<z.output<typeof updateScheduleBody>, 'recurrence' | 'count' | 'weekdays' | 'rrule'>;

/** Parts of the input that the wires read differently. */
export interface ScheduleReading {
  /** Checks a rule. @throws AppError bad_parameters_error for a rule that can mean no run. */
  checkRule(rule: { recurrence: string | null; count: number | null }): void;
  /** Returns the days in a text; null: none. @throws AppError bad_parameters_error where days must be a list. */
  weekdaysOfText(text: string): string[] | null;
  /** Returns whether a missing `since` is an error, because nothing else gives a start. */
  needsSince(body: Pick<CreateBody, 'since' | 'rrule'>): boolean;
}

/** Reading of schedules by the specification. Blueprints are read this way on every wire. */
export const specReading: ScheduleReading = {
  checkRule: refuseNothing,
  weekdaysOfText(text) {
    const days = text.split(',').map((day) => day.trim().toUpperCase());
    return text.trim() === '' ? null : days;
  },
  needsSince: ({ since, rrule }) => (since === undefined || since === null) && !rrule,
};

/**
 * Returns the rule of a new schedule, or of `stored` with changes. A given rrule replaces the rule; otherwise, fields that are
 * not given, or null, stay (reference/rest-api.md 5.9).
 * @throws AppError bad_parameters_error when rrule is given beside recurrence, count or weekdays.
 */
export function ruleOf(
  body: TimingBody,
  wire: ScheduleReading,
  stored: ScheduleRule | null = null,
): ScheduleRule {
  if (typeof body.rrule === 'string') {
    for (const field of ['recurrence', 'count', 'weekdays'] as const)
      if (body[field] !== undefined && body[field] !== null)
        throw badParameter(field, `rrule and ${field} exclude each other`, { expected: `rrule or ${field}` });
    return { rrule: body.rrule };
  }
  const before = stored !== null && !('rrule' in stored) ? stored : null;
  const isUntouched = [body.recurrence, body.count, body.weekdays].every((given) => given == null);
  if (stored !== null && isUntouched) return stored;
  const rule = {
    recurrence: body.recurrence ?? before?.recurrence ?? null,
    count: body.count ?? before?.count ?? null,
    weekdays: body.weekdays == null ? (before?.weekdays ?? null) : weekdaysOf(body.weekdays, wire),
  };
  wire.checkRule(rule);
  return rule;
}

/** Refuses a recurrence of 0 units and a count below 1. @throws AppError bad_parameters_error */
function refuseNothing({ recurrence, count }: { recurrence: string | null; count: number | null }): void {
  if (recurrence !== null && parseRecurrence(recurrence).every === 0)
    throw badParameter('recurrence', `recurrence: "${recurrence}" is no time between two runs`, {
      expected: '<integer from 1> minutes|hours|days|weeks|months|years',
    });
  if (count !== null && count < 1)
    throw badParameter('count', `count: ${count} is no number of runs`, { expected: 'an integer from 1' });
}

function weekdaysOf(weekdays: string[] | string, wire: ScheduleReading): string[] | null {
  if (typeof weekdays === 'string') return wire.weekdaysOfText(weekdays);
  return weekdays.length === 0 ? null : weekdays.map((day) => day.toUpperCase());
}

/** Returns the start of a new schedule. @throws AppError bad_parameters_error when `since` is missing and needed. */
export function sinceOf(body: CreateBody, wire: ScheduleReading): string | null {
  if (wire.needsSince(body))
    throw badParameter('since', 'since is missing', {
      expected: 'YYYY-MM-DD HH:MM:SS, unless rrule is given',
    });
  return typeof body.since === 'string' ? readInstant('since', body.since) : null;
}

/** Returns the stored arguments: all of them as soon as one is given. */
export function argumentsOf(given: CreateBody['execution_arguments']): ExecutionArguments {
  if (!given || Object.keys(given).length === 0) return {};
  return {
    allow_custom_parameters: given.allow_custom_parameters ?? false,
    force: given.force ?? false,
    is_dry_run: given.is_dry_run ?? given.dry_run ?? false,
    wait_after_fail: given.wait_after_fail ?? 600,
  };
}
