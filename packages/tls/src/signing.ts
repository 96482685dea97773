/**
 * Signs certificates of agents and of their listener: what an authority of the manager needs of X.509. P-256 only. Of a signing
 * request only the public key counts; the names in the certificate are those of the signer.
 */
import 'reflect-metadata';
import { createHash, randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

export const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
/** Certificates begin this much earlier: the clocks of other machines may lag. */
const BACKDATED_MS = 3_600_000;
/** A request for P-256 has about 500 bytes in PEM. */
const MAX_REQUEST = 8_192;
/** How every P-256 public key begins in DER (RFC 5480), before the 65 bytes of an uncompressed point. */
const P256_KEY = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex');
const POINT_BYTES = 65;
const ONE_REQUEST =
  /^\s*-----BEGIN CERTIFICATE REQUEST-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE REQUEST-----\s*$/;

/** A certificate and its private key, as PEM. */
export interface KeyPem {
  cert: string;
  key: string;
}

/** A checked signing request: its sender holds the private key. */
export interface SigningRequest {
  publicKey: x509.PublicKey;
  /** SHA-256 of the public key in DER. */
  keyDigest: Buffer;
}

export interface SignedCertificate {
  /** PEM. */
  cert: string;
  /** Hexadecimal digits in lower case, as TLS sockets show them apart from case. */
  serial: string;
  notAfterMs: number;
}

export interface SigningProfile {
  commonName: string;
  /** DNS names of a server. */
  dnsNames?: readonly string[];
  use: 'server' | 'client';
  days: number;
  nowMs: number;
}

/** An authority that can sign, in memory. */
export interface Signer {
  sign(request: SigningRequest, profile: SigningProfile): Promise<SignedCertificate>;
}

/** Returns a new serial number: 16 random bytes, positive, of full length. */
export function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes.toString('hex');
}

export const validity = (nowMs: number, days: number): { notBefore: Date; notAfter: Date } => ({
  notBefore: new Date(nowMs - BACKDATED_MS),
  notAfter: new Date(nowMs + days * DAY_MS),
});

export const newKeyPair = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(SIGNING, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;

export async function pemOfKey(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = await webcrypto.subtle.exportKey('pkcs8', key);
  return x509.PemConverter.encode(bytes, 'PRIVATE KEY');
}

export const privateKeyOf = (pem: string): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey('pkcs8', x509.PemConverter.decodeFirst(pem), SIGNING, true, ['sign']);

/** Makes an authority's own certificate, valid for ten years. */
export async function selfSigned(
  name: string,
  keys: webcrypto.CryptoKeyPair,
  nowMs: number,
): Promise<x509.X509Certificate> {
  x509.cryptoProvider.set(webcrypto as never);
  return await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: `CN=${name}`,
    ...validity(nowMs, AUTHORITY_DAYS),
    signingAlgorithm: SIGNING,
    keys: keys as never,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey as never),
    ],
  });
}

/** Makes the key and the certificate of a new authority. `name`: its common name; no two authorities share one. */
export async function newAuthority(name: string, nowMs: number): Promise<KeyPem & { notAfterMs: number }> {
  const keys = await newKeyPair();
  const own = await selfSigned(name, keys, nowMs);
  return {
    cert: `${own.toString('pem')}\n`,
    key: `${await pemOfKey(keys.privateKey)}\n`,
    notAfterMs: own.notAfter.getTime(),
  };
}

/**
 * Reads a signing request (PKCS #10 in PEM, at most 8 KiB) and checks that its sender holds the key.
 * Returns what is wrong with it as a text, for a request that is too long, cannot be read, has another kind of key than P-256, or a
 * wrong signature.
 */
export async function readSigningRequest(pem: string): Promise<SigningRequest | string> {
  if (pem.length > MAX_REQUEST) return `has ${pem.length} characters, more than ${MAX_REQUEST}`;
  if (!ONE_REQUEST.test(pem)) return 'is not one PEM block CERTIFICATE REQUEST';
  x509.cryptoProvider.set(webcrypto as never);
  try {
    const request = new x509.Pkcs10CertificateRequest(pem);
    const key = Buffer.from(request.publicKey.rawData);
    if (key.length !== P256_KEY.length + POINT_BYTES || !key.subarray(0, P256_KEY.length).equals(P256_KEY))
      return 'has a key of another kind than P-256';
    if (!(await request.verify())) return 'has a wrong signature';
    return { publicKey: request.publicKey, keyDigest: createHash('sha256').update(key).digest() };
  } catch {
    return 'cannot be read';
  }
}

/** Opens an authority from its PEM. @throws Error when certificate or key cannot be read. */
export async function openSigner({ cert, key }: KeyPem): Promise<Signer> {
  x509.cryptoProvider.set(webcrypto as never);
  const own = new x509.X509Certificate(cert);
  const signingKey = await privateKeyOf(key);
  const issuerKey = await x509.AuthorityKeyIdentifierExtension.create(own.publicKey, false);
  return {
    async sign({ publicKey }, { commonName, dnsNames = [], use, days, nowMs }) {
      const serial = newSerial();
      const span = validity(nowMs, days);
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber: serial,
        subject: [{ CN: [commonName] }],
        issuer: own.subject,
        ...span,
        signingAlgorithm: SIGNING,
        publicKey: publicKey as never,
        signingKey: signingKey as never,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          new x509.ExtendedKeyUsageExtension([
            use === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth,
          ]),
          ...(dnsNames.length === 0
            ? []
            : [
                new x509.SubjectAlternativeNameExtension(
                  dnsNames.map((value) => ({ type: 'dns' as const, value })),
                ),
              ]),
          issuerKey,
        ],
      });
      return { cert: `${certificate.toString('pem')}\n`, serial, notAfterMs: span.notAfter.getTime() };
    },
  };
}
