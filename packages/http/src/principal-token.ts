/** The signed header by which the gateway tells a service who calls: HS256 JWT, 60 s. */
import { createHash } from 'node:crypto';
import type { Principal } from '@baton/contracts';
import { AppError, type Clock, type Secret, systemClock } from '@baton/kernel';
import { jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';

export const principalHeader = 'x-baton-principal';
const LIFETIME_S = 60;
/** A signed header is handed out again while at least this many seconds of it remain. */
const REUSE_MARGIN_S = 30;
/** By so much the clocks of gateway and service may differ; with more all requests are refused. */
const SKEW_S = 300;

const keys = new WeakMap<Secret, Uint8Array>();
/** Key bytes of HS256: always 256 bits, whatever the length of the configured text. */
function keyBytes(key: Secret): Uint8Array {
  let bytes = keys.get(key);
  if (!bytes) {
    bytes = createHash('sha256').update(`baton-principal:${key.expose()}`).digest();
    keys.set(key, bytes);
  }
  return bytes;
}

const signed = new WeakMap<Principal, { token: string; key: Secret; expiresS: number }>();

/**
 * The header value for `principal`. The same object is answered from a cache for half a minute,
 * so a gateway that caches principals signs twice a minute and user, not once a request.
 */
export async function signPrincipal(
  principal: Principal,
  key: Secret,
  clock: Clock = systemClock,
): Promise<string> {
  const nowS = Math.floor(clock.now() / 1000);
  const known = signed.get(principal);
  if (known && known.key === key && known.expiresS - nowS > REUSE_MARGIN_S) return known.token;
  const expiresS = nowS + LIFETIME_S;
  const token = await new SignJWT({ p: principal })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime(expiresS)
    .sign(keyBytes(key));
  signed.set(principal, { token, key, expiresS });
  return token;
}

interface Verified {
  principal: Principal;
  expiresMs: number;
}
const verified = new WeakMap<Secret, LRUCache<string, Verified>>();

function cacheOf(key: Secret): LRUCache<string, Verified> {
  let cache = verified.get(key);
  if (!cache) {
    cache = new LRUCache({ max: 2000 });
    verified.set(key, cache);
  }
  return cache;
}

/** The principal of a header seen before and still valid, without any cryptography; null otherwise. */
export function cachedPrincipal(header: string, key: Secret, clock: Clock = systemClock): Principal | null {
  const hit = cacheOf(key).get(header);
  return hit && hit.expiresMs > clock.now() ? hit.principal : null;
}

/**
 * The principal of a header value; it is shared between requests and frozen.
 * @throws AppError unauthorized_error when the header is absent, forged or expired.
 */
export async function verifyPrincipal(
  header: string | undefined,
  key: Secret,
  clock: Clock = systemClock,
): Promise<Principal> {
  if (!header) throw new AppError('unauthorized_error', 'User unauthorized: No authentication info provided');
  const hit = cachedPrincipal(header, key, clock);
  if (hit) return hit;
  try {
    const { payload } = await jwtVerify(header, keyBytes(key), {
      algorithms: ['HS256'],
      requiredClaims: ['exp', 'p'],
      currentDate: new Date(clock.now()),
      clockTolerance: SKEW_S,
    });
    const principal = Object.freeze(payload.p as Principal);
    cacheOf(key).set(header, { principal, expiresMs: (payload.exp! + SKEW_S) * 1000 });
    return principal;
  } catch (cause) {
    throw new AppError(
      'unauthorized_error',
      'User unauthorized: the identity of the caller cannot be verified',
      {},
      { cause },
    );
  }
}

/** Who calls a route with permission `none` without credentials. */
export const anonymous: Principal = Object.freeze({
  userId: 0,
  username: '',
  tenant: '',
  role: '',
  roles: [],
  permissions: [],
  tenants: [],
  authMethod: 'external',
  executionId: '',
  isBootstrapAdmin: false,
} satisfies Principal);
