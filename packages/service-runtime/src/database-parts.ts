import type { Infra } from './infra-types';
import { startLoop } from './loops';
import type { Metrics } from './metrics';

const PURGE_INTERVAL_MS = 600_000;

/** Relay, depth metric and inbox purge of a service with a database; answers how to stop them. */
export function startOutbox(infra: Infra, metrics: Metrics): () => Promise<void> {
  const db = infra.db!;
  // Loaded lazily as the database itself: see infra.ts.
  const loaded = import('@baton/postgres');
  const relay = loaded.then(({ startOutboxRelay }) =>
    startOutboxRelay({
      db,
      publish: (envelopes) => infra.broker.publish(envelopes),
      handOver: (envelopes) => infra.broker.handOver(envelopes),
      log: infra.log,
    }),
  );
  const purge = loaded.then(({ createInboxPurge }) => {
    const { tickOnce } = createInboxPurge({ db });
    return startLoop(
      { name: 'inbox-purge', intervalMs: PURGE_INTERVAL_MS, tickOnce },
      { log: infra.log, observe: metrics.loop },
    );
  });
  metrics.outboxDepth(async () =>
    Number((await db.pool.query('select count(*) as n from outbox')).rows[0].n),
  );
  return async () => {
    await (await purge).stop();
    await (await relay).stop();
  };
}
