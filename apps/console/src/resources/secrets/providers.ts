/** Providers: stores outside of the manager that keep values of secrets. */
import type { Client, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { listOf } from '../../api/lists';

export const PROVIDERS = 'secrets-providers';

// Connection parameters are not read: they contain passwords.
const ROW_FIELDS = ['name', 'type', 'visibility', 'updated_at', 'created_by', 'tenant_name'] as const;
export type ProviderRow = Pick<Schemas['SecretsProvider'], (typeof ROW_FIELDS)[number]>;
export type ProviderType = ProviderRow['type'];
export const providerList = listOf<ProviderRow>(PROVIDERS, 'listSecretsProviders', ROW_FIELDS);

/** Names for the selection in a form. */
export const providerNamesQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: [PROVIDERS, tenant, 'names'],
    queryFn: async ({ signal }) =>
      (
        await client.call('listSecretsProviders', {
          tenant,
          signal,
          query: { _include: 'name,type', _sort: 'name', _size: 200 },
        })
      ).items.map(({ name, type }) => ({ name, type })),
  });

/** Connection fields of each type of provider. Fields in `COVERED` contain passwords and hide the typed text. */
export const CONNECTION_FIELDS: Readonly<Record<ProviderType, readonly string[]>> = {
  local: [],
  vault: ['url', 'path', 'mount', 'token'],
  cloudify: ['host', 'tenant', 'username', 'password', 'protocol'],
};
export const COVERED: ReadonlySet<string> = new Set(['token', 'password']);

/** Returns the entered fields; the API has defaults for the rest. */
export const connectionOf = (type: ProviderType, texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(CONNECTION_FIELDS[type].flatMap((name) => (texts[name] ? [[name, texts[name]]] : [])));

const QUIET = { _include: 'name' };

export const createProvider = (client: Client, tenant: string, body: Schemas['SecretsProviderCreate']) =>
  client.call('createSecretsProvider', { tenant, query: QUIET, body });

export const changeProvider = (
  client: Client,
  tenant: string,
  name: string,
  body: Schemas['SecretsProviderUpdate'],
) => client.call('updateSecretsProvider', { tenant, params: { provider_name: name }, query: QUIET, body });

export const deleteProvider = (client: Client, tenant: string, name: string) =>
  client.call('deleteSecretsProvider', { tenant, params: { provider_name: name } });
