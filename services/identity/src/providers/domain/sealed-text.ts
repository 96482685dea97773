/**
 * Seals secrets that identity keeps or hands to a browser: client secrets, passwords of accounts at directories, refresh
 * tokens, attempts to sign in. AES-256-GCM under a key that is not in the database. The use and its owner are authenticated, so no
 * sealed text can be moved to another place.
 */
import { hkdfSync } from 'node:crypto';
import { Secret } from '@baton/kernel';
import { openBytes, SEAL_KEY_BYTES, sealBytes } from '@baton/trust/sealed-bytes';

/** First byte of every sealed text; another number is refused. */
const FORMAT = 1;

export type SealUse =
  | 'client secret'
  | 'bind password'
  | 'refresh token'
  | 'login attempt'
  | 'password salt'
  | 'staged records';

export interface Sealer {
  /** `owner`: the provider or user that the text belongs to. */
  seal(use: SealUse, owner: string, text: Secret): Buffer;
  /** Returns null for a text that was changed, moved or sealed under another key. */
  open(use: SealUse, owner: string, sealed: Uint8Array): Secret | null;
}

/** @param internalKey key that the replicas of this service share (BATON_INTERNAL_KEY). */
export function createSealer(internalKey: Secret): Sealer {
  const key = Buffer.from(
    hkdfSync('sha256', internalKey.expose(), 'baton identity', 'sealed texts', SEAL_KEY_BYTES),
  );
  const bound = (use: SealUse, owner: string): Buffer =>
    Buffer.from(JSON.stringify(['baton-login', use, owner]));
  return {
    seal(use, owner, text) {
      const body = sealBytes(key, Buffer.from(text.expose(), 'utf8'), bound(use, owner));
      return Buffer.concat([Buffer.from([FORMAT]), body]);
    },
    open(use, owner, sealed) {
      if (sealed[0] !== FORMAT) return null;
      try {
        return new Secret(openBytes(key, sealed.subarray(1), bound(use, owner)).toString('utf8'));
      } catch {
        return null;
      }
    },
  };
}
