/** Message authentication with a key that the services hold and workers do not. */
import { createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@baton/kernel';

export interface Mac {
  /** 16 bytes, base64url. */
  of(text: string): string;
  isOf(mac: string, text: string): boolean;
}

/** `purpose` keeps what is authenticated for one use from passing for another. */
export function createMac(internalKey: Secret, purpose: string): Mac {
  const hmac = hmacSha256(
    new Uint8Array(hkdfSync('sha256', internalKey.expose(), '', `baton-mac:${purpose}`, KEY_BYTES)),
  );
  const of = (text: string): Buffer => hmac(text).subarray(0, 16);
  return {
    of: (text) => of(text).toString('base64url'),
    isOf: (mac, text) => {
      const given = Buffer.from(mac, 'base64url');
      return given.length === 16 && timingSafeEqual(given, of(text));
    },
  };
}

const KEY_BYTES = 32;
const BLOCK_BYTES = 64;

/**
 * HMAC (RFC 2104) by one-shot hashes. `createHmac` makes an object outside of the heap for each text, which costs an engine
 * that leases an operation each millisecond 15 us each, and its garbage collector more.
 */
export function hmacSha256(key: Uint8Array): (text: string) => Buffer {
  const padded = (byte: number): Buffer =>
    Buffer.alloc(BLOCK_BYTES, byte).map((pad, i) => pad ^ (key[i] ?? 0)) as Buffer;
  const [inner, outer] = [padded(0x36), padded(0x5c)];
  return (text) => {
    const within = hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'buffer');
    return hash('sha256', Buffer.concat([outer, within]), 'buffer');
  };
}

/** What a worker shows when it registers, where nothing else is configured. */
export function derivedJoinToken(internalKey: Secret): string {
  return Buffer.from(hkdfSync('sha256', internalKey.expose(), '', 'baton-worker-join', 32)).toString(
    'base64url',
  );
}

/** Compares secrets without telling by the time where they differ. */
export function isSameSecret(given: string, expected: string): boolean {
  const hash = (text: string) => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}
