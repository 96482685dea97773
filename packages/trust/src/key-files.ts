/** Identities from files: the private key of this service, and the public keys of all services. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceName } from '@baton/contracts';
import { type Clock, isJsonObject, type JsonObject, type Log, systemClock } from '@baton/kernel';
import {
  type IdentityOwner,
  identityOwners,
  isIdentityOwner,
  kidOf,
  type SigningKey,
  signingKey,
  type Trust,
} from './identity';

/** Shortest time between two looks at a file: when a key is not known, and before a token is signed. */
const LOOK_MS = 1_000;

export interface KeyFiles {
  /** JWK of this service's private key. */
  keyFile: string;
  /** JWKS of public keys; each has an `owner`. */
  trustFile: string;
}

/**
 * Returns the content of a file, read again when the file has changed. When the file cannot be read, the previous content stays.
 */
function watched<T>(file: string, read: (text: string) => T, clock: Clock, log: Log): () => T {
  const stamp = (): string => {
    const { mtimeMs, ino, size } = statSync(file);
    return `${mtimeMs} ${ino} ${size}`;
  };
  let seen = stamp();
  let value = read(readFileSync(file, 'utf8'));
  let lookedAt = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    if (now - lookedAt < LOOK_MS) return value;
    lookedAt = now;
    try {
      const current = stamp();
      if (current === seen) return value;
      value = read(readFileSync(file, 'utf8'));
      seen = current;
      log.info({ file }, 'identity keys read again');
    } catch (error) {
      log.error(
        { file, reason: (error as Error).message },
        'identity keys cannot be read; the last ones stay',
      );
    }
    return value;
  };
}

/** @throws Error that names the file and the fault in it */
export function trustFromFiles(
  name: ServiceName,
  { keyFile, trustFile }: KeyFiles,
  o: { log: Log; clock?: Clock },
): Trust {
  const clock = o.clock ?? systemClock;
  const key = watched(keyFile, (text) => readPrivateKey(keyFile, text, name), clock, o.log);
  const publics = watched(trustFile, (text) => readPublicKeys(trustFile, text), clock, o.log);
  return {
    identity: { name, key },
    bundle: { keyOf: (owner, kid) => publics().get(`${owner}/${kid}`) ?? null },
  };
}

function parsed(file: string, text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Reported by the error below.
  }
  throw new Error(`${file}: expected a JSON object`);
}

function readPrivateKey(file: string, text: string, name: ServiceName): SigningKey {
  const jwk = parsed(file, text);
  if (jwk.owner !== name) throw new Error(`${file}: the key belongs to ${String(jwk.owner)}, not to ${name}`);
  if (jwk.crv !== 'Ed25519' || typeof jwk.d !== 'string')
    throw new Error(`${file}: expected the JWK of a private Ed25519 key`);
  return signingKey(createPrivateKey({ key: jwk as never, format: 'jwk' }));
}

function readPublicKeys(file: string, text: string): Map<string, KeyObject> {
  const { keys } = parsed(file, text);
  if (!Array.isArray(keys)) throw new Error(`${file}: expected a JWKS, an object with "keys"`);
  const found = new Map<string, KeyObject>();
  for (const jwk of keys) {
    if (!isJsonObject(jwk) || jwk.crv !== 'Ed25519' || typeof jwk.owner !== 'string' || 'd' in jwk)
      throw new Error(`${file}: every key must be a public Ed25519 JWK with an "owner"`);
    if (!isIdentityOwner(jwk.owner)) throw new Error(`${file}: ${jwk.owner} is no service with an identity`);
    const key = createPublicKey({ key: jwk as never, format: 'jwk' });
    found.set(`${jwk.owner}/${kidOf(key)}`, key);
  }
  return found;
}

/** Paths of the key files of a service in a folder of `makeKeys`. */
export const keyFilesIn = (dir: string, name: ServiceName): KeyFiles => ({
  keyFile: join(dir, `${name}.key.json`),
  trustFile: join(dir, 'trust.json'),
});

/**
 * Makes the keys that are missing in `dir`, and for each service in `rotate` a new key besides the old one. The order keeps unknown
 * keys out of use: first the public keys are written; then, once every process has read them (a second; longer where files are
 * copied), the private one. `retire`: removes the old public keys of these services. Returns the made and the pending keys.
 */
export function makeKeys(
  dir: string,
  o: { rotate?: readonly IdentityOwner[]; retire?: readonly IdentityOwner[] } = {},
): { made: IdentityOwner[]; pending: { owner: IdentityOwner; file: string; next: string }[] } {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const trustFile = join(dir, 'trust.json');
  const known = existsSync(trustFile)
    ? (parsed(trustFile, readFileSync(trustFile, 'utf8')).keys as JsonObject[])
    : [];
  const keys = [...known];
  const made: IdentityOwner[] = [];
  const pending: { owner: IdentityOwner; file: string; next: string }[] = [];
  for (const owner of identityOwners) {
    const { keyFile } = keyFilesIn(dir, owner);
    const isNew = !existsSync(keyFile);
    if (isNew || o.rotate?.includes(owner)) {
      const file = isNew ? keyFile : `${keyFile}.next`;
      keys.push(writeKey(owner, file));
      made.push(owner);
      if (!isNew) pending.push({ owner, file: keyFile, next: file });
    }
  }
  writeJson(trustFile, { keys: keys.filter((jwk) => !isRetired(dir, jwk, o.retire ?? [])) }, 0o644);
  return { made, pending };
}

/** Does the second step of a rotation: the new private key replaces the old one. */
export function adoptKeys(pending: readonly { file: string; next: string }[]): void {
  for (const { file, next } of pending) renameSync(next, file);
}

/**
 * Copies keys from `dir` into `out`, one folder per service, which holds nothing of other services but public keys: trust.json
 * (`public`), or key.json (`private`). The folders may be mounts.
 */
export function handOutKeys(dir: string, out: string, part: 'public' | 'private'): void {
  for (const owner of identityOwners) {
    const folder = join(out, owner);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { keyFile, trustFile } = keyFilesIn(dir, owner);
    if (part === 'public') copyJson(trustFile, join(folder, 'trust.json'), 0o644);
    else copyJson(keyFile, join(folder, 'key.json'), 0o600);
  }
}

function copyJson(from: string, to: string, mode: number): void {
  writeJson(to, parsed(from, readFileSync(from, 'utf8')), mode);
}

function isRetired(dir: string, jwk: JsonObject, retire: readonly IdentityOwner[]): boolean {
  const owner = jwk.owner as IdentityOwner;
  if (!retire.includes(owner)) return false;
  const { keyFile } = keyFilesIn(dir, owner);
  return parsed(keyFile, readFileSync(keyFile, 'utf8')).kid !== jwk.kid;
}

function writeKey(owner: IdentityOwner, file: string): JsonObject {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const about = { owner, kid: kidOf(publicKey), alg: 'EdDSA', use: 'sig' };
  writeJson(file, { ...privateKey.export({ format: 'jwk' }), ...about }, 0o600);
  return { ...publicKey.export({ format: 'jwk' }), ...about } as JsonObject;
}

/** Writes the file whole or not at all: a service may read it meanwhile. */
function writeJson(file: string, value: object, mode: number): void {
  const fresh = `${file}.new`;
  writeFileSync(fresh, `${JSON.stringify(value, null, 2)}\n`, { mode });
  chmodSync(fresh, mode);
  renameSync(fresh, file);
}
