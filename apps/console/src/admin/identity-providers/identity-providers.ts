/** Reads and changes identity providers. Secrets can be written, and are never read. */
import type { AnswerOf, Client, Operations, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';

export const PROVIDERS = 'identity-providers';
/** What the API asks for; it asks for the role of a system administrator besides. */
export const MANAGES_PROVIDERS = 'ldap_set';

export type IdentityProvider = Schemas['IdentityProvider'];
export type OidcProvider = Extract<IdentityProvider, { type: 'oidc' }>;
export type LdapProvider = Extract<IdentityProvider, { type: 'ldap' }>;
export type MappingRule = IdentityProvider['mapping'][number];
export type ProviderTest = AnswerOf<'testIdentityProvider'>;
export type NewProvider = Operations['putIdentityProvider']['body'];
export type ProviderChange = Operations['changeIdentityProvider']['body'];

export const identityProvidersQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: [PROVIDERS, tenant, 'all'],
    queryFn: async ({ signal }): Promise<IdentityProvider[]> =>
      (await client.call('listIdentityProviders', { tenant, signal })).items,
  });

export const identityProviderQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [PROVIDERS, tenant, 'one', id],
    queryFn: ({ signal }): Promise<IdentityProvider> =>
      client.call('getIdentityProviderById', { tenant, signal, params: { provider_id: id } }),
  });

const params = (id: string) => ({ provider_id: id });

export const createProvider = (client: Client, tenant: string, id: string, body: NewProvider) =>
  client.call('putIdentityProvider', { tenant, params: params(id), body });

export const changeProvider = (client: Client, tenant: string, id: string, body: ProviderChange) =>
  client.call('changeIdentityProvider', { tenant, params: params(id), body });

export const deleteProvider = (client: Client, tenant: string, id: string) =>
  client.call('deleteIdentityProvider', { tenant, params: params(id) });

export const testProvider = (client: Client, tenant: string, id: string): Promise<ProviderTest> =>
  client.call('testIdentityProvider', { tenant, params: params(id), body: {} });

export const addProviderUser = (
  client: Client,
  tenant: string,
  id: string,
  body: Operations['addProviderUser']['body'],
) => client.call('addProviderUser', { tenant, params: params(id), body });

/** Where the provider sends browsers back to, as it has to be registered there. */
export const redirectAddress = (id: string): string =>
  `${window.location.origin}/api/v3.1/login/oidc/${encodeURIComponent(id)}/callback`;
