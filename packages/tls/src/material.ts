/** Reads certificates and keys, and reports which file is wrong and why. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Paths of PEM files; key and certificate are given together. */
export interface TlsFiles {
  /** Trusted certificates, one or more. */
  ca?: string | undefined;
  /** Our own certificate, followed by the intermediate ones. */
  cert?: string | undefined;
  key?: string | undefined;
}

/** The content of the files; a part without a file is null. */
export interface Material {
  ca: Buffer | null;
  cert: Buffer | null;
  key: Buffer | null;
}

/** A file that cannot be used; `message` is one sentence for an operator and never holds content of the file. */
export class TlsFileError extends Error {
  constructor(
    readonly file: string,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`${file}: ${reason}`, options);
    this.name = 'TlsFileError';
  }
}

const read = (file: string | undefined): Buffer | null => {
  if (file === undefined) return null;
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new TlsFileError(file, `cannot be read (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
};

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

function certificatesIn(file: string, content: Buffer): X509Certificate[] {
  const blocks = content.toString('latin1').match(BLOCK) ?? [];
  if (blocks.length === 0) throw new TlsFileError(file, 'holds no certificate in PEM form');
  return blocks.map((block) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      throw new TlsFileError(file, 'holds a certificate that cannot be read', { cause });
    }
  });
}

function keyIn(file: string, content: Buffer) {
  try {
    return createPrivateKey(content);
  } catch (cause) {
    throw new TlsFileError(file, 'holds no private key in PEM form without a passphrase', { cause });
  }
}

/** @throws TlsFileError naming the file; also when key and certificate do not belong together. */
export function readMaterial(files: TlsFiles): Material {
  const material = { ca: read(files.ca), cert: read(files.cert), key: read(files.key) };
  if (files.ca && material.ca) certificatesIn(files.ca, material.ca);
  if (files.cert && material.cert) {
    const [own] = certificatesIn(files.cert, material.cert);
    if (!files.key || !material.key) throw new TlsFileError(files.cert, 'has no key beside it');
    if (!own!.checkPrivateKey(keyIn(files.key, material.key)))
      throw new TlsFileError(files.key, `is not the key of the certificate in ${files.cert}`);
  }
  return material;
}

/** DNS names of a certificate, in the order in which it lists them. */
export function dnsNames(subjectAltName: string | undefined): string[] {
  return (subjectAltName ?? '')
    .split(', ')
    .filter((entry) => entry.startsWith('DNS:'))
    .map((entry) => entry.slice('DNS:'.length).toLowerCase());
}
