import type { ProviderTestAnswer } from '@baton/contracts/http/identity-providers';
import { notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { findProvider } from '../../store/identity-providers.sql';
import type { DB as Tables } from '../../store/tables.gen';
import type { DirectoryProbe } from '../adapters/directory-probe';
import type { OidcClient } from '../adapters/oidc-client';
import { ProviderUnreached } from '../adapters/provider-fetch';
import type { OidcProvider } from '../domain/provider';
import type { Sealer } from '../domain/sealed-text';
import { testDirectory } from './directory-test';

interface Deps {
  db: Db<Tables>;
  oidc: Pick<OidcClient, 'probe'>;
  probe: DirectoryProbe;
  sealer: Sealer;
}

/** Asks the provider as a sign-in would. @throws AppError not_found_error */
export async function testProvider(deps: Deps, id: string): Promise<ProviderTestAnswer> {
  const provider = await findProvider(deps.db.query, id);
  if (!provider) throw notFound('IdentityProvider', id);
  return provider.type === 'ldap' ? testDirectory(deps, provider) : testOidc(deps, provider);
}

/**
 * Asks for the discovery document and the keys, and says in one sentence what fails. It cannot tell whether the client secret is
 * right: only a code shows that.
 */
async function testOidc(
  deps: Pick<Deps, 'oidc' | 'sealer'>,
  provider: OidcProvider,
): Promise<ProviderTestAnswer> {
  const { id } = provider;
  const failed = (step: ProviderTestAnswer['step'], message: string): ProviderTestAnswer => ({
    ok: false,
    step,
    message,
    warnings: [],
  });
  if (provider.secretSealed !== null && !deps.sealer.open('client secret', id, provider.secretSealed))
    return failed('client', 'The client secret was sealed under another key: set client_secret again.');
  try {
    const { metadata, keys } = await deps.oidc.probe(provider);
    if (keys === 0) return failed('keys', 'The provider publishes no keys, so no ID token can be checked.');
    return {
      ok: true,
      step: 'done',
      message: `The provider answers as ${metadata.issuer} and publishes ${keys} ${keys === 1 ? 'key' : 'keys'}.`,
      warnings: warningsOf(provider, metadata),
    };
  } catch (error) {
    return failed(stepOf(error), sentenceOf(provider, error));
  }
}

/** What will surprise users although the provider answers. */
function warningsOf(
  { scopes, secretSealed }: OidcProvider,
  metadata: Awaited<ReturnType<OidcClient['probe']>>['metadata'],
): string[] {
  const unknown = scopes.filter((scope) => metadata.scopes_supported?.includes(scope) === false);
  return [
    ...unknown.map((scope) => `The provider does not name the scope ${scope}.`),
    ...(scopes.includes('offline_access')
      ? []
      : [
          'Without the scope offline_access many providers give no refresh token: sessions then end after five minutes.',
        ]),
    ...(metadata.userinfo_endpoint === undefined ? ['The provider has no userinfo endpoint.'] : []),
    ...(secretSealed === null ? ['There is no client secret: the provider must know a public client.'] : []),
  ];
}

const unreachedIn = (error: unknown): ProviderUnreached | null =>
  error instanceof ProviderUnreached
    ? error
    : error instanceof Error && error.cause !== undefined
      ? unreachedIn(error.cause)
      : null;

const stepOf = (error: unknown): ProviderTestAnswer['step'] => {
  const unreached = unreachedIn(error);
  if (!unreached) return 'discovery';
  return /BATON_LOGIN_PROVIDER_ALLOW|DNS|https:/.test(unreached.message) ? 'address' : 'discovery';
};

function sentenceOf({ issuer }: OidcProvider, error: unknown): string {
  const unreached = unreachedIn(error);
  const why =
    unreached?.message ?? (error instanceof Error ? error.message.slice(0, 200) : 'an unknown fault');
  return `The discovery document of ${issuer} could not be used: ${why}.`;
}
