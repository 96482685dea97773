import { randomBytes, scrypt } from 'node:crypto';
import type { BundleHeader } from '../domain/bundle';

type Kdf = NonNullable<BundleHeader['kdf']>;

const KEY_BYTES = 32;
const MAX_MEMORY = 64 * 2 ** 20;

export const freshKdf = (): Kdf => ({
  name: 'scrypt',
  salt: randomBytes(16).toString('base64url'),
  n: 2 ** 15,
  r: 8,
  p: 1,
});

/** The key of a bundle, 32 bytes in base64url. */
export function bundleKeyOf(passphrase: string, { salt, n, r, p }: Kdf): Promise<string> {
  return new Promise((resolve, reject) => {
    scrypt(
      passphrase,
      Buffer.from(salt, 'base64url'),
      KEY_BYTES,
      { N: n, r, p, maxmem: MAX_MEMORY },
      (error, key) => (error ? reject(error) : resolve(key.toString('base64url'))),
    );
  });
}
