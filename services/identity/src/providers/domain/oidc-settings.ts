import type { ProviderChange } from '@baton/contracts/http/identity-providers';
import { AppError, badParameter } from '@baton/kernel';
import { requireText } from '../../domain/checks';
import type { OidcProvider, OidcSettings } from './provider';

const DEFAULTS = {
  scopes: ['openid', 'profile', 'offline_access'],
  usernameClaim: 'preferred_username',
  groupsClaim: 'groups',
} as const;

export const blankOidc: Readonly<OidcSettings> = {
  issuer: '',
  clientId: '',
  scopes: DEFAULTS.scopes,
  parameters: {},
  usernameClaim: DEFAULTS.usernameClaim,
  groupsClaim: DEFAULTS.groupsClaim,
  stripSuffix: null,
};

/** Settings without a default. */
export const neededByOidc = ['issuer', 'client_id'] as const;

/** Returns the settings of OpenID Connect that the request gives; absent ones are undefined. @throws AppError bad_parameters_error */
export function givenOidc(wish: ProviderChange): {
  [K in keyof OidcSettings]?: OidcSettings[K] | undefined;
} {
  const { claims } = wish;
  return {
    issuer: wish.issuer === undefined ? undefined : requireIssuer(wish.issuer),
    clientId: wish.client_id === undefined ? undefined : requireText('client_id', wish.client_id),
    scopes: wish.scopes && requireScopes(wish.scopes),
    parameters: wish.parameters && checkParameters(wish.parameters),
    ...(claims && {
      usernameClaim: claims.username ?? DEFAULTS.usernameClaim,
      groupsClaim: claims.groups ?? DEFAULTS.groupsClaim,
      stripSuffix: claims.strip_suffix ?? null,
    }),
  };
}

/** @throws AppError illegal_action_error: subjects are unique within an issuer, under another one the same text can be another person */
export function requireSameIssuer(before: OidcProvider, after: OidcProvider): void {
  if (before.issuer === after.issuer) return;
  throw new AppError('illegal_action_error', 'The issuer of a provider with users cannot change', {
    field: 'issuer',
    expected: `${before.issuer}, or a new provider`,
  });
}

/** @throws AppError bad_parameters_error unless `openid` is among them: without it there is no ID token */
function requireScopes(scopes: readonly string[]): readonly string[] {
  const bad = scopes.findIndex((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (bad >= 0) throw badParameter(`scopes.${bad}`, 'A scope is one word (RFC 6749, section 3.3)');
  if (!scopes.includes('openid'))
    throw badParameter('scopes', '`openid` is missing', { expected: 'openid and others' });
  return scopes;
}

/** Parameters that the protocol itself decides (RFC 6749, RFC 7636, OpenID Connect Core 1.0). */
const RESERVED = new Set(
  'client_id client_secret redirect_uri response_type response_mode scope state nonce code_challenge code_challenge_method request request_uri'.split(
    ' ',
  ),
);

/** Returns the parameters. @throws AppError bad_parameters_error for a parameter that a sign-in sets itself */
export function checkParameters(
  parameters: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const reserved = Object.keys(parameters).find((name) => RESERVED.has(name));
  if (reserved === undefined) return parameters;
  throw badParameter(`parameters.${reserved}`, `Parameter \`${reserved}\` is set by the sign-in itself`, {
    expected: 'parameters of the provider, such as prompt or access_type',
  });
}

/**
 * Checks an issuer: https, and nothing but host, port and path (OpenID Connect Discovery 1.0, section 3). Which addresses the host may
 * have is decided at each connection (adapters/provider-fetch.ts).
 * @throws AppError bad_parameters_error
 */
export function requireIssuer(issuer: string, field = 'issuer'): string {
  const expected = 'https://host, with a port and a path where the provider has them';
  const refused = (why: string) =>
    badParameter(field, `Invalid issuer \`${issuer.slice(0, 200)}\`: ${why}`, { expected });
  let url: URL;
  try {
    url = new URL(issuer);
  } catch {
    throw refused('it is no address');
  }
  if (url.protocol !== 'https:') throw refused('it does not begin with https://');
  if (url.username !== '' || url.password !== '') throw refused('it holds a user or password');
  if (issuer.includes('?') || issuer.includes('#')) throw refused('it has a query or a fragment');
  return issuer;
}
