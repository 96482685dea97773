import { createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';

const VERSION = 0x80;
const IV_AT = 9;
const CONTENT_AT = 25;
const MAC_BYTES = 32;
const BLOCK_BYTES = 16;

export interface FernetKey {
  signing: Buffer;
  encryption: Buffer;
  cipher: 'aes-128-cbc' | 'aes-256-cbc';
}

/** Python's urlsafe_b64decode: padding may lack. Returns null for other characters. */
function decoded(text: string): Buffer | null {
  return /^[A-Za-z0-9_-]*={0,2}$/.test(text) ? Buffer.from(text, 'base64url') : null;
}

/**
 * The key of a manager, url-safe base64. 64 bytes are that of Cloudify since 4.4 (32 to sign, 32 for AES-256); 32 bytes are that of
 * Fernet itself (16 and 16). Returns null for anything else.
 */
export function fernetKey(text: string): FernetKey | null {
  const bytes = decoded(text.trim());
  if (bytes?.length === 64)
    return { signing: bytes.subarray(0, 32), encryption: bytes.subarray(32), cipher: 'aes-256-cbc' };
  if (bytes?.length === 32)
    return { signing: bytes.subarray(0, 16), encryption: bytes.subarray(16), cipher: 'aes-128-cbc' };
  return null;
}

export type Decrypted = { text: string } | { fault: 'no-token' | 'wrong-key' | 'no-text' };

/**
 * Decrypts a Fernet token. The signature is checked first and in constant time, so a wrong key or a changed token is `wrong-key` and
 * never a wrong text. The age of a token does not matter.
 */
export function decryptFernet(token: string, key: FernetKey): Decrypted {
  const bytes = decoded(token.trim());
  if (!bytes || bytes[0] !== VERSION || bytes.length < CONTENT_AT + BLOCK_BYTES + MAC_BYTES)
    return { fault: 'no-token' };
  const signed = bytes.subarray(0, bytes.length - MAC_BYTES);
  const content = signed.subarray(CONTENT_AT);
  if (content.length % BLOCK_BYTES !== 0) return { fault: 'no-token' };
  const mac = createHmac('sha256', key.signing).update(signed).digest();
  if (!timingSafeEqual(mac, bytes.subarray(bytes.length - MAC_BYTES))) return { fault: 'wrong-key' };
  try {
    const cipher = createDecipheriv(key.cipher, key.encryption, bytes.subarray(IV_AT, CONTENT_AT));
    const plain = Buffer.concat([cipher.update(content), cipher.final()]);
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(plain) };
  } catch {
    return { fault: 'no-text' };
  }
}
