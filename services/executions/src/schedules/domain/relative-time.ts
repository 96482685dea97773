import { parseRecurrence, type Unit } from './recurrence';

const RELATIVE = /^(?:\+\d{1,7} ?[a-z]{1,7} ?){1,20}$/i;
const FIXED_MS: Partial<Record<Unit, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

/**
 * Returns the epoch ms of a text like `+1h +30min` (reference/dsl.md 2.13), months and years by the calendar; null for another
 * form.
 */
export function relativeTimeMs(text: string, nowMs: number): number | null {
  if (!RELATIVE.test(text.trim())) return null;
  let ms = nowMs;
  for (const part of text.split('+').filter((one) => one.trim() !== '')) {
    const { every, unit } = parseRecurrence(part);
    const fixed = FIXED_MS[unit];
    ms = fixed === undefined ? addMonths(ms, unit === 'year' ? every * 12 : every) : ms + every * fixed;
  }
  return ms;
}

function addMonths(ms: number, months: number): number {
  const date = new Date(ms);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime();
}
