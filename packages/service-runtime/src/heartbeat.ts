/** Tells cluster-status every 5 s that this process lives; a failure is of no consequence but a stale status page. */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { clusterStatusRpc, type ServiceName } from '@baton/contracts';
import { isoInstant, type Log, systemClock } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';
import type { Health } from './health';
import { type RunningLoop, startLoop } from './loops';
import { productVersion } from './version';

const INTERVAL_MS = 5_000;
/** Until the first report is taken: a fleet that starts together shows itself whole as soon as it can. */
const FIRST_RETRY_MS = 250;
const FIRST_TRIES = 120;
const DEADLINE_MS = 2_000;
/** A stop does not wait longer for a cluster-status that is away; its row then ages out. */
const LEAVING_DEADLINE_MS = 500;

export interface HeartbeatDeps {
  service: ServiceName;
  instanceId: string;
  rpc: RpcConnector;
  health: Health;
  log: Log;
  onMaintenance?: (state: string) => void;
  actsBy?: () => string;
}

export interface Heartbeat {
  /** Sends the last report, `isLeaving`, and stops. */
  stop(): Promise<void>;
}

export function startHeartbeat(deps: HeartbeatDeps): Heartbeat {
  const client = deps.rpc.client(clusterStatusRpc.ClusterStatusServiceDefinition, 'cluster-status');
  const startedAt = isoInstant(systemClock.now());
  const stopping = new AbortController();
  const report = async (isLeaving: boolean): Promise<boolean> => {
    const checks = isLeaving ? {} : await deps.health.results();
    const request = {
      service: deps.service,
      instanceId: deps.instanceId,
      hostname: hostname(),
      version: productVersion,
      pid: process.pid,
      startedAt,
      checksJson: JSON.stringify(checks),
      isLeaving,
      rssBytes: process.memoryUsage.rss(),
      actsBy: deps.actsBy?.() ?? '',
    };
    try {
      const options = isLeaving
        ? { deadlineMs: LEAVING_DEADLINE_MS }
        : { deadlineMs: DEADLINE_MS, signal: stopping.signal };
      const { maintenance } = await client.report(request, options);
      if (!isLeaving) deps.onMaintenance?.(maintenance);
      return true;
    } catch (error) {
      deps.log.debug({ reason: (error as Error).message }, 'heartbeat not delivered');
      return false;
    }
  };
  const firstReport = async (): Promise<void> => {
    for (let i = 0; i < FIRST_TRIES && !stopping.signal.aborted; i++) {
      if (await report(false)) return;
      await delay(FIRST_RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  // At once, not with the loop's first delay: a manager that just started shows itself as it is.
  const first = firstReport();
  const loop: RunningLoop = startLoop(
    { name: 'heartbeat', intervalMs: INTERVAL_MS, tickOnce: async () => void (await report(false)) },
    { log: deps.log },
  );
  return {
    async stop() {
      stopping.abort();
      await first;
      await loop.stop();
      await report(true);
    },
  };
}
