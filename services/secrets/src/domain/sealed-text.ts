/**
 * Texts that other services keep sealed, such as signing keys of webhooks. Form of the ciphertext: the id of the master key (16
 * characters), then nonce, body and tag of AES-256-GCM.
 */
import { hkdfSync } from 'node:crypto';
import { Secret } from '@baton/kernel';
import { openBytes, SEAL_KEY_BYTES, sealBytes } from '@baton/trust/sealed-bytes';
import type { MasterKey } from './envelope';

const ID_LENGTH = 16;

/** Tenant and use are authenticated: a ciphertext that is copied elsewhere does not open there. */
export interface TextIdentity {
  tenant: string;
  use: string;
}

const keyOf = (master: MasterKey): Buffer =>
  Buffer.from(
    hkdfSync('sha256', master.key.expose(), 'baton secrets', 'texts of other services', SEAL_KEY_BYTES),
  );

const boundTo = ({ tenant, use }: TextIdentity): Buffer =>
  Buffer.from(JSON.stringify(['baton-text', 1, tenant, use]));

export function sealText(master: MasterKey, identity: TextIdentity, text: Secret): Buffer {
  const body = sealBytes(keyOf(master), Buffer.from(text.expose(), 'utf8'), boundTo(identity));
  return Buffer.concat([Buffer.from(master.id, 'ascii'), body]);
}

/** Returns the text, and whether a former master key sealed it; null when no configured key opens it for this identity. */
export function openText(
  masters: readonly MasterKey[],
  identity: TextIdentity,
  sealed: Buffer,
): { text: Secret; isOutdated: boolean } | null {
  const id = sealed.subarray(0, ID_LENGTH).toString('ascii');
  const at = masters.findIndex((master) => master.id === id);
  if (at < 0) return null;
  try {
    const plain = openBytes(keyOf(masters[at]!), sealed.subarray(ID_LENGTH), boundTo(identity));
    return { text: new Secret(plain.toString('utf8')), isOutdated: at > 0 };
  } catch {
    return null;
  }
}
