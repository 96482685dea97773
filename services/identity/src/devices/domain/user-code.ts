/** The code that a person compares or enters: eight letters, without vowels and without letters that look like others. */
import { createHmac, hkdfSync, randomInt } from 'node:crypto';
import type { Secret } from '@baton/kernel';

/** RFC 8628, section 6.1: 20 letters, so 34.5 bits in a code. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
const SHAPE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`);
const KEY_BYTES = 32;

export function newUserCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** Returns the code as people read it: BCDF-GHJK. */
export const shownCode = (code: string): string => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** Returns the letters of what somebody entered; null when it cannot be a code. Dashes, spaces and the letter case do not count. */
export function readUserCode(text: string): string | null {
  const code = text.toUpperCase().replace(/[\s-]/g, '');
  return SHAPE.test(code) ? code : null;
}

/** Hashes user codes for the database. */
export type CodeHash = (code: string) => Buffer;

/**
 * The hash has a key that is not in the database: who reads the database could else try all codes.
 * @param internalKey key that the replicas of this service share (BATON_INTERNAL_KEY)
 */
export function createCodeHash(internalKey: Secret): CodeHash {
  const key = Buffer.from(
    hkdfSync('sha256', internalKey.expose(), 'baton identity', 'user codes', KEY_BYTES),
  );
  return (code) => createHmac('sha256', key).update(code).digest();
}
