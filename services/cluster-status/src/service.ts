import { readFileSync } from 'node:fs';
import { clusterStatusRpc } from '@baton/contracts';
import { type Infra, requireDb, rpcPart, type ServiceParts } from '@baton/service-runtime';
import type { ClusterStatusConfig } from './config';
import { parseOsRelease } from './domain/os-release';
import { statusHttp } from './http/status.routes';
import { clusterStatusHandlers } from './rpc/cluster-status.rpc';
import { forgetDead } from './store/instances.sql';
import type { DB } from './store/tables.gen';

export { configSchema } from './config';
export const serviceName = 'cluster-status' as const;

const FORGET_INTERVAL_MS = 30_000;

/** Composes the cluster-status service. */
export function buildService(config: ClusterStatusConfig, infra: Infra): ServiceParts {
  const db = requireDb<DB>(infra);
  const os = readOsRelease();
  return {
    name: serviceName,
    routes: statusHttp({
      db,
      os,
      publicIp: config.BATON_PUBLIC_IP,
      build: { commit: config.BATON_COMMIT ?? null, date: config.BATON_BUILD_DATE ?? null },
    }),
    rpc: [rpcPart(clusterStatusRpc.ClusterStatusServiceDefinition, clusterStatusHandlers({ db, os }))],
    consumers: [],
    subscriptions: [],
    loops: [
      { name: 'forget-dead', intervalMs: FORGET_INTERVAL_MS, tickOnce: () => db.tx((tx) => forgetDead(tx)) },
    ],
    checks: {},
  };
}

/** Absent on systems that are not Linux. */
function readOsRelease() {
  try {
    return parseOsRelease(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return { distribution: process.platform, release: '' };
  }
}
