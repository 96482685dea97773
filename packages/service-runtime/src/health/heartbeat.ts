/** Reports to cluster-status every 5 s that this process lives; a failed report only leaves a stale status page. */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { clusterStatusRpc, type ServiceName } from '@baton/contracts';
import { isoInstant, type Log, systemClock } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';
import { type RunningLoop, startLoop } from '../loops/loops';
import { productVersion } from '../version';
import type { Health } from './health';

const INTERVAL_MS = 5_000;
/** Retry until the first report is accepted: services that start together appear on the status page as soon as possible. */
const FIRST_RETRY_MS = 250;
const FIRST_TRIES = 120;
const DEADLINE_MS = 2_000;
/** A stop waits only this long for a cluster-status that is away; its row then ages out. */
const LEAVING_DEADLINE_MS = 500;

/** A service of this process. */
export interface Beating {
  service: ServiceName;
  instanceId: string;
  health: Pick<Health, 'results'>;
  onMaintenance?: (state: string) => void;
  onConfig?: () => Promise<void>;
  actsBy?: () => string;
}

export interface HeartbeatDeps {
  services: readonly [Beating, ...Beating[]];
  rpc: RpcConnector;
  log: Log;
}

export interface Heartbeat {
  /** Sends the last report, with `isLeaving`, and stops. */
  stop(): Promise<void>;
}

/**
 * Sends one report for all services of a process, which costs cluster-status one statement. The answer carries the state of
 * maintenance, and the revision of the configuration; the services read a changed configuration.
 */
export function startHeartbeat({ services, rpc, log }: HeartbeatDeps): Heartbeat {
  const client = rpc.client(clusterStatusRpc.ClusterStatusServiceDefinition, 'cluster-status');
  const startedAt = isoInstant(systemClock.now());
  const stopping = new AbortController();
  const readers = services.map(({ onConfig }) => createConfigReader(onConfig, log));
  const reportOf = async (of: Beating, isLeaving: boolean) => ({
    service: of.service,
    instanceId: of.instanceId,
    hostname: hostname(),
    version: productVersion,
    pid: process.pid,
    startedAt,
    checksJson: JSON.stringify(isLeaving ? {} : await of.health.results()),
    isLeaving,
    rssBytes: process.memoryUsage.rss(),
    actsBy: of.actsBy?.() ?? '',
  });
  const report = async (isLeaving: boolean): Promise<boolean> => {
    const [first, ...others] = await Promise.all(services.map((one) => reportOf(one, isLeaving)));
    try {
      const options = isLeaving
        ? { deadlineMs: LEAVING_DEADLINE_MS }
        : { deadlineMs: DEADLINE_MS, signal: stopping.signal };
      const { maintenance, configRevision } = await client.report({ ...first, others }, options);
      if (isLeaving) return true;
      for (const { onMaintenance } of services) onMaintenance?.(maintenance);
      await Promise.all(readers.map((read) => read(configRevision)));
      return true;
    } catch (error) {
      log.debug({ reason: (error as Error).message }, 'heartbeat not delivered');
      return false;
    }
  };
  const firstReport = async (): Promise<void> => {
    for (let i = 0; i < FIRST_TRIES && !stopping.signal.aborted; i++) {
      if (await report(false)) return;
      await delay(FIRST_RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  // At once, without the loop's first delay: the status page of a manager that just started is then correct.
  const first = firstReport();
  const loop: RunningLoop = startLoop(
    { name: 'heartbeat', intervalMs: INTERVAL_MS, tickOnce: async () => void (await report(false)) },
    { log },
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

/** Lets a service read the configuration when the revision is new; an absent revision counts as new. */
function createConfigReader(
  onConfig: Beating['onConfig'],
  log: Log,
): (revision: string | undefined) => Promise<void> {
  let read: string | undefined;
  return async (revision) => {
    if (!onConfig || (revision !== undefined && revision === read)) return;
    try {
      await onConfig();
      read = revision;
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'configuration not read; it is tried again');
    }
  };
}
