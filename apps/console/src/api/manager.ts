/** Reads manager-wide data: health, maintenance, licence, configuration, roles. */
import type { AnswerOf, Client, ItemOf, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';

export type ClusterStatus = Schemas['ClusterStatus'];
export type Worker = Schemas['Worker'];
export type Maintenance = Schemas['Maintenance'];
export type ConfigItem = Schemas['ConfigItem'];
export type License = ItemOf<'listLicenses'>;
export type Authorization = NonNullable<AnswerOf<'listConfig'>['authorization']>;

const MANAGER_FIELDS = 'id,hostname,private_ip,public_ip,version,edition,last_seen';
/** Maximum of nodes that are read; a cluster has only a few. */
const MOST_NODES = 200;

/** Keys have the tenant in second place, as all other keys. So a change of tenant, or a reset of the stream, reloads them. */
export const clusterStatusQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['cluster', tenant, 'status'],
    queryFn: ({ signal }): Promise<ClusterStatus> => client.call('getClusterStatus', { tenant, signal }),
  });

export const servicesQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['cluster', tenant, 'services'],
    queryFn: ({ signal }) => client.call('getStatus', { tenant, signal }),
  });

export const managersQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['cluster', tenant, 'nodes'],
    queryFn: async ({ signal }) =>
      (
        await client.call('listManagers', {
          tenant,
          signal,
          query: { _include: MANAGER_FIELDS, _size: MOST_NODES },
        })
      ).items,
  });

export const workersQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['cluster', tenant, 'workers'],
    queryFn: async ({ signal }): Promise<Worker[]> =>
      (await client.call('listWorkers', { tenant, signal })).items,
  });

export const versionQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['cluster', tenant, 'version'],
    queryFn: ({ signal }) => client.call('getVersion', { tenant, signal }),
  });

export const maintenanceQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['maintenance', tenant],
    queryFn: ({ signal }): Promise<Maintenance> => client.call('getMaintenance', { tenant, signal }),
  });

export const licenseQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['license', tenant],
    queryFn: async ({ signal }): Promise<License | null> =>
      (await client.call('listLicenses', { tenant, signal, query: { _size: 1 } })).items[0] ?? null,
  });

export const configQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['config', tenant, 'items'],
    queryFn: async ({ signal }): Promise<ConfigItem[]> =>
      (await client.call('listConfig', { tenant, signal, query: { _include: 'items' } })).items,
  });

/** Roles of the manager, and the roles that hold each permission. */
export const authorizationQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['config', tenant, 'authorization'],
    queryFn: async ({ signal }): Promise<Authorization> =>
      (await client.call('listConfig', { tenant, signal, query: { _include: 'authorization' } }))
        .authorization ?? { roles: [], permissions: {} },
    staleTime: 300_000,
  });
