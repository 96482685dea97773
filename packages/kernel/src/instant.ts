import { badParameter } from './app-error';
import { isoInstant } from './clock';

const FORM = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/;
/** Both API and database know the years 1 to 9999. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

export const isStorableInstant = (ms: number): boolean => ms >= FIRST_MS && ms <= LAST_MS;

/**
 * Milliseconds since 1970 of a date in input (reference/rest-api.md 4.1): a day, or a day and a time with `T` or a blank
 * between, to the second or a fraction of it, with `Z` or an offset; without either it means UTC. Null: it is none.
 */
export function parseInstant(text: string): number | null {
  const [, day, time = '00:00:00', zone = 'Z'] = FORM.exec(text.trim()) ?? [];
  if (day === undefined) return null;
  const naiveMs = Date.parse(`${day}T${time}Z`);
  // The 30th of February and 24:00 come back as another day.
  if (Number.isNaN(naiveMs) || isoInstant(naiveMs).slice(0, 10) !== day) return null;
  const ms = naiveMs - offsetMs(zone);
  return isStorableInstant(ms) ? ms : null;
}

function offsetMs(zone: string): number {
  if (zone === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** The same as ISO text in UTC with milliseconds. @throws AppError bad_parameters_error naming the field. */
export function readInstant(field: string, text: string): string {
  const ms = parseInstant(text);
  if (ms === null)
    throw badParameter(field, `${field}: \`${text.slice(0, 100)}\` is no time`, {
      expected: 'YYYY-MM-DD or YYYY-MM-DDThh:mm:ss.mmmZ',
    });
  return isoInstant(ms);
}
