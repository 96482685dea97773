import { badParameter, type Result } from '@baton/kernel';

export type Unit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';

/** Rule for the times of a schedule, as stored and shown (reference/rest-api.md 5.9). */
export type ScheduleRule =
  | { recurrence: string | null; count: number | null; weekdays: string[] | null }
  | { rrule: string };

const RECURRENCE = /^(\d{1,7}) ?(sec|second|min|minute|h|hour|d|day|w|week|mo|month|y|year)s?$/;
const UNITS: Record<string, Unit> = {
  sec: 'second',
  min: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  mo: 'month',
  y: 'year',
};

/** Parses `2 weeks`, `5min`, `1 mo` (reference/rest-api.md 6.8). @throws AppError bad_parameters_error */
export function parseRecurrence(text: string): { every: number; unit: Unit } {
  const match = RECURRENCE.exec(text.trim().toLowerCase());
  if (!match)
    throw badParameter('recurrence', `recurrence: "${text}" is no time between two runs`, {
      expected: '<integer from 1> minutes|hours|days|weeks|months|years',
      value: text,
    });
  return { every: Number(match[1]), unit: UNITS[match[2]!] ?? (match[2] as Unit) };
}

const WEEKDAY = /^([1-4]|l-)?(su|mo|tu|we|th|fr|sa)$/i;

/**
 * Returns days in the form of RFC 5545: `mo` is MO, `1mo` 1MO, `l-tu` -1TU.
 * @throws AppError bad_parameters_error for an unknown day, or a numbered day with a unit that has no such days.
 */
export function byDayOf(weekdays: readonly string[], unit: Unit | null): string[] {
  return weekdays.map((day, i) => {
    const match = WEEKDAY.exec(day);
    if (!match)
      throw badParameter(`weekdays[${i}]`, `weekdays: "${day}" is no weekday`, {
        expected: 'su, mo, tu, we, th, fr, sa, each after 1 to 4 or l- where months or years recur',
        value: day,
      });
    const [, place, name] = match;
    if (place !== undefined && unit !== 'month' && unit !== 'year')
      throw badParameter(`weekdays[${i}]`, `weekdays: "${day}" needs a recurrence of months or years`, {
        expected: 'a weekday without a number, or a recurrence of months or years',
        value: day,
      });
    return `${place === undefined ? '' : place.toLowerCase() === 'l-' ? '-1' : place}${name!.toUpperCase()}`;
  });
}

const PARTS = new Set(
  `FREQ UNTIL COUNT INTERVAL BYSECOND BYMINUTE BYHOUR BYDAY BYMONTHDAY BYYEARDAY BYWEEKNO BYMONTH BYSETPOS WKST`.split(
    ' ',
  ),
);
const MAX_RRULE_CHARS = 2_000;
/** The library steps through counted rules from their beginning: this many steps take some 100 ms. */
export const MAX_RRULE_COUNT = 5_000;

/** The parts of an RFC 5545 rule: its RRULE line without the name, and the other lines. */
export interface RuleText {
  rule: string;
  dtstart: string | null;
  others: string[];
}

/** Checks the form of a rule and splits it; the library checks the meaning of its values. */
export function splitRRule(text: string): Result<RuleText, string> {
  if (text.length > MAX_RRULE_CHARS) return refused(`is longer than ${MAX_RRULE_CHARS} characters`);
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const rules = lines.filter(
    (line) => /^RRULE:/i.test(line) || /^FREQ=/i.test(line) || !/^[A-Z]+[:;]/i.test(line),
  );
  const dtstart = lines.filter((line) => /^DTSTART[:;]/i.test(line));
  const others = lines.filter((line) => /^(EXDATE|RDATE)[:;]/i.test(line));
  if (rules.length !== 1) return refused('must hold exactly one RRULE');
  if (dtstart.length > 1 || rules.length + dtstart.length + others.length !== lines.length)
    return refused('may hold one DTSTART, EXDATE and RDATE beside the RRULE, nothing else');
  const rule = rules[0]!.replace(/^RRULE:/i, '').toUpperCase();
  const problem = problemOfParts(rule);
  if (problem !== null) return refused(problem);
  const [start = null] = dtstart;
  // Times without a zone are UTC, as everywhere in input (reference/rest-api.md 4.1), unless the rule names a zone.
  const until = start !== null && /;TZID=/i.test(start) ? rule : rule.replace(LOCAL_UNTIL, '$&Z');
  return { ok: true, value: { rule: until, dtstart: start, others } };
}

const LOCAL_UNTIL = /\bUNTIL=\d{8}T\d{6}(?=;|$)/;

const refused = (problem: string): { ok: false; error: string } => ({ ok: false, error: problem });

function problemOfParts(rule: string): string | null {
  const seen = new Set<string>();
  for (const part of rule.split(';').filter((one) => one !== '')) {
    const [name = '', value = ''] = part.split('=');
    if (!PARTS.has(name)) return `has an unknown part ${name}`;
    if (seen.has(name) || value === '') return `needs one value of ${name}`;
    seen.add(name);
    const isNumber = name === 'COUNT' || name === 'INTERVAL';
    if (isNumber && !(/^\d{1,7}$/.test(value) && Number(value) >= 1))
      return `needs a whole number from 1 as ${name}`;
    if (name === 'COUNT' && Number(value) > MAX_RRULE_COUNT)
      return `may have a COUNT of at most ${MAX_RRULE_COUNT}`;
  }
  return seen.has('FREQ') ? null : 'needs FREQ';
}
