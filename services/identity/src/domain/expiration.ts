import { badParameter, err, ok, type Result } from '@baton/kernel';

const EXPECTED =
  'YYYY-MM-DD HH:MM (UTC), HH:MM (today), or +<n><unit> with min, h, d, w, mo or y, e.g. +10h or +1d 12h';

type Unit = 'min' | 'h' | 'd' | 'w' | 'mo' | 'y';
const UNITS: Record<string, Unit> = {
  min: 'min',
  mins: 'min',
  minute: 'min',
  minutes: 'min',
  h: 'h',
  hour: 'h',
  hours: 'h',
  d: 'd',
  day: 'd',
  days: 'd',
  w: 'w',
  week: 'w',
  weeks: 'w',
  mo: 'mo',
  month: 'mo',
  months: 'mo',
  y: 'y',
  year: 'y',
  years: 'y',
};
const ABSOLUTE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)?Z?$/;
const TIME = /^(\d{1,2}):(\d\d)$/;
const TERM = /\+?\s*(\d{1,6})\s*([a-z]+)\s*/gy;
/** End of year 9999: a later instant has no ISO text with a four-digit year. */
const MAX_MS = 253_402_300_799_999;

/**
 * Parses the end of a token into epoch ms (reference/rest-api.md 2.3). `text`: an instant in UTC, a time of today, or chained
 * `+<n><unit>` terms counted from `nowMs`.
 */
export function parseExpiration(
  text: string,
  nowMs: number,
): Result<number, { message: string; expected: string }> {
  const parsed = text.startsWith('+') ? relative(text, nowMs) : (absolute(text) ?? ofToday(text, nowMs));
  if (parsed === null || parsed > MAX_MS)
    return err({ message: `Invalid expiration date \`${text}\``, expected: EXPECTED });
  if (parsed <= nowMs)
    return err({ message: `Expiration date \`${text}\` has passed`, expected: 'an instant to come' });
  return ok(parsed);
}

/** Parses the end of a token. @throws AppError bad_parameters_error when `text` is not an instant in the future. */
export function requireExpiration(text: string, nowMs: number): number {
  const parsed = parseExpiration(text, nowMs);
  if (parsed.ok) return parsed.value;
  throw badParameter('expiration_date', parsed.error.message, { expected: parsed.error.expected });
}

function absolute(text: string): number | null {
  const match = ABSOLUTE.exec(text.trim());
  if (!match) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const ms = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const instant = new Date(Date.UTC(year, month - 1, day, hour, minute, second, ms));
  // 2026-02-31 would roll over into March.
  const isReal =
    instant.getUTCMonth() === month - 1 &&
    instant.getUTCDate() === day &&
    hour < 24 &&
    minute < 60 &&
    second < 60;
  return isReal ? instant.getTime() : null;
}

function ofToday(text: string, nowMs: number): number | null {
  const match = TIME.exec(text.trim());
  if (!match) return null;
  const [hour, minute] = [Number(match[1]), Number(match[2])];
  if (hour > 23 || minute > 59) return null;
  return new Date(nowMs).setUTCHours(hour, minute, 0, 0);
}

function relative(text: string, nowMs: number): number | null {
  const at = new Date(nowMs);
  TERM.lastIndex = 0;
  const lower = text.trim().toLowerCase();
  while (TERM.lastIndex < lower.length) {
    const match = TERM.exec(lower);
    const unit = match && UNITS[match[2]!];
    if (!unit) return null;
    advance(at, Number(match[1]), unit);
  }
  const ms = at.getTime();
  return Number.isNaN(ms) ? null : ms;
}

function advance(at: Date, count: number, unit: Unit): void {
  if (unit === 'min') at.setTime(at.getTime() + count * 60_000);
  else if (unit === 'h') at.setTime(at.getTime() + count * 3_600_000);
  else if (unit === 'd') at.setTime(at.getTime() + count * 86_400_000);
  else if (unit === 'w') at.setTime(at.getTime() + count * 604_800_000);
  else addMonths(at, unit === 'mo' ? count : count * 12);
}

/** Adds months: the same day of the later month, or the last day of a month that is too short for it. */
function addMonths(at: Date, months: number): void {
  const day = at.getUTCDate();
  at.setUTCDate(1);
  at.setUTCMonth(at.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate();
  at.setUTCDate(Math.min(day, lastDay));
}
