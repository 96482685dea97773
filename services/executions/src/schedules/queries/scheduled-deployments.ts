import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';

/** Returns `tenant/id` of deployments that have schedules, in order after `after`, at most `limit`. */
export async function scheduledDeployments(
  db: AnyQuery,
  tenant: string | null,
  after: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct tenant || '/' || deployment_id collate "C" as name from execution_schedules
    where (${tenant}::text is null or tenant = ${tenant}) and tenant || '/' || deployment_id collate "C" > ${after}
    order by name limit ${limit}`.execute(db);
  return rows.map((row) => row.name);
}

/** Returns the total number of schedules of these deployments of a tenant. */
export async function countSchedules(
  db: AnyQuery,
  tenant: string,
  deploymentIds: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from execution_schedules
    where tenant = ${tenant} and deployment_id = any(${[...deploymentIds]}::text[])`.execute(db);
  return rows[0]!.total;
}
