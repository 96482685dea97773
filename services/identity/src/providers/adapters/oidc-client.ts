/**
 * OpenID Connect with one provider: code flow with PKCE, state and nonce (OpenID Connect Core 1.0, section 3.1). Signatures of ID
 * tokens are always checked against the keys of the provider, although they come over TLS.
 */
import { Secret } from '@baton/kernel';
import type * as Openid from 'openid-client';
import { type Claims, claimOf, identityOf, type ProviderIdentity } from '../domain/claims';
import { challengeOf, type LoginAttempt } from '../domain/login-attempt';
import { LoginFailure } from '../domain/login-failure';
import type { OidcProvider } from '../domain/provider';
import { type ConfigurationDeps, createConfigurations, type Library, library } from './oidc-configuration';
import { type ProviderFetch, ProviderUnreached } from './provider-fetch';

export interface SignedIn {
  identity: ProviderIdentity;
  /** Null: the provider gives none, so the roles cannot be asked for again. */
  refreshToken: Secret | null;
}

/** What a provider says about a user that signed in before. */
export type Recheck =
  | ({ kind: 'known' } & SignedIn)
  /** The provider knows the user no more, or takes the refresh token no more. */
  | { kind: 'denied'; reason: string }
  | { kind: 'away'; reason: string };

export interface OidcClient {
  /** Address at the provider to which the browser goes. @throws LoginFailure */
  authorizationUrl(provider: OidcProvider, attempt: LoginAttempt): Promise<string>;
  /** Redeems the code of the callback. `url`: the callback as the browser called it. @throws LoginFailure */
  redeem(provider: OidcProvider, attempt: LoginAttempt, url: URL): Promise<SignedIn>;
  /** Asks again about the user `subject`. Throws nothing: an answer that cannot be read is `away`. */
  askAgain(provider: OidcProvider, subject: string, refreshToken: Secret): Promise<Recheck>;
  /** Asks for discovery and keys as a sign-in would. @throws ProviderUnreached, errors of openid-client */
  probe(provider: OidcProvider): Promise<{ metadata: Openid.ServerMetadata; keys: number }>;
}

export function createOidcClient(deps: ConfigurationDeps): OidcClient {
  const { discover, configure, forgetAll } = createConfigurations(deps);
  /** Runs a step of a sign-in. @throws LoginFailure */
  const step = async <T>(
    provider: OidcProvider,
    work: (openid: Library, config: Openid.Configuration) => T | Promise<T>,
  ): Promise<T> => {
    const openid = await library();
    try {
      return await work(openid, await configure(openid, provider));
    } catch (error) {
      throw failureOf(openid, error);
    }
  };
  return {
    // Building the address refuses an endpoint without TLS.
    authorizationUrl: (provider, attempt) =>
      step(
        provider,
        (openid, config) => openid.buildAuthorizationUrl(config, parametersOf(provider, attempt)).href,
      ),
    redeem: (provider, attempt, url) =>
      step(provider, async (openid, config) => {
        const tokens = await openid.authorizationCodeGrant(config, url, {
          pkceCodeVerifier: attempt.verifier,
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          idTokenExpected: true,
        });
        const claims = await withUserinfo(openid, config, provider, tokens, tokens.claims()!);
        return { identity: identityOf(provider, claims), refreshToken: refreshOf(tokens) };
      }),
    async askAgain(provider, subject, refreshToken) {
      const openid = await library();
      try {
        return await refresh(openid, await configure(openid, provider), provider, { subject, refreshToken });
      } catch (error) {
        const reason = failureOf(openid, error).reason;
        return isDenial(openid, error) ? { kind: 'denied', reason } : { kind: 'away', reason };
      }
    },
    async probe(provider) {
      forgetAll();
      const metadata = await discover(await library(), provider);
      return { metadata, keys: await countKeys(deps.fetch, provider, metadata.jwks_uri) };
    },
  };
}

const parametersOf = (provider: OidcProvider, attempt: LoginAttempt): Record<string, string> => ({
  ...provider.parameters,
  redirect_uri: attempt.redirectUri,
  scope: provider.scopes.join(' '),
  state: attempt.state,
  nonce: attempt.nonce,
  code_challenge: challengeOf(attempt.verifier),
  code_challenge_method: 'S256',
});

/** Asks about a user by the refresh token. @throws errors of the library, LoginFailure */
async function refresh(
  openid: Library,
  config: Openid.Configuration,
  provider: OidcProvider,
  { subject, refreshToken }: { subject: string; refreshToken: Secret },
): Promise<Recheck> {
  const tokens = await openid.refreshTokenGrant(config, refreshToken.expose());
  const claims = await claimsOfRefresh(openid, config, tokens, subject);
  if (claims === null) return { kind: 'denied', reason: 'the provider tells nothing about the user again' };
  const identity = identityOf(provider, claims);
  if (identity.subject !== subject) return { kind: 'denied', reason: 'the provider names another user' };
  return { kind: 'known', identity, refreshToken: refreshOf(tokens) ?? refreshToken };
}

/** @throws ProviderUnreached */
async function countKeys(
  fetch: ProviderFetch,
  provider: OidcProvider,
  uri: string | undefined,
): Promise<number> {
  if (uri === undefined) throw new ProviderUnreached('its discovery document names no jwks_uri');
  const answer = await fetch(uri, { headers: { accept: 'application/json' } }, provider.caCertificate);
  const { keys } = (await answer.json()) as { keys?: unknown };
  if (!answer.ok || !Array.isArray(keys)) throw new ProviderUnreached(`its keys answer ${answer.status}`);
  return keys.length;
}

type Tokens = Openid.TokenEndpointResponse & Openid.TokenEndpointResponseHelpers;

const refreshOf = (tokens: Tokens): Secret | null =>
  tokens.refresh_token === undefined ? null : new Secret(tokens.refresh_token);

/** Adds the claims of the userinfo endpoint where the ID token lacks the name or the groups; its own claims go before. */
async function withUserinfo(
  openid: Library,
  config: Openid.Configuration,
  provider: OidcProvider,
  tokens: Tokens,
  claims: Claims,
): Promise<Claims> {
  const isWhole = [provider.usernameClaim, provider.groupsClaim].every(
    (path) => claimOf(claims, path) !== undefined,
  );
  if (isWhole || config.serverMetadata().userinfo_endpoint === undefined) return claims;
  const more = await openid.fetchUserInfo(config, tokens.access_token, claims.sub as string);
  return { ...more, ...claims };
}

/** Fresh claims: of the userinfo endpoint, else of a new ID token; null: the provider has neither. */
async function claimsOfRefresh(
  openid: Library,
  config: Openid.Configuration,
  tokens: Tokens,
  subject: string,
): Promise<Claims | null> {
  const own = tokens.claims() ?? null;
  if (own !== null && own.sub !== subject) return own;
  if (config.serverMetadata().userinfo_endpoint === undefined) return own;
  const asked = await openid.fetchUserInfo(config, tokens.access_token, subject);
  return { ...own, ...asked };
}

/** Faults of an answer that name another user, and refusals of the refresh token; everything else may pass. */
const DENIALS = new Set(['OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED']);

function isDenial(openid: Library, error: unknown): boolean {
  if (error instanceof openid.ResponseBodyError) return error.error === 'invalid_grant';
  if (error instanceof openid.WWWAuthenticateChallengeError) return true;
  return DENIALS.has(codeOf(error));
}

const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
};

/** Statuses of a provider that is busy or broken. */
const isAway = (status: number): boolean => status >= 500 || status === 429;

/** Returns why a step failed. The messages of the library hold names of claims and codes, never a token. */
function failureOf(openid: Library, error: unknown): LoginFailure {
  if (error instanceof LoginFailure) return error;
  const unreached = unreachedIn(error);
  if (unreached) return new LoginFailure('provider_away', unreached.message, { cause: error });
  if (error instanceof openid.AuthorizationResponseError)
    return new LoginFailure('refused', `the provider answered ${error.error.slice(0, 100)}`, {
      cause: error,
    });
  if (error instanceof openid.ResponseBodyError)
    return new LoginFailure(
      isAway(error.status) ? 'provider_away' : 'refused',
      `the provider answered ${error.status} ${error.error.slice(0, 100)}`,
      { cause: error },
    );
  const { message } = error as { message?: unknown };
  const text = typeof message === 'string' ? message.slice(0, 200) : 'an unknown fault';
  const status = statusIn(error);
  const code = status !== null && isAway(status) ? 'provider_away' : 'bad_answer';
  return new LoginFailure(code, `${text} ${codeOf(error)}`.trim(), { cause: error });
}

function unreachedIn(error: unknown): ProviderUnreached | null {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++)
    if (one instanceof ProviderUnreached) return one;
  return null;
}

/** Status of the answer that the library keeps as the cause of its error. */
function statusIn(error: unknown): number | null {
  for (let one = error, depth = 0; depth < 5 && typeof one === 'object' && one !== null; depth++) {
    if (one instanceof Response) return one.status;
    one = (one as { cause?: unknown }).cause;
  }
  return null;
}
