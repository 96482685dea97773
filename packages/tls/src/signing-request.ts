/** Keys and signing requests of those who want a certificate: agents, and the listener of a gateway. P-256 only. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { newKeyPair, pemOfKey, privateKeyOf, SIGNING } from './signing';

/** Returns a new private key, as PEM (PKCS #8, P-256). */
export async function newKey(): Promise<string> {
  return await pemOfKey((await newKeyPair()).privateKey);
}

/** Returns a signing request (PKCS #10) for the key, both as PEM. The signer decides the names; `name` is for people. */
export async function signingRequest(keyPem: string, name: string): Promise<string> {
  x509.cryptoProvider.set(webcrypto as never);
  const privateKey = await privateKeyOf(keyPem);
  const { d: _, ...jwk } = await webcrypto.subtle.exportKey('jwk', privateKey);
  const publicKey = await webcrypto.subtle.importKey('jwk', { ...jwk, key_ops: ['verify'] }, SIGNING, true, [
    'verify',
  ]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [name.slice(0, 64)] }],
    keys: { privateKey, publicKey } as never,
    signingAlgorithm: SIGNING,
  });
  return request.toString('pem');
}
