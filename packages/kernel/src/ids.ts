/** Ids: UUIDv7 minted by our own code, so that rows sort by creation time. */

/** The last id made by the clock: its time, and the 12-bit counter after it. */
const last = { ms: -1, count: 0 };
/** The first counter of a millisecond is below this, so half of the range is left for the following ids. */
const FIRST_COUNTS = 2 ** 11;
const COUNTS = 2 ** 12;
/** When the clock was set back further than this, ids follow the clock. */
const MAX_AHEAD_MS = 1_000;

/**
 * Makes a new UUIDv7 (RFC 9562): 48 bits of `nowMs`, a counter of 12 bits, random bits. Without a `nowMs` the ids of
 * one process are in order. Ids of one millisecond increase the counter. When the counter is full, or the clock went
 * back a little, the time of the last id is used and increased.
 */
export function newId<T extends string = string>(nowMs?: number): T {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  const random = ((bytes[6]! & 0x0f) << 8) | bytes[7]!;
  const { ms, count } = nowMs === undefined ? nextPlace(random) : { ms: nowMs, count: random };
  let rest = ms;
  for (let i = 5; i >= 0; i--) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes[6] = 0x70 | (count >> 8);
  bytes[7] = count & 0xff;
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as T;
}

/** Returns the position after the last id. `random`: 12 bits. */
function nextPlace(random: number): typeof last {
  const nowMs = globalThis.Date.now();
  const first = random % FIRST_COUNTS;
  if (nowMs > last.ms || last.ms - nowMs > MAX_AHEAD_MS) Object.assign(last, { ms: nowMs, count: first });
  else if (last.count + 1 < COUNTS) last.count++;
  else Object.assign(last, { ms: last.ms + 1, count: first });
  return last;
}

/** Returns the creation time of an id of `newId`, epoch ms; null for an id of another kind. */
export function idTimeMs(id: string): number | null {
  if (!isUuid(id) || id[14] !== '7') return null;
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether `text` has the shape of a UUID; a database column of that type refuses anything else. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** `length` random characters of a-z0-9, as in node-instance ids (`<node>_<6 characters>`). */
export function randomSuffix(length: number): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (b) => ALPHABET[b % ALPHABET.length]).join('');
}
