/**
 * One-time tokens of agents, and the links under which their install scripts wait. A link is 32 random bytes; the token follows from
 * it, but not the other way round. The database has digests of both, and the script under a key that follows from the link: who
 * reads the database can neither enrol an agent nor read a script.
 */
import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { openBytes, SEAL_KEY_BYTES, sealBytes } from '@baton/trust/sealed-bytes';

const SECRET_BYTES = 32;
/** Base64url of 32 bytes. */
const FORM = /^[A-Za-z0-9_-]{43}$/;
const NAME = 'baton agents';

export interface EnrolmentSecret {
  /** Base64url of 32 bytes, as is `token`. */
  link: string;
  token: string;
  linkDigest: Buffer;
  tokenDigest: Buffer;
}

const derived = (link: string, use: string): Buffer =>
  Buffer.from(hkdfSync('sha256', Buffer.from(link, 'base64url'), NAME, use, SEAL_KEY_BYTES));

const bound = (digest: Buffer): Buffer =>
  Buffer.from(JSON.stringify(['baton-agent-script', digest.toString('hex')]));

/** Returns the SHA-256 of a token or link; null for a text that is none. */
export function digestOfSecret(text: string): Buffer | null {
  return FORM.test(text) ? createHash('sha256').update(text).digest() : null;
}

export function newEnrolmentSecret(): EnrolmentSecret {
  const link = randomBytes(SECRET_BYTES).toString('base64url');
  const token = derived(link, 'token').toString('base64url');
  return { link, token, linkDigest: digestOfSecret(link)!, tokenDigest: digestOfSecret(token)! };
}

/** Seals the script of a link. */
export function sealScript(
  { link, linkDigest }: Pick<EnrolmentSecret, 'link' | 'linkDigest'>,
  script: string,
): Buffer {
  return sealBytes(derived(link, 'script'), Buffer.from(script, 'utf8'), bound(linkDigest));
}

/** @throws Error when the script was sealed for another link, or changed. */
export function openScript(link: string, linkDigest: Buffer, sealed: Uint8Array): string {
  return openBytes(derived(link, 'script'), sealed, bound(linkDigest)).toString('utf8');
}
