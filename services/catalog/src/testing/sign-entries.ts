/** Signatures of packages for tests, made from the description of the format alone (docs/plugin-signatures.md). */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { TestEntry } from './archives';

const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

export function makeSigner() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    privateKey,
    raw,
    pem: String(publicKey.export({ format: 'pem', type: 'spki' })),
    fingerprint: `SHA256:${createHash('sha256').update(raw).digest('base64').replace(/=+$/, '')}`,
  };
}

/** The entries with a signature of them; `changes` replaces fields of the signature. */
export function signedEntries(
  entries: readonly TestEntry[],
  { privateKey, raw }: { privateKey: KeyObject; raw: Buffer },
  changes: object = {},
): TestEntry[] {
  const lines = entries
    .map(({ name, content = '' }) => [name, `${sha256(content)} ${name}\n`] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, line]) => line);
  const proof = sign(null, Buffer.from(`baton plugin 1\n${sha256(lines.join(''))}\n`), privateKey);
  const text = { format: 1, key: raw.toString('base64'), signature: proof.toString('base64'), ...changes };
  return [...entries, { name: 'files/baton-signature.json', content: JSON.stringify(text) }];
}
