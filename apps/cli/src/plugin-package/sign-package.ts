/** Signs the package of a plugin in TypeScript (docs/plugin-signatures.md): what the catalog of a manager checks. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandFailure } from '../failure';
import type { PackedFile } from './pack-files';

/** The entry that holds the signature. Managers that do not know it take it for a file of the plugin. */
export const SIGNATURE_ENTRY = 'files/baton-signature.json';
const FORMAT = 1;
const DOMAIN = 'baton plugin 1\n';
const RAW_KEY_BYTES = 32;

export interface MadeKey {
  key_file: string;
  public_key_file: string;
  fingerprint: string;
}

/**
 * Writes a new Ed25519 key: the private one for its owner alone, the public one beside it with the ending `.pub`.
 * @throws CommandFailure when a file is there already: a key is never replaced
 */
export function makeKey(path: string): MadeKey {
  const [file, publicFile] = [resolve(path), `${resolve(path)}.pub`];
  for (const one of [file, publicFile])
    if (existsSync(one)) throw new CommandFailure(`${one} is there already: a key is not replaced`);
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
  writeFileSync(publicFile, publicKey.export({ type: 'spki', format: 'pem' }), { flag: 'wx' });
  return { key_file: file, public_key_file: publicFile, fingerprint: fingerprintOf(publicKey) };
}

/** Reads the key for `build --sign`. @throws CommandFailure that says what is wrong with the file */
export function readSigningKey(path: string): KeyObject {
  const file = resolve(path);
  if (!existsSync(file))
    throw new CommandFailure(`${file}: there is no such file; \`baton plugins keygen\` makes a key`);
  const text = readFileSync(file, 'utf8');
  if (!/PRIVATE KEY/.test(text))
    throw new CommandFailure(
      `${file}: it is no private key in PEM; the file with the ending .pub is the public one`,
    );
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch (cause) {
    throw new CommandFailure(`${file}: the key cannot be read: ${(cause as Error).message}`);
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new CommandFailure(`${file}: it is a key of the kind ${key.asymmetricKeyType}, expected ed25519`);
  return key;
}

/** Returns the entry with the signature of the other entries. The same key and content give the same bytes. */
export function signatureOf(entries: readonly PackedFile[], key: KeyObject): PackedFile {
  const lines = entries
    .map(({ name, content }) => ({ name: Buffer.from(name), line: `${sha256(content)} ${name}\n` }))
    .sort((a, b) => Buffer.compare(a.name, b.name))
    .map(({ line }) => line);
  const proof = sign(null, Buffer.from(`${DOMAIN}${sha256(lines.join(''))}\n`), key);
  const text = {
    format: FORMAT,
    key: rawKey(createPublicKey(key)).toString('base64'),
    signature: proof.toString('base64'),
  };
  return { name: SIGNATURE_ENTRY, content: Buffer.from(`${JSON.stringify(text, null, 2)}\n`) };
}

/** `SHA256:` and the digest of the raw key in base64, as the manager shows it. */
export const fingerprintOf = (publicKey: KeyObject): string =>
  `SHA256:${createHash('sha256').update(rawKey(publicKey)).digest('base64').replace(/=+$/, '')}`;

const rawKey = (key: KeyObject): Buffer =>
  (key.export({ format: 'der', type: 'spki' }) as Buffer).subarray(-RAW_KEY_BYTES);
const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');
