import { createHmac, pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(pbkdf2);
const HASH = /^\$pbkdf2-sha256\$(\d{1,7})\$([A-Za-z0-9./]{0,1368})\$([A-Za-z0-9./]{43})$/;
/** Passlib wrote 29,000 in these releases; a hostile hash must not cost minutes. */
const MAX_ROUNDS = 1_000_000;
const DIGEST_BYTES = 32;

/** The base64 of passlib: `.` for `+`, no padding. */
const adapted = (text: string): Buffer => Buffer.from(text.replaceAll('.', '+'), 'base64');

/** Whether `hash` is one that `verifyCloudifyPassword` can check. */
export function isCloudifyPasswordHash(hash: string): boolean {
  const rounds = Number(HASH.exec(hash)?.[1]);
  return rounds >= 1 && rounds <= MAX_ROUNDS;
}

/**
 * Whether `password` is the one behind `hash`, as a manager stored it: PBKDF2-SHA256 of passlib over the base64 of
 * HMAC-SHA512(`salt`, password). `salt` is `hash_salt` of rest-security.conf. False for a hash of another kind.
 */
export async function verifyCloudifyPassword(hash: string, salt: string, password: string): Promise<boolean> {
  const found = isCloudifyPasswordHash(hash) ? HASH.exec(hash) : null;
  if (!found) return false;
  const before = createHmac('sha512', salt).update(password, 'utf8').digest('base64');
  const digest = await derive(before, adapted(found[2]!), Number(found[1]), DIGEST_BYTES, 'sha256');
  const expected = adapted(found[3]!);
  return expected.length === DIGEST_BYTES && timingSafeEqual(digest, expected);
}
