import type { clusterStatusRpc } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import type { RpcHandlers } from '@baton/rpc';
import { takeReport } from '../commands/take-report';
import type { ConfigDefinition } from '../domain/config-items';
import type { OsRelease } from '../domain/os-release';
import { configOfScope } from '../queries/config';
import type { DB } from '../store/tables.gen';

/** ClusterStatusService of proto/cluster_status/v1. */
export function clusterStatusHandlers(deps: {
  db: Db<DB>;
  os: OsRelease;
  definitions: readonly ConfigDefinition[];
}): RpcHandlers<typeof clusterStatusRpc.ClusterStatusServiceDefinition> {
  return {
    report: (request) => takeReport(deps, request),
    getConfig: async ({ scope }) => {
      const { values, changed } = await configOfScope(deps, scope);
      return { valuesJson: JSON.stringify(values), changed };
    },
  };
}
