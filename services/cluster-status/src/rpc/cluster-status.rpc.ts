import type { clusterStatusRpc } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import type { RpcHandlers } from '@baton/rpc';
import { currentValue } from '../adapters/config-values';
import type { ConfigDefinition } from '../domain/config-items';
import type { OsRelease } from '../domain/os-release';
import { readConfig } from '../store/config.sql';
import { deleteInstance, upsertInstance } from '../store/instances.sql';
import { readMaintenance } from '../store/maintenance.sql';
import { upsertManager } from '../store/managers.sql';
import type { DB } from '../store/tables.gen';

/** ClusterStatusService of proto/cluster_status/v1. */
export function clusterStatusHandlers(deps: {
  db: Db<DB>;
  os: OsRelease;
  definitions: readonly ConfigDefinition[];
}): RpcHandlers<typeof clusterStatusRpc.ClusterStatusServiceDefinition> {
  return {
    report: async (request) => {
      await deps.db.tx(async (tx) => {
        if (request.isLeaving) {
          await deleteInstance(tx, request.service, request.instanceId);
          return;
        }
        await upsertInstance(tx, request);
        await upsertManager(tx, {
          hostname: request.hostname,
          address: request.address || '127.0.0.1',
          version: request.version,
          distribution: deps.os.distribution,
          distro_release: deps.os.release,
        });
      });
      const { status } = await readMaintenance(deps.db.query);
      return { maintenance: status };
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
