import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Returns a new private key, as PEM (PKCS #8, P-256). */
export async function newKey(): Promise<string> {
  const { privateKey } = (await webcrypto.subtle.generateKey(P256, true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair;
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY');
}

/** Returns a signing request for the key, as PEM. The manager decides the names; `name` is for people. */
export async function signingRequest(keyPem: string, name: string): Promise<string> {
  x509.cryptoProvider.set(webcrypto as never);
  const bytes = x509.PemConverter.decodeFirst(keyPem);
  const privateKey = await webcrypto.subtle.importKey('pkcs8', bytes, P256, true, ['sign']);
  const { d: _, ...jwk } = await webcrypto.subtle.exportKey('jwk', privateKey);
  const publicKey = await webcrypto.subtle.importKey('jwk', { ...jwk, key_ops: ['verify'] }, P256, true, [
    'verify',
  ]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [name.slice(0, 64)] }],
    keys: { privateKey, publicKey } as never,
    signingAlgorithm: P256,
  });
  return request.toString('pem');
}
