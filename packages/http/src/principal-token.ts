/**
 * The signed header in which the gateway tells a service the caller: a token signed with the gateway's own key, for one service,
 * for 60 s. No other process can make one, and a longer life is refused.
 */
import { forService, type Principal, type ServiceName } from '@baton/contracts';
import { AppError, type Clock, systemClock } from '@baton/kernel';
import {
  checkLife,
  endMsOf,
  lifeFrom,
  openToken,
  REUSE_MARGIN_S,
  type ServiceIdentity,
  signToken,
  type TrustBundle,
  Untrusted,
} from '@baton/trust';
import { LRUCache } from 'lru-cache';

export const principalHeader = 'x-baton-principal';
/** The only service whose statements about callers are accepted. */
const ISSUER = 'gateway';

interface Signed {
  token: string;
  kid: string;
  exp: number;
}
const signed = new WeakMap<Principal, Map<ServiceName, Signed>>();

/**
 * Returns the header value for `principal` at one service. For the same object it comes from a cache for half a minute. So a
 * gateway that caches principals signs twice a minute per user and service, not once per request.
 */
export function signPrincipal(
  principal: Principal,
  identity: ServiceIdentity,
  audience: ServiceName,
  clock: Clock = systemClock,
): string {
  const key = identity.key();
  let byService = signed.get(principal);
  const known = byService?.get(audience);
  if (known && known.kid === key.kid && known.exp - clock.now() / 1000 > REUSE_MARGIN_S) return known.token;
  const life = lifeFrom(clock.now());
  // GET /user/permissions of identity lists all of them.
  const told = audience === 'identity' ? principal : forService(principal);
  const claims = { iss: identity.name, aud: audience, ...life, p: told };
  const token = signToken('baton-principal', key, claims);
  if (!byService) signed.set(principal, (byService = new Map()));
  byService.set(audience, { token, kid: key.kid, exp: life.exp });
  return token;
}

/** The keys with which a service checks principal headers. */
export interface PrincipalReader {
  service: ServiceName;
  bundle: TrustBundle;
}

interface Verified {
  principal: Principal;
  endMs: number;
}
const verified = new WeakMap<TrustBundle, LRUCache<string, Verified>>();

function cacheOf({ bundle }: PrincipalReader): LRUCache<string, Verified> {
  let cache = verified.get(bundle);
  if (!cache) {
    cache = new LRUCache({ max: 2000 });
    verified.set(bundle, cache);
  }
  return cache;
}

/**
 * Returns the principal of a header value; it is shared between requests and frozen. A verified header is cached until its token
 * ends, without further cryptography.
 * @throws AppError unauthorized_error when the header is absent, forged, expired, for another service or for too long.
 */
export function verifyPrincipal(
  header: string | undefined,
  reader: PrincipalReader,
  clock: Clock = systemClock,
): Principal {
  if (!header) throw new AppError('unauthorized_error', 'User unauthorized: No authentication info provided');
  const cache = cacheOf(reader);
  const name = `${reader.service} ${header}`;
  const hit = cache.get(name);
  if (hit && hit.endMs > clock.now()) return hit.principal;
  try {
    const claims = openToken('baton-principal', header, ({ iss }, kid) =>
      iss === ISSUER ? reader.bundle.keyOf(ISSUER, kid) : null,
    );
    checkLife(claims, clock);
    if (claims.aud !== reader.service) throw new Untrusted(`it is meant for ${claims.aud.slice(0, 64)}`);
    const principal = Object.freeze(claims.p as unknown as Principal);
    cache.set(name, { principal, endMs: endMsOf(claims) });
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

/** The caller of a route with permission `none` without credentials. */
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
