import { isAdministrator, type ListPage, type ListQuery, type Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { type Db, selectPage } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB } from '../../store/tables.gen';

const latestCall = (column: RawBuilder<unknown>) =>
  sql`(select ${column} from trigger_calls c where c.address = t.address order by c.received_at desc limit 1)`;
const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`t.id`,
  path: sql`'/api/v3.1/triggers/' || t.address`,
  deployment_id: sql`t.deployment_id`,
  workflow_id: sql`t.workflow_id`,
  parameters: sql`t.parameters`,
  fixed_parameters: sql`t.fixed_parameters`,
  scheme: sql`t.scheme`,
  is_enabled: sql`t.is_enabled`,
  former_secret_until: sql`case when t.former_until > app_now() then t.former_until end`,
  last_call_at: latestCall(sql`c.received_at`),
  last_execution_id: latestCall(sql`c.execution_id`),
  created_at: sql`t.created_at`,
  updated_at: sql`t.updated_at`,
  created_by: sql`t.created_by`,
  tenant_name: sql`t.tenant`,
};

/** A trigger acts as its creator: only the creator and administrators see it. */
function scopeOf(principal: Principal): RawBuilder<SqlBool> {
  const isOwn = isAdministrator(principal) ? sql`true` : sql`t.created_by = ${principal.username}`;
  return sql<SqlBool>`(t.tenant = ${principal.tenant} and ${isOwn})`;
}

export function listTriggers(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<Record<string, unknown>>> {
  return selectPage<Record<string, unknown>>({
    db,
    from: sql`triggers t`,
    columns,
    list,
    where: [scopeOf(principal)],
    tieBreak: sql`t.created_at, t.id`,
    search: sql`t.id`,
  });
}

/** Returns a trigger without its secret. @throws AppError not_found_error */
export async function shownTrigger(
  db: Db<DB>['query'],
  principal: Principal,
  id: string,
): Promise<Record<string, unknown>> {
  const fields = sql.join(Object.entries(columns).map(([name, column]) => sql`${column} as ${sql.id(name)}`));
  const { rows } = await sql<Record<string, unknown>>`
    select ${fields} from triggers t where ${scopeOf(principal)} and t.id = ${id}`.execute(db);
  if (!rows[0]) throw notFound('Trigger', id);
  return rows[0];
}
