import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { executionSummaryFields } from '@baton/contracts/http/executions';
import {
  type AnyQuery,
  isPrivate,
  pageConditions,
  selectListPage,
  summarizeBy,
  visibilityScope,
  visibleTotal,
} from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

const plain = (name: string) => sql`e.${sql.id(name)}`;

/** Response field -> expression; the lists of executions never read the engine's columns. */
const COLUMNS: Record<string, RawBuilder<unknown>> = {
  id: plain('id'),
  workflow_id: plain('workflow_id'),
  blueprint_id: plain('blueprint_id'),
  deployment_id: plain('deployment_id'),
  deployment_display_name: plain('deployment_display_name'),
  status: plain('status'),
  status_display: sql`case e.status when 'terminated' then 'completed' else e.status end`,
  error: plain('error'),
  parameters: plain('parameters'),
  is_system_workflow: plain('is_system_workflow'),
  is_dry_run: plain('is_dry_run'),
  resume: plain('is_resumed'),
  allow_custom_parameters: plain('allow_custom_parameters'),
  created_at: plain('created_at'),
  started_at: plain('started_at'),
  ended_at: plain('ended_at'),
  scheduled_for: plain('scheduled_for'),
  created_by: plain('created_by'),
  tenant_name: plain('tenant'),
  visibility: plain('visibility'),
  private_resource: isPrivate('e'),
  resource_availability: plain('visibility'),
  total_operations: plain('total_operations'),
  finished_operations: plain('finished_operations'),
};

/** Fields to filter by that are never shown. */
const FILTERS = { execution_group_id: plain('execution_group_id') };

export function executionScope(principal: Principal, allTenants: boolean) {
  return visibilityScope(principal, 'e', allTenants);
}

/** Returns the SQL condition of a list's filters together with `where`, over executions `e`. */
export const filteredExecutions = (list: ListQuery, where: readonly RawBuilder<SqlBool>[]) =>
  pageConditions({ columns: COLUMNS, filters: FILTERS, list, where });

/** Returns one page of executions; system workflows only on request (reference/rest-api.md 3.2). */
export async function listExecutions(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<object>> {
  const request = {
    db,
    from: sql`executions e`,
    columns: COLUMNS,
    list,
    filters: FILTERS,
    where: listed(principal, list),
    tieBreak: sql`e.created_at, e.id`,
    tieBreakBack: sql`e.created_at desc, e.id desc`,
    keyed: { keys: [sql`e.id`], fields: sql`executions e on e.id = page_.key_` },
    ...(isWhole(list) ? { total: visibleTotal(kinds(list), principal, list.allTenants) } : {}),
  };
  return await selectListPage(request, { sorts: SORTED, ties: TIES, scope: principal.tenant });
}

/** The order of equal rows, and the columns by which pages after a cursor may be sorted: they are never null. */
const TIES = {
  created_at: { column: plain('created_at'), type: 'timestamptz' },
  id: { column: plain('id'), type: 'uuid' },
} as const;
const SORTED = {
  ...TIES,
  status: { column: plain('status'), type: 'text' },
  workflow_id: { column: plain('workflow_id'), type: 'text' },
  created_by: { column: plain('created_by'), type: 'text' },
} as const;

/** Returns whether the list holds every execution that the caller may see, with or without those of the system. */
const isWhole = (list: ListQuery): boolean =>
  Object.keys(list.filters).length === 0 && list.extra._group_id === undefined;

const kinds = (list: ListQuery): string[] => [
  'executions',
  ...(hasSystem(list) ? ['system_executions'] : []),
];

const hasSystem = (list: ListQuery): boolean =>
  list.extra._include_system_workflows?.at(-1)?.toLowerCase() === 'true';

/** Returns ids of matching executions that have not ended (for `isResume`: that may be resumed), oldest first, and their number. */
export async function matchingExecutions(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
  isResume: boolean,
  limit: number,
): Promise<{ ids: string[]; total: number }> {
  const fits = isResume
    ? sql<SqlBool>`e.status in ('failed', 'cancelled')`
    : sql<SqlBool>`e.phase <> 'ended'`;
  const where = filteredExecutions(list, [...listed(principal, list), fits]);
  const { rows } = await sql<{ id: string; total: number }>`
    select e.id, count(*) over () as total from executions e where ${where}
    order by e.created_at, e.id limit ${limit}`.execute(db);
  return { ids: rows.map((row) => row.id), total: rows[0]?.total ?? 0 };
}

/** Order of the statuses in summaries: ends first. */
const STATUSES = [
  ...['terminated', 'failed', 'cancelled', 'pending', 'started', 'cancelling', 'force_cancelling'],
  ...['kill_cancelling', 'queued', 'scheduled'],
];

/** Counts the executions of the list (reference/rest-api.md 5.27). @throws AppError bad_parameters_error */
export async function summarizeExecutions(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
  query: { _target_field?: string; _sub_field?: string },
): Promise<ListPage<object>> {
  const kind = {
    name: 'executions',
    fields: executionSummaryFields,
    from: sql`executions e`,
    columns: COLUMNS,
    filters: FILTERS,
    where: listed(principal, list),
    ranks: { status: STATUSES, status_display: ['completed', ...STATUSES.slice(1)] },
  };
  return await summarizeBy(db, kind, list, query);
}

function listed(principal: Principal, list: ListQuery): RawBuilder<SqlBool>[] {
  const where = [executionScope(principal, list.allTenants)];
  const group = list.extra._group_id?.at(-1);
  if (group !== undefined) where.push(sql`e.execution_group_id = ${group}`);
  if (!hasSystem(list) && !list.filters.is_system_workflow) where.push(sql`not e.is_system_workflow`);
  return where;
}
