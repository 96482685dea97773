/** Authentication of callers: tokens of services and workers, valid for a minute, made twice a minute and checked once each. */
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { RpcCaller, ServiceName } from '@baton/contracts';
import { type Clock, systemClock } from '@baton/kernel';
import { LRUCache } from 'lru-cache';
import {
  isIdentityOwner,
  kidOf,
  publicKeyAt,
  publicPoint,
  type ServiceIdentity,
  type SigningKey,
  signingKey,
  type TrustBundle,
} from './identity';
import {
  type Claims,
  checkLife,
  claimsIn,
  endMsOf,
  lifeFrom,
  openToken,
  REUSE_MARGIN_S,
  signToken,
  Untrusted,
} from './signed-token';

/** The caller of an RPC, as far as it was proved. */
export interface Caller {
  name: RpcCaller;
  /** Id of a registered worker; empty for other callers. */
  workerId: string;
  /** True for a worker that this process started itself: it needs no join token (the channel of a child process is its proof). */
  isChild?: boolean;
}

/** The credential that a process shows when it calls. */
export interface CallerCredential {
  /** Returns the token for a service; null while there is none yet: `ready` resolves when there is. */
  tokenFor(audience: ServiceName): string | null;
  ready(): Promise<void>;
}

/** Caches one token per audience; makes a new one when half of its life is over. */
function reused(clock: Clock, make: (audience: ServiceName, life: { iat: number; exp: number }) => string) {
  const made = new Map<ServiceName, { token: string; exp: number }>();
  return (audience: ServiceName): string => {
    const known = made.get(audience);
    if (known && known.exp - clock.now() / 1000 > REUSE_MARGIN_S) return known.token;
    const life = lifeFrom(clock.now());
    const token = make(audience, life);
    made.set(audience, { token, exp: life.exp });
    return token;
  };
}

/** The credential of a service. */
export function serviceCredential(identity: ServiceIdentity, clock: Clock = systemClock): CallerCredential {
  const tokenFor = reused(clock, (aud, life) =>
    signToken('baton-call', identity.key(), { iss: identity.name, aud, ...life }),
  );
  return { tokenFor, ready: async () => undefined };
}

/** Signs the certificate of a registered worker, as executions: the worker's id and the key that signs its calls. */
export function signCertificate(
  identity: ServiceIdentity,
  worker: { workerId: string; publicKey: string },
  clock: Clock = systemClock,
): string {
  const { workerId: sub, publicKey: x } = worker;
  const { name: iss } = identity;
  return signToken('baton-worker', identity.key(), { iss, aud: 'baton', sub, x, ...lifeFrom(clock.now()) });
}

/** The time in ms at which a certificate was signed, by the clock of executions. For its owner, who got it from executions. */
export const certifiedAtMs = (certificate: string): number => claimsIn(certificate).iat * 1000;

/** The key pair of a worker; it exists only in the memory of the worker's process. */
export interface WorkerKey {
  signing: SigningKey;
  /** 32 bytes, base64url. */
  publicKey: string;
}

export function newWorkerKey(): WorkerKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { signing: signingKey(privateKey), publicKey: publicPoint(createPublicKey(privateKey)) };
}

/**
 * Returns the function that makes tokens of a worker: signed by the worker, with the certificate that binds the key to the worker.
 */
export function workerTokens(
  key: WorkerKey,
  certificate: string,
  clock: Clock = systemClock,
): (audience: ServiceName) => string {
  return reused(clock, (aud, life) =>
    signToken('baton-worker-call', key.signing, { iss: 'worker', aud, cert: certificate, ...life }),
  );
}

/** The owner of worker registrations: only its certificates of workers are trusted. */
const REGISTRAR = 'executions';
/**
 * Extra life of a certificate towards the registrar. The registrar knows which of its certificates were revoked. So a worker whose
 * certificate ran out while the registrar was away may still ask it for the next one.
 */
const RENEWAL_GRACE_S = 24 * 3600;

export interface CallVerifier {
  /** @throws Untrusted */
  callerOf(token: string): Caller;
}

interface Known {
  caller: Caller;
  endMs: number;
}
const MAX_KNOWN = 2_000;

/** Creates the check of tokens that were made for `audiences` (a process may hold several services). */
export function createCallVerifier(o: {
  audiences: readonly ServiceName[];
  bundle: TrustBundle;
  clock?: Clock;
}): CallVerifier {
  const clock = o.clock ?? systemClock;
  const known = new LRUCache<string, Known>({ max: MAX_KNOWN });
  const check = (token: string): Known => {
    const isWorker = typeOf(token) === 'baton-worker-call';
    const read = isWorker ? readWorkerCall(token, o.bundle, clock) : readServiceCall(token, o.bundle);
    checkLife(read.claims, clock);
    if (!(o.audiences as readonly string[]).includes(read.claims.aud))
      throw new Untrusted(`it is meant for ${read.claims.aud.slice(0, 64)}`);
    return { caller: read.caller, endMs: Math.min(endMsOf(read.claims), read.endMs) };
  };
  return {
    callerOf(token) {
      const hit = known.get(token);
      if (hit && hit.endMs > clock.now()) return hit.caller;
      const fresh = check(token);
      known.set(token, fresh);
      return fresh.caller;
    },
  };
}

interface Read {
  claims: Claims;
  caller: Caller;
  endMs: number;
}

/** Returns the unchecked type of a token, which decides the check to make. */
function typeOf(token: string): unknown {
  try {
    const head = JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('utf8'));
    return (head as { typ?: unknown }).typ;
  } catch {
    throw new Untrusted('it is no signed token');
  }
}

function readServiceCall(token: string, bundle: TrustBundle): Read {
  const claims = openToken('baton-call', token, ({ iss }, kid) =>
    isIdentityOwner(iss) ? bundle.keyOf(iss, kid) : null,
  );
  return {
    claims,
    caller: { name: claims.iss as ServiceName, workerId: '' },
    endMs: Number.POSITIVE_INFINITY,
  };
}

function readWorkerCall(token: string, bundle: TrustBundle, clock: Clock): Read {
  let worker: Claims | null = null;
  const claims = openToken('baton-worker-call', token, ({ iss, aud, cert }, kid) => {
    if (iss !== 'worker' || typeof cert !== 'string') return null;
    worker = openToken('baton-worker', cert, (of, itsKid) =>
      of.iss === REGISTRAR ? bundle.keyOf(REGISTRAR, itsKid) : null,
    );
    checkLife(worker, clock, aud === REGISTRAR ? RENEWAL_GRACE_S : 0);
    const key = publicKeyAt(String(worker.x));
    return kidOf(key) === kid ? key : null;
  });
  const { sub, exp } = worker as unknown as Claims & { sub: string };
  if (typeof sub !== 'string' || sub === '') throw new Untrusted('the certificate names no worker');
  const graceS = claims.aud === REGISTRAR ? RENEWAL_GRACE_S : 0;
  return { claims, caller: { name: 'worker', workerId: sub }, endMs: (exp + graceS) * 1000 };
}
