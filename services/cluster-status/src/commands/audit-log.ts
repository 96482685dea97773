import type { Db } from '@baton/postgres';
import type { AuditFacts } from '../domain/audit-chain';
import { type AuditFilter, appendAudit, truncateAudit } from '../store/audit.sql';
import type { DB } from '../store/tables.gen';

interface Deps {
  db: Db<DB>;
}

/** Appends entries to the audit log in the given order; skips entries whose message id the log already has. */
export async function addAuditEntries({ db }: Deps, entries: readonly AuditFacts[]): Promise<void> {
  await db.tx((tx) => appendAudit(tx, entries));
}

/** Deletes the entries that pass the filter; returns their number. */
export async function truncateAuditLog({ db }: Deps, filter: AuditFilter): Promise<number> {
  return db.tx((tx) => truncateAudit(tx, filter));
}
