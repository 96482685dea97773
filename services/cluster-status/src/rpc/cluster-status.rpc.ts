import type { clusterStatusRpc } from '@baton/contracts';
import type { RpcHandlers } from '@baton/rpc';
import { type ReportDeps, takeReport } from '../commands/take-report';
import type { ConfigDefinition } from '../domain/config-items';
import { configOfScope } from '../queries/config';

/** ClusterStatusService of proto/cluster_status/v1. */
export function clusterStatusHandlers(
  deps: ReportDeps & { definitions: readonly ConfigDefinition[] },
): RpcHandlers<typeof clusterStatusRpc.ClusterStatusServiceDefinition> {
  return {
    report: (request) => takeReport(deps, request),
    getConfig: async ({ scope }) => {
      const { values, changed } = await configOfScope(deps, scope);
      return { valuesJson: JSON.stringify(values), changed };
    },
  };
}
