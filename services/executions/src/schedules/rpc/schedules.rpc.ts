import type { executionsRpc } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import type { RpcHandlers } from '@baton/rpc';
import type { DB } from '../../store/tables.gen';
import { scheduledDeployments } from '../queries/scheduled-deployments';

type Handlers = RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition>;

/** What other services call of ExecutionsService (proto/executions/v1) about schedules. */
export function schedulesHandlers({ db }: { db: Db<DB> }): Pick<Handlers, 'listScheduledDeployments'> {
  return {
    listScheduledDeployments: async ({ tenant, after, limit }) => ({
      names: await scheduledDeployments(db.query, tenant || null, after, limit),
    }),
  };
}
