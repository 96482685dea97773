import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Credentials that Baton creates: `<kind>-<id of 10>-<secret of 40>`, letters and digits. User tokens are of kind ctok
 * (reference/rest-api.md 2.3). A credential of one kind is never accepted as another kind.
 */
export type TokenKind = 'ctok' | 'bses' | 'bcode' | 'bdev';
const ID_LENGTH = 10;
const SECRET_LENGTH = 40;
const SHAPE = /^([a-z]+)-([A-Za-z0-9]{10})-([A-Za-z0-9]{40})$/;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Largest multiple of 62 in a byte: higher byte values would make the first letters more likely. */
const FAIR = 248;

/** Returns `length` letters and digits, all equally likely: 5.95 bits a character. */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < FAIR && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

export interface NewToken {
  id: string;
  /** Shown once; only its hash is stored. */
  value: string;
  secretHash: Buffer;
}

/** ctok: a user token; bses: the session of a browser; bcode: the code of a sign-in link; bdev: a device code. */
export function newToken(kind: TokenKind = 'ctok'): NewToken {
  const id = randomText(ID_LENGTH);
  const secret = randomText(SECRET_LENGTH);
  return { id, value: `${kind}-${id}-${secret}`, secretHash: hashSecret(secret) };
}

/**
 * Hashes a secret with sha256 instead of a slow hash: the secret has 238 random bits, so it cannot be guessed, and a request costs
 * under a microsecond instead of the 10 to 15 ms of a password hash.
 */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Splits a credential; null when `value` is not a credential of this kind. */
export function parseToken(value: string, kind: TokenKind = 'ctok'): { id: string; secret: string } | null {
  const match = SHAPE.exec(value);
  return match?.[1] === kind ? { id: match[2]!, secret: match[3]! } : null;
}

/** Whether `secret` belongs to `hash`; compares in constant time. */
export function isSecretOf(secret: string, hash: Buffer): boolean {
  const given = hashSecret(secret);
  return given.length === hash.length && timingSafeEqual(given, hash);
}
