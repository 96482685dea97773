import { createHash, timingSafeEqual } from 'node:crypto';
import { FatalError } from '../errors';
import type { KnownHosts } from './options';

/** Names of host keys, and the algorithms of signatures that each can make. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'],
};

/** A key as people write it: its kind when known, and its fingerprint. */
interface KnownKey {
  kind: string | null;
  fingerprint: string;
}

/** Fingerprint of a key as ssh-keygen shows it: `SHA256:...`. */
export const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

/** The kind of a key, from its binary form; '' when it cannot be read. */
function kindOfKey(key: Buffer): string {
  const length = key.length >= 4 ? key.readUInt32BE(0) : 0;
  return length > 0 && length <= 64 && key.length >= 4 + length ? key.toString('latin1', 4, 4 + length) : '';
}

/** Reads `SHA256:...`, `ssh-ed25519 AAAA...` or `ssh-ed25519 SHA256:...`. @throws FatalError for other texts */
function readKnownKey(text: string): KnownKey {
  const words = text.trim().split(/\s+/);
  const kind = Object.hasOwn(ALGORITHMS, words[0] ?? '') ? words[0]! : null;
  const value = kind === null ? words[0] : words[1];
  if (value !== undefined && /^SHA256:[A-Za-z0-9+/]{43}=?$/.test(value))
    return { kind, fingerprint: value.replace(/=$/, '') };
  const key = kind === null ? null : Buffer.from(value ?? '', 'base64');
  if (key !== null && kindOfKey(key) === kind) return { kind, fingerprint: fingerprintOf(key) };
  throw new FatalError(
    'a known host key is no key: expected a fingerprint such as SHA256:..., or a public key such as ssh-ed25519 AAAA...',
  );
}

/** The check of the key of a host. */
export interface HostKeyCheck {
  /** Algorithms for which the host can have a known key; undefined: all. */
  algorithms: string[] | undefined;
  /** Whether the key is accepted. A refusal is kept in `refused`. */
  accept(key: Buffer): boolean;
  refused(): FatalError | null;
}

/**
 * Checks the key of a host before a password or a signature is sent.
 * @throws FatalError for a known key that cannot be read
 */
export function hostKeyCheck(known: KnownHosts, place: string, warn: (text: string) => void): HostKeyCheck {
  if (known === 'accept')
    return checkWith(undefined, (key) => {
      warn(
        `the key of ${place} is not checked (${fingerprintOf(key)}): whoever answers there could read along`,
      );
      return null;
    });
  const isList = Array.isArray(known);
  const { remembered, remember } = known as Exclude<KnownHosts, string | readonly string[]>;
  const texts: readonly string[] = isList ? known : remembered === undefined ? [] : [remembered];
  if (isList && texts.length === 0)
    throw new FatalError(
      `no key of ${place} is known: expected its fingerprint, as ssh-keygen -lf shows it at the host`,
    );
  const keys = texts.map(readKnownKey);
  const kinds = keys.every(({ kind }) => kind !== null) ? keys.flatMap(({ kind }) => ALGORITHMS[kind!]!) : [];
  return checkWith(kinds.length > 0 ? kinds : undefined, (key) => {
    const fingerprint = fingerprintOf(key);
    if (keys.some((one) => isSame(one.fingerprint, fingerprint))) return null;
    if (!isList && keys.length === 0) {
      remember(`${kindOfKey(key)} ${fingerprint}`.trim());
      return null;
    }
    return new FatalError(
      `${place} has the key ${kindOfKey(key)} ${fingerprint}, which is not the known one: another machine may have answered. ` +
        'If the host was installed again, give its new fingerprint',
    );
  });
}

function checkWith(
  algorithms: string[] | undefined,
  judge: (key: Buffer) => FatalError | null,
): HostKeyCheck {
  let refusal: FatalError | null = null;
  return {
    algorithms,
    accept: (key) => {
      refusal = judge(key);
      return refusal === null;
    },
    refused: () => refusal,
  };
}

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
