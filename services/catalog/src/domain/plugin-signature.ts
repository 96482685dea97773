/**
 * Signatures of TypeScript plugins (docs/plugin-signatures.md). A signature covers the digest of the content: name and SHA-256 of each
 * entry but its own. Pure.
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { badParameter, isJsonObject, type Json } from '@baton/kernel';
import { invalidPlugin } from './plugin-package';

/** The entry that holds the signature. Managers that do not know it take it for a file of the plugin. */
export const SIGNATURE_ENTRY = 'files/baton-signature.json';
const FORMAT = 1;
const DOMAIN = 'baton plugin 1\n';
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** In front of the 32 bytes of an Ed25519 key in SPKI (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** SHA-256 in hex of each entry of a package, by its name. */
export type EntryDigests = ReadonlyMap<string, string>;

export interface PublicKey {
  /** SPKI in PEM. */
  pem: string;
  /** `SHA256:` and the digest of the raw key, as OpenSSH writes such digests. */
  fingerprint: string;
}

/** Returns the bytes that are signed. */
export function signedBytes(digests: EntryDigests): Buffer {
  const lines = [...digests]
    .filter(([name]) => name !== SIGNATURE_ENTRY)
    .map(([name, digest]) => `${digest} ${name}\n`)
    .sort((a, b) => Buffer.compare(Buffer.from(a.slice(65)), Buffer.from(b.slice(65))));
  return Buffer.from(`${DOMAIN}${createHash('sha256').update(lines.join('')).digest('hex')}\n`);
}

/**
 * Returns the key that has signed the package.
 * @throws AppError invalid_plugin_error when the signature is malformed, or of other content
 */
export function signerOf(signature: string, digests: EntryDigests): PublicKey {
  const { key, proof } = readSignature(signature);
  const signer = createPublicKey({ key: Buffer.concat([SPKI_HEAD, key]), format: 'der', type: 'spki' });
  if (!verify(null, signedBytes(digests), signer, proof))
    throw refuse('the signature does not fit the content: the package was changed after it was signed');
  return publicKeyOf(signer);
}

/** Reads a public key that a person gives. @throws AppError bad_parameters_error */
export function readPublicKey(pem: string): PublicKey {
  const refused = (why: string): never => {
    throw badParameter('public_key', `public_key ${why}`, {
      expected: 'an Ed25519 public key in PEM, as `baton plugins keygen` writes it',
    });
  };
  if (/PRIVATE KEY/.test(pem)) return refused('is a private key: nobody but its owner may have it');
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch {
    return refused('is no key in PEM');
  }
  if (key.asymmetricKeyType !== 'ed25519') return refused(`is a key of the kind ${key.asymmetricKeyType}`);
  return publicKeyOf(key);
}

function publicKeyOf(key: KeyObject): PublicKey {
  const raw = key.export({ format: 'der', type: 'spki' }).subarray(SPKI_HEAD.length);
  const digest = createHash('sha256').update(raw).digest('base64').replace(/=+$/, '');
  return { pem: String(key.export({ format: 'pem', type: 'spki' })), fingerprint: `SHA256:${digest}` };
}

function readSignature(text: string): { key: Buffer; proof: Buffer } {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    throw refuse('it is not JSON');
  }
  if (!isJsonObject(json) || json.format !== FORMAT) throw refuse(`it has another format than ${FORMAT}`);
  const bytes = (field: string, size: number): Buffer => {
    const value = json[field];
    const read = typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0);
    if (read.length !== size) throw refuse(`${field} has ${read.length} bytes in base64, not ${size}`);
    return read;
  };
  return { key: bytes('key', KEY_BYTES), proof: bytes('signature', SIGNATURE_BYTES) };
}

const refuse = (why: string) =>
  invalidPlugin(`${SIGNATURE_ENTRY}: ${why}`, {
    entry: SIGNATURE_ENTRY,
    expected: 'a signature of `baton plugins build --sign`, or a package without one',
  });
