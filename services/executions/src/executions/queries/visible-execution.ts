import type { Principal } from '@baton/contracts';
import { isUuid, notFound } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';
import type { TimedExecution } from '../store/executions.sql';
import { executionScope } from './list-executions';

/** Returns the execution if the caller may see it. @throws AppError not_found_error, also if the caller may not see it. */
export async function visibleExecution(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<TimedExecution> {
  if (!isUuid(id)) throw notFound('Execution', id);
  const { rows } = await sql<TimedExecution>`
    select *, (extract(epoch from app_now()) * 1000)::bigint as now_ms from executions e
    where id = ${id} and ${executionScope(principal, false)}`.execute(db);
  if (!rows[0]) throw notFound('Execution', id);
  return rows[0];
}
