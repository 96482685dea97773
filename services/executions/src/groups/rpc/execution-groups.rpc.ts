import type { executionsRpc } from '@baton/contracts';
import type { RpcHandlers } from '@baton/rpc';
import type { EngineDeps } from '../../engine/deps';
import { startSystemGroup } from '../commands/start-system-group';

type Handlers = RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition>;

/** What other services call of ExecutionsService (proto/executions/v1) about execution groups. */
export function executionGroupsHandlers(deps: EngineDeps): Pick<Handlers, 'startExecutionGroup'> {
  return {
    startExecutionGroup: async (request) => {
      await startSystemGroup(deps, request);
      return {};
    },
  };
}
