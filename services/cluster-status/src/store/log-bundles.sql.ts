import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { StoredArchive } from './snapshots.sql';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

export interface LogBundleRow {
  tenant: string;
  id: string;
  status: 'creating' | 'created' | 'failed';
  error: string;
  created_by: string;
  created_at: string;
  job_id: string;
  execution_id: string | null;
  archive_digest: string | null;
  archive_size: number | null;
  outcome: 'terminated' | 'failed' | 'cancelled' | null;
  attempts: number;
}

const logBundleColumns = sql`b.tenant, b.id, b.status, b.error, b.created_by, b.created_at, b.job_id, b.execution_id,
  b.archive_digest, b.archive_size, b.outcome, b.attempts`;
const OF = (of: { tenant: string; id: string }) => sql`tenant = ${of.tenant} and id = ${of.id}`;

/** Inserts a log bundle. @throws a unique violation when the id is taken. */
export async function insertLogBundle(
  tx: Tx<DB>,
  row: Pick<LogBundleRow, 'tenant' | 'id' | 'created_by' | 'job_id'>,
): Promise<void> {
  await sql`insert into log_bundles (tenant, id, status, created_by, job_id)
    values (${row.tenant}, ${row.id}, 'creating', ${row.created_by}, ${row.job_id})`.execute(tx);
}

export async function setBundleExecution(
  db: Reader,
  of: { tenant: string; id: string },
  executionId: string,
): Promise<void> {
  await sql`update log_bundles set execution_id = ${executionId} where ${OF(of)}`.execute(db);
}

/** Leases the oldest bundle with work left and no valid lease, for `leaseMs`; null when there is none. */
export async function leaseLogBundle(
  db: Db<DB>['query'],
  owner: string,
  leaseMs: number,
): Promise<LogBundleRow | null> {
  const { rows } = await sql<LogBundleRow>`
    update log_bundles b set lease_owner = ${owner}, lease_until = app_now() + ${leaseMs}::float8 * interval '1 millisecond'
    where (b.tenant, b.id) = (select tenant, id from log_bundles where not is_reported
      and (lease_until is null or lease_until < app_now()) order by lease_until nulls first, created_at limit 1 for update skip locked)
    returning ${logBundleColumns}`.execute(db);
  return rows[0] ?? null;
}

/** Extends a lease; false when another owner has it. */
export async function renewLogBundle(
  db: Reader,
  of: { tenant: string; id: string },
  owner: string,
  leaseMs: number,
): Promise<boolean> {
  const done =
    await sql`update log_bundles set lease_until = app_now() + ${leaseMs}::float8 * interval '1 millisecond'
    where ${OF(of)} and lease_owner = ${owner}`.execute(db);
  return done.numAffectedRows === 1n;
}

/** Counts an attempt to make the archive. */
export async function countAttempt(db: Reader, of: { tenant: string; id: string }): Promise<void> {
  await sql`update log_bundles set attempts = attempts + 1 where ${OF(of)}`.execute(db);
}

export async function endLogBundle(
  db: Reader,
  of: { tenant: string; id: string },
  end: { outcome: NonNullable<LogBundleRow['outcome']>; error: string; archive: StoredArchive | null },
): Promise<void> {
  await sql`update log_bundles set status = ${end.archive ? 'created' : 'failed'}, outcome = ${end.outcome}, error = ${end.error},
      archive_digest = ${end.archive?.digest ?? null}, archive_size = ${end.archive?.size ?? null}
    where ${OF(of)} and status = 'creating'`.execute(db);
}

export async function setReported(db: Reader, of: { tenant: string; id: string }): Promise<void> {
  await sql`update log_bundles set is_reported = true where ${OF(of)}`.execute(db);
}

/** Releases the lease; the bundle may be leased again after `pauseMs`. */
export async function releaseLogBundle(
  db: Reader,
  of: { tenant: string; id: string },
  owner: string,
  pauseMs: number,
): Promise<void> {
  await sql`update log_bundles set lease_owner = null, lease_until = app_now() + ${pauseMs}::float8 * interval '1 millisecond'
    where ${OF(of)} and lease_owner = ${owner}`.execute(db);
}

/** Deletes a bundle that is not being made; false when it is being made or does not exist. */
export async function deleteLogBundle(tx: Tx<DB>, of: { tenant: string; id: string }): Promise<boolean> {
  const done =
    await sql`delete from log_bundles where ${OF(of)} and status <> 'creating' and is_reported`.execute(tx);
  return done.numAffectedRows === 1n;
}
