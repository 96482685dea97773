/** Converts instants of the API to and from the browser's date and time input, which has no time zone. */
import type { Zone } from '../text/format';

const MINUTE_MS = 60_000;

/** Returns the text of the input, to the second; empty without an instant. */
export function inputText(iso: string | undefined, zone: Zone): string {
  const ms = Date.parse(iso ?? '');
  if (Number.isNaN(ms)) return '';
  const offsetMs = zone === 'utc' ? 0 : new Date(ms).getTimezoneOffset() * MINUTE_MS;
  return new Date(ms - offsetMs).toISOString().slice(0, 19);
}

/** Returns the entered instant; undefined while the input is empty or incomplete. */
export function instantOf(text: string, zone: Zone): string | undefined {
  const ms = Date.parse(zone === 'utc' ? `${text}Z` : text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
