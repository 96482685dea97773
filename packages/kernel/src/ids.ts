/** Ids: UUIDv7 minted by our own code, branded per kind, so that rows sort by creation time. */

declare const kind: unique symbol;
export type Brand<T, K extends string> = T & { readonly [kind]: K };

export type ExecutionId = Brand<string, 'execution'>;
export type TaskId = Brand<string, 'task'>;
export type GraphId = Brand<string, 'graph'>;
export type WorkerId = Brand<string, 'worker'>;

/** A new UUIDv7 (RFC 9562): 48 bits of `nowMs`, then random bits. */
export function newId<T extends string = string>(nowMs: number = globalThis.Date.now()): T {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  let rest = nowMs;
  for (let i = 5; i >= 0; i--) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as T;
}

/** When an id of `newId` was made, epoch ms; null for an id of another kind. */
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
