/** Key of one event in an address: its timestamp, by which the API finds it, and its number. */

export const eventKey = ({ timestamp, _storage_id }: { timestamp: string; _storage_id: number }): string =>
  `${timestamp}~${_storage_id}`;

/** Returns the millisecond of the event as a range without its end; a range in 1970 for a text that is no key. */
export function eventInstant(key: string): { from: string; to: string } {
  const ms = Date.parse(key.split('~')[0] ?? '');
  const from = Number.isNaN(ms) ? 0 : ms;
  return { from: new Date(from).toISOString(), to: new Date(from + 1).toISOString() };
}

export const eventStorageId = (key: string): number => Number(key.split('~')[1] ?? Number.NaN);
