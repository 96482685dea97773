import { type FilterRule, type ListPage, type ListQuery, listQuery, type Principal } from '@baton/contracts';
import { notFound, unfoldedJson } from '@baton/kernel';
import { type Db, filterConditions, pageConditions, selectPage } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB } from '../store/tables.gen';
import {
  blueprintColumns,
  blueprintFrom,
  filterTarget,
  labelSort,
  seenBlueprints,
} from './blueprint-columns';
import { type PlanCache, planColumns, type SelectedPlan, shortPlan } from './plan-cache';

export type BlueprintRow = Record<string, unknown>;

const tieBreak = sql`b.created_at, b.tenant, b.id`;

/** A row as selected, with its plan as text. */
type SelectedRow = BlueprintRow & { plan?: string | null };

const withPlan = (row: SelectedRow): BlueprintRow =>
  typeof row.plan === 'string' ? { ...row, plan: unfoldedJson(row.plan) } : row;

export interface BlueprintReader {
  db: Db<DB>;
  plans: PlanCache;
}

/**
 * Returns a page of blueprints; `rules` (null: none were given) set `filtered`. Hidden ones are included only when the filter asks
 * for them.
 */
export async function listBlueprints(
  { db: { query: db }, plans }: BlueprintReader,
  principal: Principal,
  list: ListQuery,
  rules: readonly FilterRule[] | null,
  tenants: string[] | null = null,
): Promise<ListPage<BlueprintRow>> {
  const scope: RawBuilder<SqlBool>[] = [seenBlueprints(principal, list.allTenants || tenants !== null)];
  if (list.filters.is_hidden === undefined) scope.push(sql<SqlBool>`not b.is_hidden`);
  if (tenants !== null) scope.push(sql<SqlBool>`b.tenant = any(${tenants}::text[])`);
  const search = sql`b.id`;
  const where = [...scope, ...filterConditions(rules ?? [], filterTarget)];
  const hasPlan = list.include === null || list.include.includes('plan');
  const plan = hasPlan ? planColumns(plans, list.include !== null) : null;
  const found = await selectPage<BlueprintRow & SelectedPlan>({
    db,
    from: blueprintFrom,
    columns: { ...blueprintColumns, ...plan?.columns },
    list,
    where,
    tieBreak,
    search,
    sorts: labelSort,
    always: plan ? [...always, 'digest_'] : always,
  });
  const page = plan ? { ...found, items: plan.put(found.items) } : found;
  // An empty list of rules filters nothing, so the answer says that nothing was filtered.
  if (rules === null || rules.length === 0) return page;
  // Counts every blueprint in the scope: `filtered` is the number of those not found, for whatever reason.
  const all = sql.join(scope, sql` and `);
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${blueprintFrom} where ${all}`.execute(
    db,
  );
  return { ...page, filtered: (rows[0]?.n ?? 0) - page.total };
}

/** Columns that the presenter needs, whatever `_include` names. */
const always = [
  'upload_execution',
  'state',
  'id',
  'created_at',
  'main_file_name',
  'created_by',
  'tenant_name',
  'visibility',
  'error',
];

/**
 * Returns one blueprint as `principal` sees it; a blueprint of the own tenant comes before a global one. `isShort`: a folded plan
 * is null unless `include` names it.
 * @throws AppError not_found_error
 */
export async function getBlueprint(
  db: Db<DB>['query'],
  principal: Principal,
  id: string,
  include: string[] | null = null,
  isShort = false,
): Promise<BlueprintRow> {
  const page = await selectPage<SelectedRow>({
    db,
    from: blueprintFrom,
    columns: isShort && include === null ? { ...blueprintColumns, plan: shortPlan } : blueprintColumns,
    list: listQuery({ include, filters: { id: [id] }, size: 1 }),
    where: [seenBlueprints(principal)],
    tieBreak: sql`b.tenant = ${principal.tenant} desc`,
    always,
  });
  const [row] = page.items;
  if (row === undefined) throw notFound('Blueprint', id);
  return withPlan(row);
}

/** Returns the rank of a visibility in its own order; other texts keep the order of the database. */
const rank = (text: string | null): number => ['private', 'tenant', 'global'].indexOf(text ?? '');

/** Counts of blueprints, of those for which `rules` hold, by one or two fields (reference/rest-api.md 5.27). */
export async function summarizeBlueprints(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
  target: string,
  sub: string | null,
  rules: readonly FilterRule[],
): Promise<ListPage<Record<string, unknown>>> {
  const where = pageConditions({
    columns: blueprintColumns,
    list,
    where: [
      seenBlueprints(principal, list.allTenants),
      sql<SqlBool>`not b.is_hidden`,
      ...filterConditions(rules, filterTarget),
    ],
    search: sql`b.id`,
  });
  const by = blueprintColumns[target]!;
  const bySub = sub === null ? sql`null::text` : blueprintColumns[sub]!;
  const { rows } = await sql<{ target: string; sub: string | null; n: number }>`
    select ${by} as target, ${bySub} as sub, count(*) as n from ${blueprintFrom} where ${where} group by 1, 2 order by 1, 2`.execute(
    db,
  );
  rows.sort((a, b) => rank(a.target) - rank(b.target) || rank(a.sub) - rank(b.sub));
  const groups = new Map<string, { n: number; subs: Record<string, unknown>[] }>();
  for (const row of rows) {
    const group = groups.get(row.target) ?? { n: 0, subs: [] };
    group.n += row.n;
    if (sub !== null) group.subs.push({ [sub]: row.sub, blueprints: row.n });
    groups.set(row.target, group);
  }
  const items = [...groups].map(([value, g]) => ({
    [target]: value,
    blueprints: g.n,
    ...(sub === null ? {} : { [`by ${sub}`]: g.subs }),
  }));
  const page = list.getAll ? items : items.slice(list.offset, list.offset + list.size);
  return { items: page, total: items.length };
}

/** Lists the keys of labels, or the values of one key, of blueprints that `principal` sees. */
export async function listLabelTexts(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
  key: string | null,
): Promise<ListPage<string>> {
  const column = key === null ? sql`l.key` : sql`l.value`;
  const where: RawBuilder<SqlBool>[] = [seenBlueprints(principal, list.allTenants)];
  if (key !== null) where.push(sql<SqlBool>`l.key = ${key}`);
  const from = sql`(select distinct ${column} as value from blueprint_labels l join blueprints b on b.tenant = l.tenant and b.id = l.blueprint_id
    where ${sql.join(where, sql` and `)}) t`;
  const page = await selectPage<{ value: string }>({
    db,
    from,
    columns: { value: sql`t.value` },
    list: { ...list, include: null },
    tieBreak: sql`t.value`,
    search: sql`t.value`,
  });
  return { ...page, items: page.items.map((row) => row.value) };
}
