import type { clusterStatusRpc } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import type { RpcHandlers } from '@baton/rpc';
import { currentValue } from '../adapters/config-values';
import type { ConfigDefinition } from '../domain/config-items';
import type { OsRelease } from '../domain/os-release';
import { readConfig } from '../store/config.sql';
import { deleteInstance, recordReports } from '../store/instances.sql';
import type { DB } from '../store/tables.gen';

/** ClusterStatusService of proto/cluster_status/v1. */
export function clusterStatusHandlers(deps: {
  db: Db<DB>;
  os: OsRelease;
  definitions: readonly ConfigDefinition[];
}): RpcHandlers<typeof clusterStatusRpc.ClusterStatusServiceDefinition> {
  return {
    report: async (request) => {
      if (!request.isLeaving) return recordReports(deps.db.query, [request, ...request.others], deps.os);
      for (const { service, instanceId } of [request, ...request.others])
        await deleteInstance(deps.db.query, service, instanceId);
      return { maintenance: '' };
    },
    getConfig: async ({ scope }) => {
      const rows = await readConfig(deps.db.query);
      const inScope = deps.definitions.filter((one) => one.scope === scope);
      const values = inScope.map((one) => [one.name, currentValue(one, rows.get(`${scope}.${one.name}`))]);
      return {
        valuesJson: JSON.stringify(Object.fromEntries(values)),
        changed: inScope.filter((one) => rows.has(`${scope}.${one.name}`)).map((one) => one.name),
      };
    },
  };
}
