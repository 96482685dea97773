import type { Db } from '@baton/postgres';
import type { AuditFacts } from '../domain/audit-chain';
import { type AuditFilter, appendAudit, truncateAudit } from '../store/audit.sql';
import type { DB } from '../store/tables.gen';

interface Deps {
  db: Db<DB>;
}

/** Adds entries at the end of the audit log, in the given order; leaves out those whose message id the log knows. */
export async function addAuditEntries({ db }: Deps, entries: readonly AuditFacts[]): Promise<void> {
  await db.tx((tx) => appendAudit(tx, entries));
}

/** Deletes the entries that pass the filter; answers how many. */
export async function truncateAuditLog({ db }: Deps, filter: AuditFilter): Promise<number> {
  return db.tx((tx) => truncateAudit(tx, filter));
}
