import { createHash, createPrivateKey, createPublicKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

/** A pair of RSA keys as texts. */
export interface KeyPair {
  /** PEM (PKCS #1), not encrypted. */
  privateKey: string;
  /** One line as in authorized_keys, without a comment. */
  publicKey: string;
  /** Digest of the public key: it names the pair, and tells nothing about the private key. */
  fingerprint: string;
}

/** Makes a new pair. */
export async function makePair(bits: number): Promise<KeyPair> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: bits,
    publicExponent: 0x10001,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return pairOf(privateKey)!;
}

/** Returns the pair of a private key; null: the text is no RSA key. */
export function pairOf(privateKey: string): KeyPair | null {
  try {
    const key = createPublicKey(createPrivateKey(privateKey));
    if (key.asymmetricKeyType !== 'rsa') return null;
    const { e, n } = key.export({ format: 'jwk' }) as { e: string; n: string };
    const wire = Buffer.concat([field(Buffer.from('ssh-rsa')), field(integer(e)), field(integer(n))]);
    return { privateKey, publicKey: `ssh-rsa ${wire.toString('base64')}`, fingerprint: digestOf(wire) };
  } catch {
    return null;
  }
}

/** Returns the fingerprint of a public key in one line; null: the text is none. */
export function fingerprintOfPublic(publicKey: string): string | null {
  const [kind, wire = ''] = publicKey.trim().split(/\s+/);
  return kind === 'ssh-rsa' ? digestOf(Buffer.from(wire, 'base64')) : null;
}

/** As `ssh-keygen -l` shows it. */
const digestOf = (wire: Buffer): string =>
  `SHA256:${createHash('sha256').update(wire).digest('base64').replace(/=+$/, '')}`;

/** RFC 4251: length in four bytes, then the content. */
function field(content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

/** RFC 4251: a positive number whose first bit is set gets a zero byte before. */
function integer(base64url: string): Buffer {
  const bytes = Buffer.from(base64url, 'base64url');
  return bytes[0]! >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
}
