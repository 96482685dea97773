import { systemClock } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { Loop } from '@baton/service-runtime';
import type { DB } from '../../store/tables.gen';
import { countOldEvents, keepEvents } from '../commands/keep-events';

const KEEP_MS = 3_600_000;
const COUNT_MS = 60_000;
/** Times as long as it has counted the loop rests before it goes on: what executes has the cores. */
const COUNT_REST = 9;

/** Partitions of the events to come, the end of old events, and their counts, on every replica. */
export function eventLoops(db: Db<DB>, settings: { retentionDays: number }): Loop[] {
  return [
    { name: 'keep-events', intervalMs: KEEP_MS, tickOnce: () => keepEvents(db, settings.retentionDays) },
    {
      name: 'count-events',
      intervalMs: COUNT_MS,
      tickOnce: async () => {
        const begunMs = systemClock.monotonic();
        const isMore = await countOldEvents(db);
        return isMore ? { againInMs: COUNT_REST * (systemClock.monotonic() - begunMs) } : {};
      },
    },
  ];
}
