import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import { nothingSet, type OwnQuota } from '../domain/quota';
import { model } from './model';
import type { DB as Tables } from './tables.gen';

type Reader = Db<Tables>['query'] | Tx<Tables>;

const COLUMNS = sql`max_deployments::float8, max_running_executions::float8, max_queued_executions::float8,
  max_storage_bytes::float8, max_requests_per_minute::float8, worker_weight`;

/** Returns the quotas of every tenant for which one is set. Every service asks for them every few seconds: not through Prisma. */
export async function listQuotas(db: Reader): Promise<(OwnQuota & { tenant: string })[]> {
  const { rows } = await sql<OwnQuota & { tenant: string }>`
    select tenant, ${COLUMNS} from tenant_quotas order by tenant`.execute(db);
  return rows;
}

/** Reads the quota of a tenant; null when none is set. */
export async function readQuota(db: Reader, tenant: string): Promise<OwnQuota | null> {
  const found = await model.over(db, (p) =>
    p.tenantQuota.findUnique({ where: { tenant }, omit: { tenant: true } }),
  );
  if (!found) return null;
  const numbers = Object.entries(found).map(([name, value]) => [name, value === null ? null : Number(value)]);
  return { ...nothingSet, ...(Object.fromEntries(numbers) as Partial<OwnQuota>) };
}

/** Writes the given columns for an existing tenant; of two concurrent writes, each keeps the columns of the other. */
export async function writeQuota(tx: Tx<Tables>, tenant: string, change: Partial<OwnQuota>): Promise<void> {
  await model.over(tx, async (p) => {
    await p.tenantQuota.createMany({ data: { tenant }, skipDuplicates: true });
    if (Object.values(change).every((value) => value === undefined)) return;
    await p.tenantQuota.updateMany({ where: { tenant }, data: change });
  });
}
