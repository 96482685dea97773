import { badParameter } from './app-error';
import { isoInstant } from './clock';

const FORM = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/;
/** Both API and database support the years 1 to 9999. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

export const isStorableInstant = (ms: number): boolean => ms >= FIRST_MS && ms <= LAST_MS;

/**
 * Parses a date of the input into milliseconds since 1970 (reference/rest-api.md 4.1): a day, or a day and a time
 * separated by `T` or a blank, in seconds or a fraction, with `Z` or an offset; without either in UTC. Null: not a
 * date.
 */
export function parseInstant(text: string): number | null {
  const [, day, time = '00:00:00', zone = 'Z'] = FORM.exec(text.trim()) ?? [];
  if (day === undefined) return null;
  const naiveMs = Date.parse(`${day}T${time}Z`);
  // The 30th of February and 24:00 result in another day.
  if (Number.isNaN(naiveMs) || isoInstant(naiveMs).slice(0, 10) !== day) return null;
  const ms = naiveMs - offsetMs(zone);
  return isStorableInstant(ms) ? ms : null;
}

function offsetMs(zone: string): number {
  if (zone === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** The same as ISO text in UTC with milliseconds. @throws AppError bad_parameters_error with the name of the field. */
export function readInstant(field: string, text: string): string {
  const ms = parseInstant(text);
  if (ms === null)
    throw badParameter(field, `${field}: \`${text.slice(0, 100)}\` is no time`, {
      expected: 'YYYY-MM-DD or YYYY-MM-DDThh:mm:ss.mmmZ',
    });
  return isoInstant(ms);
}
