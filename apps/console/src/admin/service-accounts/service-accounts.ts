/** Reads and changes service accounts. Keys are those of users: a change of a user shows here. */
import type { Client, Operations, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';

export type ServiceAccount = Schemas['ServiceAccount'];
export type TrustRule = ServiceAccount['trust'][number];
export type NewAccount = Operations['createServiceAccount']['body'];

export const serviceAccountsQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['users', tenant, 'service accounts'],
    queryFn: async ({ signal }): Promise<ServiceAccount[]> =>
      (await client.call('listServiceAccounts', { tenant, signal })).items,
  });

export const serviceAccountQuery = (client: Client, tenant: string, name: string) =>
  queryOptions({
    queryKey: ['users', tenant, 'service account', name],
    queryFn: ({ signal }): Promise<ServiceAccount> =>
      client.call('getServiceAccount', { tenant, signal, params: { account_name: name } }),
  });

const params = (name: string) => ({ account_name: name });

export const createAccount = (client: Client, tenant: string, body: NewAccount) =>
  client.call('createServiceAccount', { tenant, body });

export const deleteAccount = (client: Client, tenant: string, name: string) =>
  client.call('deleteServiceAccount', { tenant, params: params(name) });

export const setTrust = (client: Client, tenant: string, name: string, trust: TrustRule[]) =>
  client.call('setServiceAccountTrust', { tenant, params: params(name), body: { trust } });

export const createAccountToken = (
  client: Client,
  tenant: string,
  name: string,
  body: Operations['createServiceAccountToken']['body'],
) => client.call('createServiceAccountToken', { tenant, params: params(name), body });
