import type { executionsRpc } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import type { RpcHandlers } from '@baton/rpc';
import type { DB } from '../../store/tables.gen';
import { countSchedules, scheduledDeployments } from '../queries/scheduled-deployments';

type Handlers = RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition>;

/** Methods of ExecutionsService (proto/executions/v1) about schedules, for other services. */
export function schedulesHandlers({
  db,
}: {
  db: Db<DB>;
}): Pick<Handlers, 'countSchedules' | 'listScheduledDeployments'> {
  return {
    countSchedules: async ({ tenant, deploymentIds }) => ({
      total: await countSchedules(db.query, tenant, deploymentIds),
    }),
    listScheduledDeployments: async ({ tenant, after, limit }) => ({
      names: await scheduledDeployments(db.query, tenant || null, after, limit),
    }),
  };
}
