/** Archives for the working folders of new deployments, stored until the catalog has unpacked them. */
import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

export interface WaitingWorkdir {
  deployment_key: number;
  tenant: string;
  /** Id of the deployment. */
  id: string;
  request_id: string;
  archive: Buffer;
}

export async function insertWorkdir(
  tx: AnyTx,
  row: Pick<WaitingWorkdir, 'deployment_key' | 'request_id' | 'archive'>,
): Promise<void> {
  await sql`insert into waiting_workdirs (deployment_key, request_id, archive)
    values (${row.deployment_key}, ${row.request_id}, ${row.archive})`.execute(tx);
}

/** Returns the archives that have waited for longer than `ageMs`, the oldest first. */
export async function listWaitingWorkdirs(
  db: AnyQuery,
  ageMs: number,
  limit: number,
): Promise<(WaitingWorkdir & { age_ms: number })[]> {
  const { rows } = await sql<WaitingWorkdir & { age_ms: number }>`
    select w.deployment_key, d.tenant, d.id, w.request_id, w.archive,
      (extract(epoch from app_now() - w.created_at) * 1000)::float8 as age_ms
    from waiting_workdirs w join deployments d on d.key = w.deployment_key
    where w.created_at < app_now() - ${ageMs}::float8 * interval '1 millisecond'
    order by w.created_at limit ${limit}`.execute(db);
  return rows;
}

export async function removeWorkdir(db: AnyQuery, deploymentKey: number): Promise<void> {
  await sql`delete from waiting_workdirs where deployment_key = ${deploymentKey}`.execute(db);
}
