import type { clusterStatusRpc } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import type { RpcHandlers } from '@baton/rpc';
import type { OsRelease } from '../domain/os-release';
import { deleteInstance, upsertInstance, upsertManager } from '../store/instances.sql';
import type { DB } from '../store/tables.gen';

/** ClusterStatusService of proto/cluster_status/v1. */
export function clusterStatusHandlers(deps: {
  db: Db<DB>;
  os: OsRelease;
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
      return { maintenance: 'deactivated' };
    },
  };
}
