/**
 * A certificate authority for development and tests, and the certificates that it signs. Its key lies in a file: not for
 * production, where cert-manager or the organisation's own authority signs.
 */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import { newKeyPair, newSerial, pemOfKey, privateKeyOf, SIGNING, selfSigned, validity } from './signing';

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

/** Creates a new authority, valid for ten years. */
export async function createAuthority(name: string, nowMs: number): Promise<Authority> {
  const keys = await newKeyPair();
  return authorityOf(await selfSigned(name, keys, nowMs), keys.privateKey);
}

/** Opens the authority whose certificate and key were written earlier. */
export async function openAuthority({ cert, key }: Issued): Promise<Authority> {
  x509.cryptoProvider.set(webcrypto as never);
  return authorityOf(new x509.X509Certificate(cert), await privateKeyOf(key));
}

async function authorityOf(own: x509.X509Certificate, signing: webcrypto.CryptoKey): Promise<Authority> {
  const issue = async ({ names, days = 90, nowMs }: IssueOptions): Promise<Issued> => {
    const keys = await newKeyPair();
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: newSerial(),
      subject: `CN=${names[0]}`,
      issuer: own.subject,
      ...validity(nowMs, days),
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
