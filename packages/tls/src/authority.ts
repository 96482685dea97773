/**
 * A certificate authority for development and tests, and the certificates that it signs. Its key lies in a file: not for
 * production, where cert-manager or the organisation's own authority signs.
 */
import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';

const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;
/** Certificates begin this much earlier: the clocks of other machines may lag. */
const BACKDATED_MS = 3_600_000;

export interface Issued {
  /** PEM. */
  cert: string;
  key: string;
}

export interface IssueOptions {
  /** DNS names and IP addresses of the certificate; the first is its common name. */
  names: readonly string[];
  /** Default 90 days from `nowMs`. */
  days?: number;
  nowMs: number;
}

export interface Authority {
  /** PEM of the authority's own certificate. */
  cert: string;
  key: string;
  /** Issues a certificate for servers and clients. */
  issue(options: IssueOptions): Promise<Issued>;
}

const isAddress = (name: string): boolean => /^[\d.]+$|:/.test(name);
const serial = (): string => {
  const bytes = randomBytes(16);
  bytes[0] = bytes[0]! & 0x7f;
  return bytes.toString('hex');
};

async function pemOfKey(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = await webcrypto.subtle.exportKey('pkcs8', key);
  return x509.PemConverter.encode(bytes, 'PRIVATE KEY');
}

const keyPair = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(SIGNING, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;

const span = (nowMs: number, days: number) => ({
  notBefore: new Date(nowMs - BACKDATED_MS),
  notAfter: new Date(nowMs + days * DAY_MS),
});

/** Creates a new authority, valid for ten years. */
export async function createAuthority(name: string, nowMs: number): Promise<Authority> {
  x509.cryptoProvider.set(webcrypto as never);
  const keys = await keyPair();
  const own = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=${name}`,
    ...span(nowMs, 3650),
    signingAlgorithm: SIGNING,
    keys: keys as never,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey as never),
    ],
  });
  return authorityOf(own, keys.privateKey);
}

/** Opens the authority whose certificate and key were written earlier. */
export async function openAuthority({ cert, key }: Issued): Promise<Authority> {
  x509.cryptoProvider.set(webcrypto as never);
  const bytes = x509.PemConverter.decodeFirst(key);
  const signing = await webcrypto.subtle.importKey('pkcs8', bytes, SIGNING, true, ['sign']);
  return authorityOf(new x509.X509Certificate(cert), signing);
}

async function authorityOf(own: x509.X509Certificate, signing: webcrypto.CryptoKey): Promise<Authority> {
  const issue = async ({ names, days = 90, nowMs }: IssueOptions): Promise<Issued> => {
    const keys = await keyPair();
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serial(),
      subject: `CN=${names[0]}`,
      issuer: own.subject,
      ...span(nowMs, days),
      signingAlgorithm: SIGNING,
      publicKey: keys.publicKey as never,
      signingKey: signing as never,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([
          x509.ExtendedKeyUsage.serverAuth,
          x509.ExtendedKeyUsage.clientAuth,
        ]),
        new x509.SubjectAlternativeNameExtension(
          names.map((value) => ({ type: isAddress(value) ? 'ip' : 'dns', value })),
        ),
        await x509.AuthorityKeyIdentifierExtension.create(own.publicKey, false),
      ],
    });
    return { cert: `${certificate.toString('pem')}\n`, key: `${await pemOfKey(keys.privateKey)}\n` };
  };
  return { cert: `${own.toString('pem')}\n`, key: `${await pemOfKey(signing)}\n`, issue };
}

/** Writes `tls.crt`, `tls.key` and the authority's `ca.crt` into `dir`, with the names of cert-manager. Returns their paths. */
export function writeIssued(
  dir: string,
  issued: Issued,
  ca: string,
): { ca: string; cert: string; key: string } {
  mkdirSync(dir, { recursive: true });
  const files = { ca: join(dir, 'ca.crt'), cert: join(dir, 'tls.crt'), key: join(dir, 'tls.key') };
  writeFileSync(files.ca, ca);
  writeFileSync(files.key, issued.key, { mode: 0o600 });
  writeFileSync(files.cert, issued.cert);
  return files;
}
