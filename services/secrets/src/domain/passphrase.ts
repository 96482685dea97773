/** Encryption of exports with a passphrase, in the form of existing exports (reference/rest-api.md 8.1). */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  pbkdf2,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { badParameter, Secret } from '@baton/kernel';

const SALT = 'salt_';
const ITERATIONS = 100_000;
const MAC_BYTES = 32;
const IV_BYTES = 16;
const HEAD_BYTES = 9;
const VERSION = 0x80;
export const MIN_PASSPHRASE = 8;

export interface PassphraseKey {
  signing: Buffer;
  encryption: Buffer;
}

/** Derives the key; takes about 50 ms of another thread. */
export function passphraseKey(passphrase: Secret): Promise<PassphraseKey> {
  return new Promise((resolve, reject) => {
    pbkdf2(passphrase.expose(), SALT, ITERATIONS, 64, 'sha256', (error, key) =>
      error ? reject(error) : resolve({ signing: key.subarray(0, 32), encryption: key.subarray(32) }),
    );
  });
}

/** Returns version, time, IV, AES-256-CBC ciphertext and HMAC-SHA256 as URL-safe base64. */
export function encryptWith(key: PassphraseKey, value: Secret, nowMs: number): string {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt8(VERSION, 0);
  head.writeBigUInt64BE(BigInt(Math.floor(nowMs / 1000)), 1);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-cbc', key.encryption, iv);
  const signed = Buffer.concat([head, iv, cipher.update(value.expose(), 'utf8'), cipher.final()]);
  const mac = createHmac('sha256', key.signing).update(signed).digest();
  return padded(Buffer.concat([signed, mac]).toString('base64url'));
}

const padded = (text: string): string => text.padEnd(Math.ceil(text.length / 4) * 4, '=');

/** Returns the value. @throws AppError bad_parameters_error when the passphrase is wrong or the text is damaged. */
export function decryptWith(key: PassphraseKey, text: string): Secret {
  const wrong = () => badParameter('passphrase', 'The passphrase is wrong, or a value was changed');
  const raw = Buffer.from(text, 'base64url');
  if (raw.length < HEAD_BYTES + IV_BYTES + MAC_BYTES) throw wrong();
  const signed = raw.subarray(0, raw.length - MAC_BYTES);
  const mac = createHmac('sha256', key.signing).update(signed).digest();
  if (!timingSafeEqual(mac, raw.subarray(raw.length - MAC_BYTES))) throw wrong();
  try {
    const decipher = createDecipheriv(
      'aes-256-cbc',
      key.encryption,
      signed.subarray(HEAD_BYTES, HEAD_BYTES + IV_BYTES),
    );
    return new Secret(
      Buffer.concat([decipher.update(signed.subarray(HEAD_BYTES + IV_BYTES)), decipher.final()]).toString(
        'utf8',
      ),
    );
  } catch {
    throw wrong();
  }
}
