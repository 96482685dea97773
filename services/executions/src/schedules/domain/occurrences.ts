import { badParameter, isStorableInstant } from '@baton/kernel';
import { RRuleTemporal } from 'rrule-temporal';
import {
  byDayOf,
  MAX_RRULE_COUNT,
  parseRecurrence,
  type ScheduleRule,
  splitRRule,
  type Unit,
} from './recurrence';

/** All values that determine the times of a schedule. Epoch ms; `baseMs` replaces a `since` that was not given. */
export interface Timing {
  rule: ScheduleRule;
  sinceMs: number | null;
  untilMs: number | null;
  baseMs: number;
}

/** Times of one schedule, in ascending order; the work of each call is bounded for every rule. */
export interface Occurrences {
  /** Returns the first time later than `afterMs`; null when there is none. */
  next(afterMs: number): number | null;
  /** Returns at most `limit` times later than `afterMs`. */
  upcoming(afterMs: number, limit: number): number[];
}

const FIXED_MS: Partial<Record<Unit, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};
const FREQ: Record<Unit, string> = {
  second: 'SECONDLY',
  minute: 'MINUTELY',
  hour: 'HOURLY',
  day: 'DAILY',
  week: 'WEEKLY',
  month: 'MONTHLY',
  year: 'YEARLY',
};
/** The most steps of the library for one call: about 100 ms at worst. */
const MAX_STEPS = 10_000;
const MAX_CANDIDATES = 20_000;
/** How far ahead times are searched; a rule without a time until then counts as ended. */
const HORIZON_MS = 400 * 366 * 86_400_000;

/**
 * Reads the rule of a schedule (reference/rest-api.md 6.8).
 * @throws AppError bad_parameters_error naming the field and what was expected.
 */
export function occurrencesOf(timing: Timing): Occurrences {
  const { rule, sinceMs, untilMs, baseMs } = timing;
  const startMs = sinceMs ?? baseMs;
  const within = (occurrences: Occurrences) => bounded(occurrences, startMs, untilMs);
  if ('rrule' in rule) return within(ofRRule(rule.rrule, startMs));
  const { recurrence, count } = rule;
  const weekdays = rule.weekdays ?? [];
  if (recurrence === null) {
    if (count !== 1)
      throw badParameter('recurrence', 'A schedule needs a recurrence, a count of 1, or an rrule', {
        expected: 'recurrence, count 1 or rrule',
      });
    // Only checks the form of the weekdays; a single run needs none.
    byDayOf(weekdays, null);
    return within(arithmetic(startMs, HORIZON_MS, 1));
  }
  const { every, unit } = parseRecurrence(recurrence);
  const byDay = byDayOf(weekdays, unit);
  // Every 0 days means once; only the original accepts such a recurrence.
  if (every === 0) return within(arithmetic(startMs, HORIZON_MS, 1));
  if (count !== null && count < 1) return { next: () => null, upcoming: () => [] };
  const fixedMs = FIXED_MS[unit];
  if (fixedMs !== undefined && byDay.length === 0) return within(arithmetic(startMs, every * fixedMs, count));
  if (count !== null && count > MAX_RRULE_COUNT)
    throw badParameter('count', `count: ${count} is too large for this recurrence`, {
      expected: `at most ${MAX_RRULE_COUNT} with weekdays, months or years`,
    });
  const parts = [`FREQ=${FREQ[unit]}`, `INTERVAL=${every}`];
  if (byDay.length > 0) parts.push(`BYDAY=${byDay.join(',')}`);
  if (count !== null) parts.push(`COUNT=${count}`);
  return within(ofLibrary(`DTSTART:${stamp(startMs)}\nRRULE:${parts.join(';')}`, 'recurrence'));
}

/** Returns the times of a rule with a fixed step, computed directly; not for weekdays or months. */
function arithmetic(startMs: number, stepMs: number, count: number | null): Occurrences {
  const at = (afterMs: number): number =>
    afterMs < startMs ? 0 : Math.floor((afterMs - startMs) / stepMs) + 1;
  const isLeft = (n: number): boolean => count === null || n < count;
  return {
    next: (afterMs) => (isLeft(at(afterMs)) ? startMs + at(afterMs) * stepMs : null),
    upcoming(afterMs, limit) {
      const first = at(afterMs);
      const length = Math.max(0, count === null ? limit : Math.min(limit, count - first));
      return Array.from({ length }, (_, i) => startMs + (first + i) * stepMs);
    },
  };
}

function ofRRule(text: string, startMs: number): Occurrences {
  const split = splitRRule(text);
  if (!split.ok) throw badRule(text, split.error);
  const { rule, dtstart, others } = split.value;
  return ofLibrary(
    [dtstart ?? `DTSTART:${stamp(startMs)}`, `RRULE:${rule}`, ...others].join('\n'),
    'rrule',
    text,
  );
}

/** Returns the times of an RFC 5545 rule, computed by the library. `shown`: the text of the user, for errors. */
function ofLibrary(text: string, field: string, shown = text): Occurrences {
  let library: RRuleTemporal;
  try {
    library = new RRuleTemporal({
      rruleString: text,
      maxIterations: MAX_STEPS,
      maxCandidateEvaluations: MAX_CANDIDATES,
    });
  } catch (error) {
    throw badRule(shown, `is not valid (${(error as Error).message})`, field);
  }
  const next = (afterMs: number): number | null => {
    const found = within(() => library.next(new Date(afterMs), false), null);
    return found === null ? null : found.epochMilliseconds;
  };
  return {
    next,
    upcoming(afterMs, limit) {
      const first = next(afterMs);
      const second = first === null ? null : next(first);
      if (first === null || second === null) return first === null || limit < 1 ? [] : [first];
      for (let windowMs = (second - first) * limit; ; windowMs *= 4) {
        const untilMs = Math.min(first + windowMs, afterMs + HORIZON_MS);
        const found = within(() => library.between(new Date(first), new Date(untilMs), true), []);
        if (found.length === 0) return [first, second].slice(0, limit);
        if (found.length >= limit || untilMs === afterMs + HORIZON_MS)
          return found.slice(0, limit).map((one) => one.epochMilliseconds);
      }
    },
  };
}

/** Calls the library. A rule that finds no time within the library's limits counts as having no more occurrences. */
function within<T>(ask: () => T, none: T): T {
  try {
    return ask();
  } catch (error) {
    if (error instanceof RangeError || /exceeded|out-of-bounds|out of range/i.test((error as Error).message))
      return none;
    throw error;
  }
}

function bounded(inner: Occurrences, startMs: number, untilMs: number | null): Occurrences {
  const from = (afterMs: number): number => Math.max(afterMs, startMs - 1);
  // A time that cannot be stored never occurs.
  const isIn = (at: number): boolean => (untilMs === null || at <= untilMs) && isStorableInstant(at);
  return {
    next(afterMs) {
      const at = inner.next(from(afterMs));
      return at !== null && isIn(at) ? at : null;
    },
    upcoming: (afterMs, limit) => inner.upcoming(from(afterMs), limit).filter(isIn),
  };
}

function badRule(text: string, problem: string, field = 'rrule') {
  return badParameter(field, `${field}: "${text.slice(0, 200)}" ${problem}`, {
    expected: 'a rule of RFC 5545, for instance FREQ=WEEKLY;BYDAY=MO,WE',
    value: text.slice(0, 200),
  });
}

/** Formats a time as `YYYYMMDDThhmmssZ`. */
function stamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}
