/** Tells cluster-status every 5 s that this process lives; a failure is of no consequence but a stale status page. */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { clusterStatusRpc, type ServiceName } from '@baton/contracts';
import { isoInstant, type Log, systemClock } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';
import { type RunningLoop, startLoop } from '../loops/loops';
import { productVersion } from '../version';
import type { Health } from './health';

const INTERVAL_MS = 5_000;
/** Until the first report is taken: a fleet that starts together shows itself whole as soon as it can. */
const FIRST_RETRY_MS = 250;
const FIRST_TRIES = 120;
const DEADLINE_MS = 2_000;
/** A stop does not wait longer for a cluster-status that is away; its row then ages out. */
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
  /** Sends the last report, `isLeaving`, and stops. */
  stop(): Promise<void>;
}

/**
 * One report for all services of a process, which costs cluster-status one statement. Its answer says by what they act: the
 * state of maintenance, and whether the configuration is another one, which they then read.
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
  // At once, not with the loop's first delay: a manager that just started shows itself as it is.
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

/** Has a service read the configuration whose revision it has not read; one that is not told is always news. */
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
