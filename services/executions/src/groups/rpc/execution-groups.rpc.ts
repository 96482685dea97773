import type { executionsRpc } from '@baton/contracts';
import type { RpcHandlers } from '@baton/rpc';
import { type StartSystemGroupDeps, startSystemGroup } from '../commands/start-system-group';

type ExecutionGroupsRpcDeps = StartSystemGroupDeps;

type Handlers = RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition>;

/** Methods of ExecutionsService (proto/executions/v1) about execution groups, for other services. */
export function executionGroupsHandlers(deps: ExecutionGroupsRpcDeps): Pick<Handlers, 'startExecutionGroup'> {
  return {
    startExecutionGroup: async (request) => {
      await startSystemGroup(deps, request);
      return {};
    },
  };
}
