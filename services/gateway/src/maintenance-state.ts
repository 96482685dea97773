/** The state of the manager that this gateway judges requests by, and what it tells cluster-status about that. */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { clusterStatusRpc } from '@baton/contracts';
import { isoInstant } from '@baton/kernel';
import { type Infra, productVersion } from '@baton/service-runtime';
import type { MaintenanceState } from './maintenance';
import type { Room } from './room';

export interface Maintenance {
  state(): MaintenanceState;
  /** What a heartbeat answered. */
  learn(state: string): void;
  /** Asks cluster-status now; without an answer the last state stays. */
  refresh(): Promise<void>;
  /** The state for heartbeats; `draining` while a write that was let in before a restore is under way. */
  actsBy(): string;
}

const STATES: readonly string[] = [
  'deactivated',
  'activating',
  'activated',
  'restoring',
] satisfies MaintenanceState[];
const REFRESH_DEADLINE_MS = 2_000;
const FOLLOW_MS = 250;

export function createMaintenance(
  { rpc, clock, instanceId, log }: Pick<Infra, 'rpc' | 'clock' | 'instanceId' | 'log'>,
  room: Room,
): Maintenance {
  const client = rpc.client(clusterStatusRpc.ClusterStatusServiceDefinition, 'cluster-status');
  const startedAt = isoInstant(clock.now());
  let current: MaintenanceState = 'deactivated';
  const actsBy = (): string => (current === 'restoring' && room.changes() > 0 ? 'draining' : current);
  const learn = (state: string): void => {
    const before = current;
    if (STATES.includes(state)) current = state as MaintenanceState;
    if (current === 'restoring' && before !== 'restoring') void follow();
  };
  const refresh = async (): Promise<void> => {
    const report = {
      service: 'gateway',
      instanceId,
      hostname: hostname(),
      version: productVersion,
      pid: process.pid,
      startedAt,
      rssBytes: process.memoryUsage.rss(),
      actsBy: actsBy(),
    };
    try {
      learn((await client.report(report, { deadlineMs: REFRESH_DEADLINE_MS })).maintenance);
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'maintenance state not known');
    }
  };
  /** The restore waits to hear by which state this gateway acts, at its beginning and at its end. */
  const follow = async (): Promise<void> => {
    while (current === 'restoring') {
      await refresh();
      await delay(FOLLOW_MS, undefined, { ref: false });
    }
    await refresh();
  };
  return { state: () => current, learn, refresh, actsBy };
}
