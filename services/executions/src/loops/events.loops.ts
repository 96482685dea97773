import type { Db } from '@baton/postgres';
import type { Loop } from '@baton/service-runtime';
import { keepEvents } from '../commands/keep-events';
import type { DB } from '../store/tables.gen';

const KEEP_MS = 3_600_000;

/** Partitions of the events to come, and the end of old events, on every replica. */
export function eventLoops(db: Db<DB>, settings: { retentionDays: number }): Loop[] {
  return [
    { name: 'keep-events', intervalMs: KEEP_MS, tickOnce: () => keepEvents(db, settings.retentionDays) },
  ];
}
