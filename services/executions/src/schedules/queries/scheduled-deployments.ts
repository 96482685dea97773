import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';

/** `tenant/id` of deployments that have schedules, in order behind `after`, at most `limit`. */
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
