import { setTimeout as delay } from 'node:timers/promises';
import type { ListPage } from '@baton/contracts';
import type { Clock } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import {
  type AuditFilter,
  type AuditPage,
  type AuditRow,
  countAudit,
  lastAuditId,
  readAudit,
} from '../store/audit.sql';
import type { DB } from '../store/tables.gen';

const STREAM_PAGE = 500;
const LOOK_MS = 1_000;

interface Deps {
  db: Db<DB>;
}

/** Returns a page of the audit log; `total` counts all entries that pass the filter. */
export async function listAudit(
  { db }: Deps,
  filter: AuditFilter,
  page: AuditPage,
): Promise<ListPage<AuditRow>> {
  const [items, total] = await Promise.all([readAudit(db.query, filter, page), countAudit(db.query, filter)]);
  return { items, total };
}

/**
 * Yields entries as they arrive: from `since`, else from now on. Ends after `timeoutMs` without an entry (0: never), or with
 * `signal`. A row gets its id under the lock of the chain, so no row appears behind a row that was sent already.
 */
export async function* followAudit(
  { db, clock }: Deps & { clock: Clock },
  filter: AuditFilter,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): AsyncGenerator<AuditRow> {
  let afterId = filter.since === undefined ? await lastAuditId(db.query) : 0;
  let lastMs = clock.monotonic();
  while (!signal.aborted) {
    const rows = await readAudit(
      db.query,
      { ...filter, afterId },
      { orders: [], isDescending: false, offset: 0, limit: STREAM_PAGE },
    );
    for (const row of rows) {
      afterId = row.id;
      lastMs = clock.monotonic();
      yield row;
    }
    if (rows.length === STREAM_PAGE) continue;
    if (timeoutMs > 0 && clock.monotonic() - lastMs >= timeoutMs) return;
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}
