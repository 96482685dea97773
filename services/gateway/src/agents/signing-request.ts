/** A key pair, and the request with which an authority makes a certificate of it. */
import { webcrypto } from 'node:crypto';

const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export interface SigningRequest {
  /** PKCS #10 in PEM. */
  request: string;
  /** PKCS #8 in PEM. */
  key: string;
}

/** Makes a new key (P-256) and a request for a server of this name. */
export async function createSigningRequest(serverName: string): Promise<SigningRequest> {
  // Loaded only here: it is needed once in a long time.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto as never);
  const keys = (await webcrypto.subtle.generateKey(SIGNING, true, ['sign', 'verify'])) as never;
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: `CN=${serverName}`,
    keys,
    signingAlgorithm: SIGNING,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: serverName }])],
  });
  const { privateKey } = keys as webcrypto.CryptoKeyPair;
  const bytes = await webcrypto.subtle.exportKey('pkcs8', privateKey);
  return { request: request.toString('pem'), key: x509.PemConverter.encode(bytes, 'PRIVATE KEY') };
}
