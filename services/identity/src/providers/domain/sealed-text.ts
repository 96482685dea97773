/**
 * Seals secrets that identity keeps or hands to a browser: client secrets, passwords of accounts at directories, refresh
 * tokens, attempts to sign in. AES-256-GCM under a key that is not in the database. The use and its owner are authenticated, so no
 * sealed text can be moved to another place.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Secret } from '@baton/kernel';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** First byte of every sealed text; another number is refused. */
const FORMAT = 1;

export type SealUse = 'client secret' | 'bind password' | 'refresh token' | 'login attempt';

export interface Sealer {
  /** `owner`: the provider or user that the text belongs to. */
  seal(use: SealUse, owner: string, text: Secret): Buffer;
  /** Returns null for a text that was changed, moved or sealed under another key. */
  open(use: SealUse, owner: string, sealed: Uint8Array): Secret | null;
}

/** @param internalKey key that the replicas of this service share (BATON_INTERNAL_KEY). */
export function createSealer(internalKey: Secret): Sealer {
  const key = Buffer.from(
    hkdfSync('sha256', internalKey.expose(), 'baton identity', 'sealed texts', KEY_BYTES),
  );
  const bound = (use: SealUse, owner: string): Buffer =>
    Buffer.from(JSON.stringify(['baton-login', use, owner]));
  return {
    seal(use, owner, text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound(use, owner));
      const body = Buffer.concat([cipher.update(text.expose(), 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.from([FORMAT]), nonce, body, cipher.getAuthTag()]);
    },
    open(use, owner, given) {
      const sealed = Buffer.from(given);
      if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== FORMAT) return null;
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(bound(use, owner))
        .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      try {
        const body = sealed.subarray(1 + NONCE_BYTES, sealed.length - TAG_BYTES);
        return new Secret(Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8'));
      } catch {
        return null;
      }
    },
  };
}
