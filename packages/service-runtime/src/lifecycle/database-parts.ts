import type { Metrics } from '../health/metrics';
import { type Loop, startLoop } from '../loops/loops';
import type { Infra } from './infra-types';

const PURGE_INTERVAL_MS = 600_000;
const STATISTICS_INTERVAL_MS = 15_000;

/**
 * Starts the database parts of a service: outbox relay, its depth as a metric, inbox purge, and the statistics of its tables, which
 * only their owner may renew. Returns the function that stops them.
 */
export function startDatabaseParts(infra: Infra, metrics: Metrics): () => Promise<void> {
  const db = infra.db!;
  // Loaded lazily like the database: see infra.ts.
  const loaded = import('@baton/postgres');
  const relay = loaded.then(({ startOutboxRelay }) =>
    startOutboxRelay({
      db,
      publish: (envelopes) => infra.broker.publish(envelopes),
      handOver: (envelopes) => infra.broker.handOver(envelopes),
      log: infra.log,
    }),
  );
  const loops = loaded.then(({ createInboxPurge, createStatisticsUpkeep }) => {
    const purge = { name: 'inbox-purge', intervalMs: PURGE_INTERVAL_MS, ...createInboxPurge({ db }) };
    const statistics = {
      name: 'statistics',
      intervalMs: STATISTICS_INTERVAL_MS,
      ...createStatisticsUpkeep({ db }),
    };
    const all: Loop[] = [purge, statistics];
    return all.map((loop) => startLoop(loop, { log: infra.log, observe: metrics.loop }));
  });
  metrics.outboxDepth(async () =>
    Number((await db.pool.query('select count(*) as n from outbox')).rows[0].n),
  );
  return async () => {
    await Promise.all((await loops).map((loop) => loop.stop()));
    await (await relay).stop();
  };
}
