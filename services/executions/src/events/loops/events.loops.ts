import { systemClock } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { Loop } from '@baton/service-runtime';
import type { DB } from '../../store/tables.gen';
import { countOldEvents, keepEvents } from '../commands/keep-events';

const KEEP_MS = 3_600_000;
const COUNT_MS = 60_000;
/** After counting, the loop pauses this many times as long as it counted: executions need the CPU first. */
const COUNT_REST = 9;

/** Loops on every replica: partitions for future events, deletion of old events, and counts of old events. */
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
