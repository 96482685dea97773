/**
 * AES-256-GCM as services use it for what they keep: the only place that calls the cipher. Form: nonce (12 bytes), ciphertext, tag
 * (16 bytes). `bound` is authenticated, so that a ciphertext opens only where it was sealed for.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Length of a key. */
export const SEAL_KEY_BYTES = 32;

/** Seals bytes under a key of 32 bytes with a random nonce. */
export function sealBytes(key: Uint8Array, plain: Uint8Array, bound: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bound);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]);
}

/** @throws Error when key or `bound` differ, a byte was changed, or bytes are missing. */
export function openBytes(key: Uint8Array, sealed: Uint8Array, bound: Uint8Array): Buffer {
  const end = sealed.length - TAG_BYTES;
  if (end < NONCE_BYTES) throw new Error('too short for a sealed text');
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(bound)
    .setAuthTag(sealed.subarray(end));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()]);
}
