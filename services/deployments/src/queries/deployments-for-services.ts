import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';
import { countDeployments } from '../store/deployment-quota.sql';

/** Returns deployments of a blueprint. `is_leaving`: its deletion was requested. */
export async function deploymentsOfBlueprint(
  db: AnyQuery,
  tenant: string,
  blueprintId: string,
  limit: number,
): Promise<{ id: string; is_leaving: boolean }[]> {
  const { rows } = await sql<{ id: string; is_leaving: boolean }>`
    select id, deletion is not null as is_leaving from deployments
    where tenant = ${tenant} and blueprint_id = ${blueprintId} order by id limit ${limit}`.execute(db);
  return rows;
}

/** Returns the latest executions that deployments show, for keys greater than `after`, in the order of the keys. */
export async function latestExecutionsAfter(
  db: AnyQuery,
  after: number,
  limit: number,
): Promise<{ key: number; tenant: string; deploymentId: string; executionId: string; status: string }[]> {
  const { rows } = await sql<Awaited<ReturnType<typeof latestExecutionsAfter>>[number]>`
    select key, tenant, id as "deploymentId", coalesce(latest_execution, '') as "executionId", coalesce(latest_status, '') as status
    from deployments where key > ${after} order by key limit ${limit}`.execute(db);
  return rows;
}

/** Returns the number of deployments of the tenant, as its quota counts them. */
export const deploymentsOf = (db: AnyQuery, tenant: string): Promise<number> => countDeployments(db, tenant);
