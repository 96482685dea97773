import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** User tokens: `ctok-<id of 10>-<secret of 40>`, letters and digits (reference/rest-api.md 2.3). */
const ID_LENGTH = 10;
const SECRET_LENGTH = 40;
const SHAPE = /^ctok-([A-Za-z0-9]{10})-([A-Za-z0-9]{40})$/;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Largest multiple of 62 in a byte: bytes above would favour the first letters. */
const FAIR = 248;

/** `length` letters and digits, each as likely as any other: 5.95 bits a character. */
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

export function newToken(): NewToken {
  const id = randomText(ID_LENGTH);
  const secret = randomText(SECRET_LENGTH);
  return { id, value: `ctok-${id}-${secret}`, secretHash: hashSecret(secret) };
}

/**
 * sha256, not a slow hash: the secret has 238 random bits, so there is nothing to guess, and a request costs
 * under a microsecond instead of the 10 to 15 ms of a password hash.
 */
function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

export function parseToken(value: string): { id: string; secret: string } | null {
  const match = SHAPE.exec(value);
  return match ? { id: match[1]!, secret: match[2]! } : null;
}

/** Compares in constant time. */
export function isSecretOf(secret: string, hash: Buffer): boolean {
  const given = hashSecret(secret);
  return given.length === hash.length && timingSafeEqual(given, hash);
}
