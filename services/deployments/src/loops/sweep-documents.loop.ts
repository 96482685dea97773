import type { Db } from '@baton/postgres';
import { forgetDocuments } from '../commands/forget-old';
import type { DB } from '../store/tables.gen';

const INTERVAL_MS = 600_000;

/** Removes shared parts of plans that nothing uses any more; at most 500 a tick. */
export function sweepDocumentsLoop(deps: { db: Db<DB>; keepMs: number }) {
  return {
    name: 'sweep-documents',
    intervalMs: INTERVAL_MS,
    tickOnce: () => forgetDocuments(deps.db, deps.keepMs),
  };
}
