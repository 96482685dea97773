import type { createScheduleBody, updateScheduleBody } from '@baton/contracts/http/execution-schedules';
import { badParameter, readInstant } from '@baton/kernel';
import type { z } from 'zod';
import { parseRecurrence, type ScheduleRule } from './recurrence';
import type { ExecutionArguments } from './schedule';

type CreateBody = z.output<typeof createScheduleBody>;
type TimingBody = Pick<z.output<typeof updateScheduleBody>, 'recurrence' | 'count' | 'weekdays' | 'rrule'>;

/** What the wires read in different ways. */
export interface ScheduleReading {
  /** @throws AppError bad_parameters_error where the rule can mean no run. */
  checkRule(rule: { recurrence: string | null; count: number | null }): void;
  /** Days that a text names; null: none. @throws AppError bad_parameters_error where days must be a list. */
  weekdaysOfText(text: string): string[] | null;
  /** Whether there is nothing to count from. */
  needsSince(body: Pick<CreateBody, 'since' | 'rrule'>): boolean;
}

/** How the specification reads schedules. Blueprints are read so on every wire. */
export const specReading: ScheduleReading = {
  checkRule: refuseNothing,
  weekdaysOfText(text) {
    const days = text.split(',').map((day) => day.trim().toUpperCase());
    return text.trim() === '' ? null : days;
  },
  needsSince: ({ since, rrule }) => (since === undefined || since === null) && !rrule,
};

/**
 * The rule that a new schedule, or `stored` with changes, has. A given rrule replaces the rule; else what is not given,
 * or null, stays (reference/rest-api.md 5.9).
 * @throws AppError bad_parameters_error where rrule stands beside recurrence, count or weekdays.
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

/** Neither a recurrence of 0 days nor a count below 1 can be meant. @throws AppError bad_parameters_error */
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

/** @throws AppError bad_parameters_error when there is no `since` to count from. */
export function sinceOf(body: CreateBody, wire: ScheduleReading): string | null {
  if (wire.needsSince(body))
    throw badParameter('since', 'since is missing', {
      expected: 'YYYY-MM-DD HH:MM:SS, unless rrule is given',
    });
  return typeof body.since === 'string' ? readInstant('since', body.since) : null;
}

/** Stored in full as soon as one is given. */
export function argumentsOf(given: CreateBody['execution_arguments']): ExecutionArguments {
  if (!given || Object.keys(given).length === 0) return {};
  return {
    allow_custom_parameters: given.allow_custom_parameters ?? false,
    force: given.force ?? false,
    is_dry_run: given.is_dry_run ?? given.dry_run ?? false,
    wait_after_fail: given.wait_after_fail ?? 600,
  };
}
