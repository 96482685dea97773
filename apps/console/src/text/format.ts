import { t } from './text';

export type Zone = 'local' | 'utc';

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** `1 h 5 min`, `12 s`, `340 ms`: the two largest units. */
export function durationText(ms: number): string {
  const words = t.duration;
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ${words.ms}`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} ${words.s}`;
  const first = UNITS.findIndex(([, unitMs]) => ms >= unitMs);
  const parts: string[] = [];
  let left = ms;
  for (const [unit, unitMs] of UNITS.slice(first, first + 2)) {
    const n = Math.floor(left / unitMs);
    left -= n * unitMs;
    if (n > 0 || parts.length === 0) parts.push(`${t.number(n)} ${words[unit]}`);
  }
  return parts.join(' ');
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: Zone, hasDate: boolean, hasMs: boolean): Intl.DateTimeFormat {
  const key = `${zone} ${hasDate} ${hasMs}`;
  const found = formats.get(key);
  if (found) return found;
  const made = new Intl.DateTimeFormat(t.language, {
    ...(hasDate ? { year: 'numeric', month: 'short', day: '2-digit' } : {}),
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    ...(hasMs ? { fractionalSecondDigits: 3 } : {}),
    hourCycle: 'h23',
    ...(zone === 'utc' ? { timeZone: 'UTC' } : {}),
  });
  formats.set(key, made);
  return made;
}

/** Date and time of an instant of the API; the text itself where it is none. */
export function instantText(iso: string, zone: Zone): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? iso : formatOf(zone, true, false).format(ms);
}

/** Time of day with milliseconds, for log lines. */
export function clockText(iso: string, zone: Zone): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? iso : formatOf(zone, false, true).format(ms);
}

/** Milliseconds between two instants; null where one is missing. */
export function betweenMs(
  from: string | null | undefined,
  to: string | number | null | undefined,
): number | null {
  if (!from || to === null || to === undefined) return null;
  const ms = (typeof to === 'number' ? to : Date.parse(to)) - Date.parse(from);
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
