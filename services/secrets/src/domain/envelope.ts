/**
 * Envelope encryption of values: each value has its own random key (AES-256-GCM), which is stored wrapped by a master key.
 * Tenant, key and version are authenticated with both, so no ciphertext can be moved to another row or version.
 */
import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { AppError, Secret } from '@baton/kernel';
import { openBytes, SEAL_KEY_BYTES, sealBytes } from '@baton/trust/sealed-bytes';

/** A master key, derived from configured text; `id` identifies it in rows without revealing anything about it. */
export interface MasterKey {
  id: string;
  key: Secret<Buffer>;
}

export interface SealedValue {
  ciphertext: Buffer;
  wrappedKey: Buffer;
  masterKeyId: string;
}

/** Identifies one value: tenant, key of the secret, version. */
export interface ValueIdentity {
  tenant: string;
  key: string;
  version: number;
}

/** Kind of sealed content: a secret's value alone, or value and options of a secret that names a provider (secret-content.ts). */
export type SealedUse = 'value' | 'content';

export function masterKeyOf(text: Secret): MasterKey {
  const derive = (info: string): Buffer =>
    Buffer.from(hkdfSync('sha256', text.expose(), 'baton secrets', info, SEAL_KEY_BYTES));
  const id = createHash('sha256').update(derive('name of the master key')).digest('hex').slice(0, 16);
  return { id, key: new Secret(derive('master key')) };
}

/** Returns the authenticated data; JSON encoding ensures that no two identities give the same bytes. */
function boundTo(use: SealedUse | 'key', identity: ValueIdentity): Buffer {
  return Buffer.from(
    JSON.stringify(['baton-secret', 1, use, identity.tenant, identity.key, identity.version]),
  );
}

/**
 * Seals a value for one use; it opens for no other use. So code that does not know providers is refused their secrets, instead of
 * taking the JSON for the value.
 */
export function sealValue(
  master: MasterKey,
  identity: ValueIdentity,
  value: Secret,
  use: SealedUse = 'value',
): SealedValue {
  const dataKey = randomBytes(SEAL_KEY_BYTES);
  try {
    return {
      ciphertext: sealBytes(dataKey, Buffer.from(value.expose(), 'utf8'), boundTo(use, identity)),
      wrappedKey: sealBytes(master.key.expose(), dataKey, boundTo('key', identity)),
      masterKeyId: master.id,
    };
  } finally {
    dataKey.fill(0);
  }
}

function unwrap(masters: readonly MasterKey[], identity: ValueIdentity, sealed: SealedValue): Buffer {
  const master = masters.find((m) => m.id === sealed.masterKeyId);
  if (master === undefined) throw unreadable(identity, 'its master key is not configured');
  return openBytes(master.key.expose(), sealed.wrappedKey, boundTo('key', identity));
}

function unreadable(identity: ValueIdentity, reason: string, cause?: unknown): AppError {
  return new AppError(
    'invalid_fernet_token_format_error',
    `The value of secret \`${identity.key}\` cannot be decrypted: ${reason}`,
    {},
    { cause },
  );
}

/** Returns the value. @throws AppError invalid_fernet_token_format_error when it was tampered with or its key is missing. */
export function openValue(
  masters: readonly MasterKey[],
  identity: ValueIdentity,
  sealed: SealedValue,
  use: SealedUse = 'value',
): Secret {
  try {
    const dataKey = unwrap(masters, identity, sealed);
    try {
      return new Secret(openBytes(dataKey, sealed.ciphertext, boundTo(use, identity)).toString('utf8'));
    } finally {
      dataKey.fill(0);
    }
  } catch (error) {
    throw error instanceof AppError ? error : unreadable(identity, 'it does not fit its key', error);
  }
}

/** Returns the key of the same value wrapped by the first of `masters`; the value itself is not touched. */
export function rewrapKey(
  masters: readonly MasterKey[],
  identity: ValueIdentity,
  sealed: SealedValue,
): Pick<SealedValue, 'wrappedKey' | 'masterKeyId'> {
  const dataKey = unwrap(masters, identity, sealed);
  const [current] = masters;
  return {
    wrappedKey: sealBytes(current!.key.expose(), dataKey, boundTo('key', identity)),
    masterKeyId: current!.id,
  };
}
