/** Times of schedules (reference 2.13): `+1d`, `2026-01-31 08:00`, `08:00`. */

const UNIT = '(?:min(?:ute)?|h(?:our)?|d(?:ay)?|w(?:eek)?|mo(?:nth)?|y(?:ear)?)s?';
const DELTA = new RegExp(`^\\d{1,9} ?${UNIT}$`);
const RELATIVE = new RegExp(`^(?:\\+\\d{1,9} ?${UNIT} ?){1,20}$`);
const ABSOLUTE = /^(?:(\d{4})-(\d{1,2})-(\d{1,2}) )?(\d{1,2}):(\d{2})$/;
const DAY_MS = 86_400_000;

export function isTimeDelta(text: string): boolean {
  return DELTA.test(text);
}

export function isRelativeTime(text: string): boolean {
  return RELATIVE.test(text);
}

/** Returns the minutes by which the zone's clocks are ahead of UTC at an instant. */
function offsetMinutes(zone: string, instantMs: number): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  const parts = Object.fromEntries(format.formatToParts(instantMs).map((p) => [p.type, Number(p.value)]));
  const local = Date.UTC(parts.year!, parts.month! - 1, parts.day!, parts.hour!, parts.minute!);
  return Math.round((local - Math.floor(instantMs / 60_000) * 60_000) / 60_000);
}

export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/**
 * Converts an absolute time of `zone` to `YYYY-MM-DD HH:MM:SS` in UTC; null when the text is no time. A time without a
 * date is on the day of `nowMs` in that zone.
 */
export function toUtc(text: string, zone: string, nowMs: number): string | null {
  const match = ABSOLUTE.exec(text.trim());
  if (!match) return null;
  const [, year, month, day, hour, minute] = match;
  const today = new Date(nowMs + offsetMinutes(zone, nowMs) * 60_000);
  const date =
    year === undefined
      ? Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate())
      : Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (Number(hour) > 23 || Number(minute) > 59) return null;
  if (year !== undefined && new Date(date).getUTCDate() !== Number(day)) return null;
  const local = date + (Number(hour) * 60 + Number(minute)) * 60_000;
  const guess = local - offsetMinutes(zone, local) * 60_000;
  const instant = local - offsetMinutes(zone, guess) * 60_000;
  return Math.abs(instant - local) > DAY_MS
    ? null
    : new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
}
