import type { createScheduleBody, updateScheduleBody } from '@baton/contracts/http/execution-schedules';
import { badParameter, readInstant } from '@baton/kernel';
import type { z } from 'zod';
import { parseRecurrence, type ScheduleRule } from './recurrence';
import type { ExecutionArguments } from './schedule';

type Wire = 'spec' | 'cloudify';
type CreateBody = z.output<typeof createScheduleBody>;
type TimingBody = Pick<z.output<typeof updateScheduleBody>, 'recurrence' | 'count' | 'weekdays' | 'rrule'>;

/**
 * The rule that a new schedule, or `stored` with changes, has. A given rrule replaces the rule; else what is not given,
 * or null, stays (reference/rest-api.md 5.9).
 * @throws AppError bad_parameters_error where rrule stands beside recurrence, count or weekdays.
 */
export function ruleOf(body: TimingBody, wire: Wire, stored: ScheduleRule | null = null): ScheduleRule {
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
  if (wire === 'spec') refuseNothing(rule);
  return rule;
}

/** The original takes a recurrence of 0 days and counts below 1; neither can be meant. */
function refuseNothing({ recurrence, count }: { recurrence: string | null; count: number | null }): void {
  if (recurrence !== null && parseRecurrence(recurrence).every === 0)
    throw badParameter('recurrence', `recurrence: "${recurrence}" is no time between two runs`, {
      expected: '<integer from 1> minutes|hours|days|weeks|months|years',
    });
  if (count !== null && count < 1)
    throw badParameter('count', `count: ${count} is no number of runs`, { expected: 'an integer from 1' });
}

/** The spec takes a comma-separated text, which the original leaves to its clients. */
function weekdaysOf(weekdays: string[] | string, wire: Wire): string[] | null {
  if (typeof weekdays !== 'string')
    return weekdays.length === 0 ? null : weekdays.map((day) => day.toUpperCase());
  if (wire === 'cloudify')
    throw badParameter('weekdays', 'weekdays must be a list', { expected: 'a list such as ["mo", "tu"]' });
  const days = weekdays.split(',').map((day) => day.trim().toUpperCase());
  return weekdays.trim() === '' ? null : days;
}

/** @throws AppError bad_parameters_error when there is no `since` to count from. */
export function sinceOf(body: CreateBody, wire: Wire): string | null {
  const isMissing = body.since === undefined && (wire === 'cloudify' || !body.rrule);
  if (isMissing || (body.since === null && wire === 'spec' && !body.rrule))
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
