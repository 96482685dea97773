/** Message authentication codes with a key that the services have and workers do not: 2 microseconds each. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@baton/kernel';

export interface Mac {
  /** 16 bytes, base64url. */
  of(text: string): string;
  isOf(mac: string, text: string): boolean;
}

/** `purpose` separates uses: a code made for one use is not valid for another. */
export function createMac(internalKey: Secret, purpose: string): Mac {
  const key = Buffer.from(hkdfSync('sha256', internalKey.expose(), '', `baton-mac:${purpose}`, 32));
  const of = (text: string): Buffer => createHmac('sha256', key).update(text).digest().subarray(0, 16);
  return {
    of: (text) => of(text).toString('base64url'),
    isOf: (mac, text) => {
      const given = Buffer.from(mac, 'base64url');
      return given.length === 16 && timingSafeEqual(given, of(text));
    },
  };
}

/** The join token that a worker shows when it registers, where no other is configured. */
export function derivedJoinToken(internalKey: Secret): string {
  return Buffer.from(hkdfSync('sha256', internalKey.expose(), '', 'baton-worker-join', 32)).toString(
    'base64url',
  );
}

/** Compares secrets in constant time. */
export function isSameSecret(given: string, expected: string): boolean {
  const hash = (text: string) => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}
