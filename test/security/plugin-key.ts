import { generateKeyPairSync } from 'node:crypto';

/** A new public key that a tenant may trust, in PEM. */
export const publicKey = (): string =>
  String(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }));
