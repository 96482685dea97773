/** Configurations of `openid-client` for our providers: discovery, client authentication, requests through our own door. */
import type { Clock, Secret } from '@baton/kernel';
import { LRUCache } from 'lru-cache';
import type * as Openid from 'openid-client';
import { LoginFailure } from '../domain/login-failure';
import type { OidcProvider } from '../domain/provider';
import type { Sealer } from '../domain/sealed-text';
import { PROVIDER_TIMEOUT_MS, type ProviderFetch } from './provider-fetch';

/** Clocks of providers may differ by this much, in seconds. */
const CLOCK_SKEW_S = 60;
/** A discovery document is read again after this time; key sets are read anew for each sign-in, so a rotation needs no wait. */
const DISCOVERY_MS = 10 * 60_000;
const MAX_DISCOVERED = 100;

export interface ConfigurationDeps {
  fetch: ProviderFetch;
  sealer: Sealer;
  clock: Pick<Clock, 'now'>;
}

export type Library = typeof Openid;

/** Loaded at the first sign-in, not at the start. */
export const library = async (): Promise<Library> => (await import('openid-client')) as Library;

export interface Configurations {
  discover(openid: Library, provider: OidcProvider): Promise<Openid.ServerMetadata>;
  configure(openid: Library, provider: OidcProvider): Promise<Openid.Configuration>;
  /** Forgets every discovery document. */
  forgetAll(): void;
}

export function createConfigurations(deps: ConfigurationDeps): Configurations {
  const found = new LRUCache<string, { metadata: Openid.ServerMetadata; untilMs: number }>({
    max: MAX_DISCOVERED,
  });

  const discover = async (openid: Library, provider: OidcProvider): Promise<Openid.ServerMetadata> => {
    const key = JSON.stringify([provider.id, provider.issuer, provider.caCertificate]);
    const known = found.get(key);
    if (known && known.untilMs > deps.clock.now()) return known.metadata;
    const config = await openid.discovery(new URL(provider.issuer), provider.clientId, undefined, undefined, {
      timeout: PROVIDER_TIMEOUT_MS / 1000,
      [openid.customFetch]: fetchFor(deps, provider),
    });
    const metadata = config.serverMetadata();
    found.set(key, { metadata, untilMs: deps.clock.now() + DISCOVERY_MS });
    return metadata;
  };

  return {
    discover,
    forgetAll: () => found.clear(),
    configure: async (openid, provider) => {
      const metadata = await discover(openid, provider);
      const config = new openid.Configuration(
        metadata,
        provider.clientId,
        { [openid.clockTolerance]: CLOCK_SKEW_S },
        clientAuth(openid, metadata, secretOf(deps.sealer, provider)),
      );
      config.timeout = PROVIDER_TIMEOUT_MS / 1000;
      config[openid.customFetch] = fetchFor(deps, provider);
      openid.enableNonRepudiationChecks(config);
      return config;
    },
  };
}

const fetchFor =
  (deps: ConfigurationDeps, provider: OidcProvider): Openid.CustomFetch =>
  (url, { method, headers, body }) =>
    deps.fetch(
      url,
      { method, headers, body: body === null || body === undefined ? undefined : String(body) },
      provider.caCertificate,
    );

function secretOf(sealer: Sealer, provider: OidcProvider): Secret | null {
  if (provider.secretSealed === null) return null;
  const secret = sealer.open('client secret', provider.id, provider.secretSealed);
  if (secret === null)
    throw new LoginFailure('refused', 'its client_secret is sealed by another key; set it again');
  return secret;
}

/** Without a list, providers take the secret in the header (OpenID Connect Discovery 1.0, section 3). */
function clientAuth(
  openid: Library,
  metadata: Openid.ServerMetadata,
  secret: Secret | null,
): Openid.ClientAuth {
  if (secret === null) return openid.None();
  const methods = metadata.token_endpoint_auth_methods_supported;
  return methods === undefined || methods.includes('client_secret_basic')
    ? openid.ClientSecretBasic(secret.expose())
    : openid.ClientSecretPost(secret.expose());
}
