import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import {
  type AnyQuery,
  type AnyTx,
  isPrivate,
  selectFields,
  selectPage,
  visibilityScope,
} from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ExecutionGroupRow } from '../store/execution-groups.sql';

const plain = (name: string) => sql`g.${sql.id(name)}`;
const members = sql`from executions e where e.tenant = g.tenant and e.execution_group_id = g.id`;

/** Rule for the status of a group. */
export interface GroupStatusRule {
  /** Whether a group with a cancelled execution is cancelled. Otherwise it counts as terminated. */
  tellsCancelled: boolean;
}

/** The status of a group, derived from its members (reference/rest-api.md 5.8). */
const status = ({ tellsCancelled }: GroupStatusRule) => sql`(select case
    when count(*) = 0 then null
    when bool_and(e.status = 'pending') then 'pending'
    when bool_and(e.status in ('queued', 'scheduled', 'pending') or e.resume_wish is not null) then 'queued'
    when bool_and(e.phase = 'ended' and e.resume_wish is null) then case
      when bool_or(e.status = 'failed') then 'failed'
      ${tellsCancelled ? sql`when bool_or(e.status = 'cancelled') then 'cancelled'` : sql``}
      else 'terminated' end
    else 'started' end ${members})`;

function groupColumns(rule: GroupStatusRule, withMembers: boolean): Record<string, RawBuilder<unknown>> {
  return {
    id: plain('id'),
    workflow_id: plain('workflow_id'),
    deployment_group_id: plain('deployment_group_id'),
    concurrency: plain('concurrency'),
    created_at: plain('created_at'),
    created_by: plain('created_by'),
    tenant_name: plain('tenant'),
    visibility: plain('visibility'),
    private_resource: isPrivate('g'),
    resource_availability: plain('visibility'),
    execution_ids: withMembers
      ? sql`(select coalesce(json_agg(e.id order by e.created_at, e.id), '[]') ${members})`
      : sql`null::json`,
    status: withMembers ? status(rule) : sql`null::text`,
  };
}

function groupScope(principal: Principal, allTenants = false): RawBuilder<SqlBool> {
  return visibilityScope(principal, 'g', allTenants);
}

/** Returns one page of groups; members and status only with `_get_data`. */
export async function listExecutionGroups(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
  rule: GroupStatusRule,
  withMembers: boolean,
): Promise<ListPage<object>> {
  return await selectPage({
    db,
    from: sql`execution_groups g`,
    columns: groupColumns(rule, withMembers),
    list,
    where: [groupScope(principal, list.allTenants)],
    tieBreak: sql`g.created_at, g.tenant, g.id`,
  });
}

/** Returns the REST object of a group. @throws AppError not_found_error */
export async function readExecutionGroup(
  db: AnyQuery | AnyTx,
  principal: Principal,
  id: string,
  rule: GroupStatusRule,
): Promise<Record<string, unknown>> {
  const fields = selectFields(groupColumns(rule, true));
  const { rows } = await sql<Record<string, unknown>>`
    select ${fields} from execution_groups g where g.id = ${id} and ${groupScope(principal)}
    order by g.tenant = ${principal.tenant} desc limit 1`.execute(db);
  if (!rows[0]) throw notFound('ExecutionGroup', id);
  return rows[0];
}

/** Returns the row of a group that the caller may see. @throws AppError not_found_error */
export async function visibleGroup(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<ExecutionGroupRow> {
  const { rows } = await sql<ExecutionGroupRow>`
    select * from execution_groups g where g.id = ${id} and ${groupScope(principal)}
    order by g.tenant = ${principal.tenant} desc limit 1`.execute(db);
  if (!rows[0]) throw notFound('ExecutionGroup', id);
  return rows[0];
}
