import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { OwnQuota } from '../domain/quota';
import type { DB as Tables } from './tables.gen';

type Reader = Db<Tables>['query'] | Tx<Tables>;

const COLUMNS = sql`max_deployments::float8, max_running_executions::float8, max_queued_executions::float8,
  max_storage_bytes::float8, max_requests_per_minute::float8, worker_weight`;

/** Of every tenant for which something was set. */
export async function listQuotas(db: Reader): Promise<(OwnQuota & { tenant: string })[]> {
  const { rows } = await sql<OwnQuota & { tenant: string }>`
    select tenant, ${COLUMNS} from tenant_quotas order by tenant`.execute(db);
  return rows;
}

/** Null: nothing was set. */
export async function readQuota(db: Reader, tenant: string): Promise<OwnQuota | null> {
  const { rows } = await sql<OwnQuota>`
    select ${COLUMNS} from tenant_quotas where tenant = ${tenant}`.execute(db);
  return rows[0] ?? null;
}

/** Writes the given columns of a tenant that exists; two at once each keep what the other one wrote. */
export async function writeQuota(tx: Tx<Tables>, tenant: string, change: Partial<OwnQuota>): Promise<void> {
  const columns = Object.entries(change).filter(([, value]) => value !== undefined);
  await sql`insert into tenant_quotas (tenant) values (${tenant}) on conflict do nothing`.execute(tx);
  if (columns.length === 0) return;
  const sets = columns.map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
  await sql`update tenant_quotas set ${sql.join(sets)} where tenant = ${tenant}`.execute(tx);
}
