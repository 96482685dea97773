/** Reads the scalable parts of a deployment. */
import type { Client } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { type Scalable, scalablesOf } from '../scale/scalables';
import { deploymentKeys } from './deployments';

/** Maximum of nodes offered. */
const MOST_NODES = 500;

export const scalablesQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: [...deploymentKeys.one(tenant, id), 'scalables'],
    queryFn: async ({ signal }): Promise<Scalable[]> => {
      const [{ scaling_groups }, { items }] = await Promise.all([
        client.call('getDeployment', {
          tenant,
          signal,
          params: { id },
          query: { _include: 'scaling_groups' },
        }),
        client.call('listNodes', {
          tenant,
          signal,
          query: {
            deployment_id: id,
            _include: 'id,host_id,number_of_instances,min_number_of_instances,max_number_of_instances',
            _size: MOST_NODES,
          },
        }),
      ]);
      return scalablesOf(scaling_groups, items);
    },
  });
