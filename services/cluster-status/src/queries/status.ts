import type { Db } from '@baton/postgres';
import {
  type ClusterGroup,
  clusterGroups,
  clusterStatusOf,
  type GroupStatus,
  type ServiceStatus,
  serviceStatuses,
} from '../domain/health';
import { readInstances } from '../store/instances.sql';
import { readManagers } from '../store/managers.sql';
import type { DB } from '../store/tables.gen';

/** Returns the status of every service, database and broker by their display names, from the last reports of the processes. */
export async function getServiceStatuses(deps: {
  db: Db<DB>;
  hasRabbit: boolean;
}): Promise<Record<string, ServiceStatus>> {
  return serviceStatuses(await readInstances(deps.db.query), deps.hasRabbit);
}

/** Returns the status of the cluster and of its groups manager, broker and db. Hosts show `publicIp` where it is known. */
export async function getClusterStatus(deps: {
  db: Db<DB>;
  publicIp: string | undefined;
}): Promise<{ status: GroupStatus; groups: Record<string, ClusterGroup> }> {
  const [instances, managers] = await Promise.all([
    readInstances(deps.db.query),
    readManagers(deps.db.query),
  ]);
  const hosts = managers.map((row) => ({ ...row, publicIp: deps.publicIp ?? row.address }));
  const groups = clusterGroups(instances, hosts);
  return { status: clusterStatusOf(groups), groups };
}
