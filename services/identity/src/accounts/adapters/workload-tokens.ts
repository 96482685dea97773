/** Verifies JWTs of workloads: signature by the keys that the issuer publishes, issuer, audience, times (RFC 8725). */
import type { TrustRule } from '@baton/contracts/http/service-accounts';
import type { Clock } from '@baton/kernel';
import type * as Jose from 'jose';
import { LRUCache } from 'lru-cache';
import type { ProviderFetch } from '../../providers/adapters/provider-fetch';

/** Only signatures by private keys: a shared secret or no signature proves nothing here. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const CLOCK_SKEW_S = 60;
const KEYS_MS = 10 * 60_000;
/** Keys of an issuer are asked for again at most this often, when a token names an unknown one: anybody can send such a token. */
const AGAIN_MS = 30_000;
const MAX_ISSUERS = 200;

/** Why a token was refused, for the log. */
export class WorkloadRefused extends Error {}

export interface WorkloadTokens {
  /** Issuer that the token names, without any check; null: it cannot be read. */
  issuerOf(token: string): Promise<string | null>;
  /** Verifies the token for the issuer and audience of the rule; returns its subject. @throws WorkloadRefused; ProviderUnreached */
  subjectOf(token: string, rule: TrustRule): Promise<string>;
}

interface Keys {
  set: Jose.JSONWebKeySet;
  atMs: number;
}

const library = async (): Promise<typeof Jose> => (await import('jose')) as typeof Jose;

export function createWorkloadTokens(deps: {
  fetch: ProviderFetch;
  clock: Pick<Clock, 'now'>;
}): WorkloadTokens {
  const known = new LRUCache<string, Keys>({ max: MAX_ISSUERS });

  const keysOf = async (rule: TrustRule, maxAgeMs: number): Promise<Keys> => {
    const id = JSON.stringify([rule.issuer, rule.ca_certificate ?? null]);
    const found = known.get(id);
    if (found && deps.clock.now() - found.atMs < maxAgeMs) return found;
    const keys = { set: await readKeys(deps.fetch, rule), atMs: deps.clock.now() };
    known.set(id, keys);
    return keys;
  };

  return {
    async issuerOf(token) {
      const jose = await library();
      try {
        return jose.decodeJwt(token).iss ?? null;
      } catch {
        return null;
      }
    },
    async subjectOf(token, rule) {
      const jose = await library();
      const verify = ({ set }: Keys) =>
        jose.jwtVerify(token, jose.createLocalJWKSet(set), {
          algorithms: ALGORITHMS,
          issuer: rule.issuer,
          audience: rule.audience,
          clockTolerance: CLOCK_SKEW_S,
          currentDate: new Date(deps.clock.now()),
          requiredClaims: ['exp', 'sub'],
        });
      try {
        const { payload } = await verify(await keysOf(rule, KEYS_MS)).catch(async (error: unknown) => {
          // The issuer may have new keys.
          if (error instanceof jose.errors.JWKSNoMatchingKey) return verify(await keysOf(rule, AGAIN_MS));
          throw error;
        });
        return payload.sub!;
      } catch (error) {
        if (error instanceof jose.errors.JOSEError)
          throw new WorkloadRefused(`${error.code}: ${error.message.slice(0, 200)}`, { cause: error });
        throw error;
      }
    },
  };
}

/** Reads the keys by the discovery document of the issuer. @throws WorkloadRefused; ProviderUnreached */
async function readKeys(
  fetch: ProviderFetch,
  { issuer, ca_certificate: ca }: TrustRule,
): Promise<Jose.JSONWebKeySet> {
  const read = async (url: string): Promise<Record<string, unknown>> => {
    const answer = await fetch(url, { headers: { accept: 'application/json' } }, ca ?? null);
    if (!answer.ok) throw new WorkloadRefused(`${url} answers ${answer.status}`);
    const body = (await answer.json().catch(() => null)) as Record<string, unknown> | null;
    if (body === null || typeof body !== 'object') throw new WorkloadRefused(`${url} answers no JSON object`);
    return body;
  };
  const found = await read(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  // A document of another issuer would let that one sign for this (OpenID Connect Discovery 1.0, section 4.3).
  if (found.issuer !== issuer) throw new WorkloadRefused('the discovery document names another issuer');
  if (typeof found.jwks_uri !== 'string')
    throw new WorkloadRefused('the discovery document names no jwks_uri');
  const keys = await read(found.jwks_uri);
  if (!Array.isArray(keys.keys)) throw new WorkloadRefused('the keys of the issuer are no key set');
  return keys as unknown as Jose.JSONWebKeySet;
}
