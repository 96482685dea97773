/**
 * The maintenance state of the manager by which this gateway accepts requests, and the state that the gateway reports to
 * cluster-status.
 */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { clusterStatusRpc } from '@baton/contracts';
import { isoInstant } from '@baton/kernel';
import { type Infra, productVersion } from '@baton/service-runtime';
import type { MaintenanceState } from './maintenance';
import type { Room } from './room';

export interface Maintenance {
  state(): MaintenanceState;
  /** Stores the state from the answer to a heartbeat. */
  learn(state: string): void;
  /** Asks cluster-status now; when it does not answer, the last state stays. */
  refresh(): Promise<void>;
  /** Called when a request that may change the state begins; the returned function, when its answer is complete. */
  changing(): () => void;
  /**
   * Returns a promise while a change is under way, or while the mode waits for running work: after it `state` is no older than this
   * call. So whoever has the answer to a change, or has seen the last execution end, meets the new state in each later request.
   */
  settled(): Promise<void> | undefined;
  /** Returns the state for heartbeats; `draining` while a change that was accepted before a restore is still running. */
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
  /**
   * Asks for the state while it is `restoring`: the restore waits, at its beginning and at its end, until this gateway has reported
   * the state by which it acts.
   */
  const follow = async (): Promise<void> => {
    while (current === 'restoring') {
      await refresh();
      await delay(FOLLOW_MS, undefined, { ref: false });
    }
    await refresh();
  };
  let changes = 0;
  const askAnew = createShared(refresh);
  return {
    state: () => current,
    learn,
    refresh,
    changing: () => {
      changes += 1;
      return () => void askAnew().finally(() => (changes -= 1));
    },
    settled: () => (changes > 0 || current === 'activating' ? askAnew() : undefined),
    actsBy,
  };
}

/** Returns a function whose calls share one run of `ask` that begins after all of them; one run at a time. */
function createShared(ask: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () => {
    next ??= running.then(() => {
      next = null;
      running = ask();
      return running;
    });
    return next;
  };
}
