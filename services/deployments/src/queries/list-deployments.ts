import type { FilterRule, ListPage, ListQuery, Principal } from '@baton/contracts';
import {
  type Db,
  type FilterTarget,
  filterConditions,
  type PageRequest,
  pageConditions,
  selectPage,
} from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  deploymentColumns,
  deploymentFilterExpressions,
  deploymentSelection,
  deploymentSorts,
  siteName,
} from '../store/deployment-columns.sql';
import { deploymentScope } from '../store/deployments.sql';
import { type DocumentCache, readDocuments } from '../store/documents.sql';
import type { DB } from '../store/tables.gen';
import { type PresentedDeployment, presentDeployment, type SelectedDeployment } from './present-deployment';

export interface ListDeps {
  db: Db<DB>;
  documents: DocumentCache;
}

/** What narrows a list of deployments beside its own query. */
export interface DeploymentSelector {
  /** Null: no rules apply, and metadata.filtered is null. */
  rules: FilterRule[] | null;
  /** Tenants beside the request's (constraints of searches). */
  tenants?: string[] | null;
  where?: readonly RawBuilder<SqlBool>[];
}

const FROM = sql`deployments d`;

export const deploymentRuleTarget: FilterTarget = {
  attributes: {
    blueprint_id: sql`d.blueprint_id`,
    created_by: sql`d.created_by`,
    site_name: siteName,
    id: sql`d.id`,
    tenant_name: sql`d.tenant`,
    display_name: sql`d.display_name`,
    installation_status: sql`d.installation_status`,
    // Schedules live in executions, which does not tell deployments about them: nothing matches yet.
    schedules: sql`null::text`,
  },
  labels: sql`deployment_labels l`,
  labelOwner: sql`l.deployment_key = d.key`,
};

/** Conditions of everything but the rules. */
export function deploymentConditions(
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): RawBuilder<SqlBool>[] {
  const tenants = selector.tenants ? [sql<SqlBool>`d.tenant = any(${selector.tenants}::text[])`] : [];
  return [
    deploymentScope(principal, list.allTenants || !!selector.tenants),
    ...tenants,
    ...(selector.where ?? []),
    ...extraConditions(principal, list),
  ];
}

/** `_dependencies_of` and `_environments_only` (reference/rest-api.md 3.2). */
function extraConditions(principal: Principal, list: ListQuery): RawBuilder<SqlBool>[] {
  const found: RawBuilder<SqlBool>[] = [];
  const source = list.extra._dependencies_of?.at(-1);
  if (source !== undefined) {
    found.push(sql<SqlBool>`d.key in (
      with recursive reached(key) as (
        select i.target_key from inter_deployment_dependencies i join deployments s on s.key = i.source_key
          where s.id = ${source} and s.tenant = ${principal.tenant} and i.target_key is not null
        union select i.target_key from inter_deployment_dependencies i join reached r on i.source_key = r.key where i.target_key is not null
      ) select key from reached)`);
  }
  if (list.extra._environments_only?.at(-1)?.toLowerCase() === 'true') {
    found.push(
      sql<SqlBool>`not exists (select 1 from inter_deployment_dependencies i where i.target_key = d.key and i.dependency_creator like 'component.%')`,
    );
  }
  return found;
}

/** The page request of any list over deployments; `columns` default to those of the resource. */
export function deploymentPage(
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Omit<PageRequest, 'db' | 'columns'> {
  return {
    from: FROM,
    list,
    where: [
      ...deploymentConditions(principal, list, selector),
      ...filterConditions(selector.rules ?? [], deploymentRuleTarget),
    ],
    tieBreak: sql`d.created_at, d.key`,
    search: sql`d.id`,
    searchName: sql`d.display_name`,
    filters: deploymentFilterExpressions,
    sorts: deploymentSorts,
  };
}

/** One page, in at most four statements however many deployments it holds. */
export async function listDeployments(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Promise<ListPage<PresentedDeployment>> {
  const page = await selectPage<SelectedDeployment>({
    db: deps.db.query,
    ...deploymentPage(principal, list, selector),
    ...deploymentSelection(list.include),
  });
  const items = await presentAll(deps, page.items, list.include);
  return {
    items,
    total: page.total,
    filtered: await countFiltered(deps, principal, list, selector, page.total),
  };
}

/** How many the rules removed; null without rules (reference/rest-api.md 3.1). */
export async function countFiltered(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
  total: number,
): Promise<number | null> {
  if (selector.rules === null) return null;
  const where = pageConditions({
    ...deploymentPage(principal, list, { ...selector, rules: [] }),
    columns: deploymentColumns,
  });
  const { rows } = await sql<{ total: number }>`select count(*) as total from ${FROM} where ${where}`.execute(
    deps.db.query,
  );
  return (rows[0]?.total ?? 0) - total;
}

/** One deployment that the caller may see, the own tenant's before a global one; null when there is none. */
export async function readDeploymentObject(
  deps: ListDeps,
  principal: Principal,
  id: string,
  include: string[] | null,
): Promise<PresentedDeployment | null> {
  const { columns, always } = deploymentSelection(include);
  const names =
    include === null
      ? Object.keys(columns)
      : [...new Set([...include, ...always])].filter((name) => columns[name] !== undefined);
  const fields = names.map((name) => sql`${columns[name]} as ${sql.id(name)}`);
  const { rows } = await sql<SelectedDeployment>`
    select ${sql.join([sql`1 as one_`, ...fields])} from deployments d where d.id = ${id} and ${deploymentScope(principal)}
    order by d.tenant = ${principal.tenant} desc limit 1`.execute(deps.db.query);
  return (await presentAll(deps, rows, include))[0] ?? null;
}

async function presentAll(
  deps: ListDeps,
  rows: SelectedDeployment[],
  include: string[] | null,
): Promise<PresentedDeployment[]> {
  const digests = rows.map((row) => row.plan_?.model).filter((digest) => digest !== undefined);
  const models = await readDocuments(deps.db.query, deps.documents, digests);
  return rows.map((row) => presentDeployment(row, models, include));
}
