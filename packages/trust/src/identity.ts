/**
 * Every service has an Ed25519 key pair. It proves its identity with the private key; others verify it with the public keys. A
 * signature costs about 0.05 ms and a check 0.12 ms, so both are done once per token and not once per call.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  sign as edSign,
  verify as edVerify,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { type ManagerService, managerServices, type ServiceName } from '@baton/contracts';
import type { Secret } from '@baton/kernel';

/** A private key that signs; `kid` identifies its public key among the keys of the same owner. */
export interface SigningKey {
  kid: string;
  sign(bytes: Uint8Array): Buffer;
}

/**
 * The name of a process and the key that proves it. `key()` may return another key at the next call: keys are rotated without a
 * stop.
 */
export interface ServiceIdentity {
  name: ServiceName;
  key(): SigningKey;
}

/** Public keys of the services; several of one owner while a key is rotated. */
export interface TrustBundle {
  keyOf(owner: ServiceName, kid: string): KeyObject | null;
}

/** The identity of a process, and the public keys it trusts. */
export interface Trust {
  identity: ServiceIdentity;
  bundle: TrustBundle;
}

/** Every service with an identity; workers have separate credentials (worker-credential.ts). */
export const identityOwners = managerServices;
export type IdentityOwner = ManagerService;

export const isIdentityOwner = (name: string): name is IdentityOwner =>
  (identityOwners as readonly string[]).includes(name);

/** Thumbprint of a public key: short, but long enough to tell apart the keys of one owner. */
export function kidOf(publicKey: KeyObject): string {
  const { x } = publicKey.export({ format: 'jwk' });
  return createHash('sha256').update(Buffer.from(x!, 'base64url')).digest('base64url').slice(0, 16);
}

export function signingKey(privateKey: KeyObject): SigningKey {
  return { kid: kidOf(createPublicKey(privateKey)), sign: (bytes) => edSign(null, bytes, privateKey) };
}

export const isSignedBy = (publicKey: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean =>
  edVerify(null, bytes, publicKey, signature);

/** Returns a public key as the 32 bytes of its curve point, in base64url, as certificates of workers carry it. */
export const publicPoint = (publicKey: KeyObject): string => publicKey.export({ format: 'jwk' }).x!;

/** @throws Error for a text that is no such point */
export function publicKeyAt(point: string): KeyObject {
  if (Buffer.from(point, 'base64url').length !== 32) throw new Error('a public key has 32 bytes');
  return createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: point } });
}

/** The header of PKCS #8 before the 32 bytes of an Ed25519 seed. */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: 'der', type: 'pkcs8' });

interface Derived {
  signing: SigningKey;
  publicKey: KeyObject;
}
const derived = new WeakMap<Secret, Map<ServiceName, Derived>>();

function derivedKey(internalKey: Secret, owner: ServiceName): Derived {
  const known = derived.get(internalKey) ?? new Map<ServiceName, Derived>();
  derived.set(internalKey, known);
  let pair = known.get(owner);
  if (!pair) {
    const seed = hkdfSync('sha256', internalKey.expose(), '', `baton-identity:${owner}`, 32);
    const key = privateKeyOf(new Uint8Array(seed));
    pair = { signing: signingKey(key), publicKey: createPublicKey(key) };
    known.set(owner, pair);
  }
  return pair;
}

/**
 * Derives all identities from the key that the services share. No further secret has to be handed out, but a holder of that key can
 * act as any service. Key files (key-files.ts) keep the services apart.
 */
export function derivedTrust(name: ServiceName, internalKey: Secret): Trust {
  return {
    identity: { name, key: () => derivedKey(internalKey, name).signing },
    bundle: {
      keyOf(owner, kid) {
        if (!isIdentityOwner(owner)) return null;
        const { signing, publicKey } = derivedKey(internalKey, owner);
        return signing.kid === kid ? publicKey : null;
      },
    },
  };
}
