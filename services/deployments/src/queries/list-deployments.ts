import type { FilterRule, ListPage, ListQuery, Principal } from '@baton/contracts';
import {
  type FilterTarget,
  filterConditions,
  type Keyset,
  type PageRequest,
  prepared,
  selectListPage,
  visibleTotal,
} from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  deploymentColumns,
  deploymentFilterExpressions,
  deploymentSelection,
  deploymentSorts,
  siteName,
  sortJoins,
} from '../store/deployment-columns.sql';
import { deploymentScope } from '../store/deployments.sql';
import { type DocumentCache, readDocuments } from '../store/documents.sql';
import { countVisible, type PlainPageDeps, readPlainPage } from './plain-page';
import {
  type FragmentCache,
  type PresentedDeployment,
  presentDeployment,
  type SelectedDeployment,
} from './present-deployment';

export interface ListDeps extends PlainPageDeps {
  documents: DocumentCache;
  fragments: FragmentCache;
}

/** Conditions on a list of deployments beside its own query. */
export interface DeploymentSelector {
  /** Null: no rules apply, and metadata.filtered is null. */
  rules: FilterRule[] | null;
  /** Tenants beside the tenant of the request (constraints of searches). */
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
    // For rules on schedules after their conversion: see scheduled-deployments.ts.
    schedules: sql`d.tenant || '/' || d.id`,
  },
  labels: sql`deployment_labels l`,
  labelOwner: sql`l.deployment_key = d.key`,
};

/** Returns all conditions except the rules. */
function deploymentConditions(
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

/** Returns the conditions of `_dependencies_of` and `_environments_only` (reference/rest-api.md 3.2). */
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

/** Returns the page request of any list over deployments; `columns` default to those of the resource. */
export function deploymentPage(
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Omit<PageRequest, 'db' | 'columns'> {
  return {
    from: sql`${FROM} ${sortJoins(list).joins}`,
    list,
    where: [
      ...deploymentConditions(principal, list, selector),
      ...filterConditions(selector.rules ?? [], deploymentRuleTarget),
    ],
    tieBreak: sql`d.created_at, d.key`,
    tieBreakBack: sql`d.created_at desc, d.key desc`,
    search: sql`d.id`,
    searchName: sql`d.display_name`,
    filters: deploymentFilterExpressions,
    sorts: deploymentSorts,
  };
}

/** Returns one page, in at most four statements whatever its number of deployments. */
export async function listDeployments(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Promise<ListPage<PresentedDeployment>> {
  const page = isPlainPage(principal, list, selector)
    ? await readPlainPage<SelectedDeployment>(deps, principal, list, false)
    : await selectDeployments(deps, principal, list, selector);
  return {
    items: await presentAll(deps, page.items, list.include),
    total: page.total,
    filtered: await countFiltered(deps, principal, list, selector, page.total),
    ...nextOf(page),
  };
}

/** Whether the list contains every deployment that is visible in its tenants. */
function isWhole(list: ListQuery, selector: DeploymentSelector): boolean {
  return (
    selector.rules === null &&
    !selector.tenants &&
    (selector.where ?? []).length === 0 &&
    Object.keys(list.filters).length === 0 &&
    Object.keys(list.extra).length === 0 &&
    list.search === null &&
    list.searchName === null
  );
}

/** Whether the request is for a tenant's whole list in its default order. */
export function isPlainPage(principal: Principal, list: ListQuery, selector: DeploymentSelector): boolean {
  const [first, second] = list.sort;
  return (
    principal.tenant !== '' &&
    list.keyset === undefined &&
    !list.allTenants &&
    !list.getAll &&
    list.size > 0 &&
    first?.field === 'created_at' &&
    !first.descending &&
    second === undefined &&
    isWhole(list, selector)
  );
}

async function selectDeployments(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Promise<ListPage<SelectedDeployment>> {
  const { columns, always, joins } = deploymentSelection(list.include);
  const page = keyedPage(principal, list, selector, joins);
  const request = {
    db: deps.db.query,
    ...page,
    columns: { ...columns, ...page.columns },
    fields: columns,
    always,
  };
  return await selectListPage<SelectedDeployment>(request, deploymentKeyset(principal));
}

/** Columns that break ties, and the columns by which pages from a cursor may be sorted: columns that are never null. */
const TIES = {
  created_at: { column: sql`d.created_at`, type: 'timestamptz' },
  key: { column: sql`d.key`, type: 'bigint' },
} as const;
const SORTED = {
  created_at: TIES.created_at,
  ...Object.fromEntries(
    ['id', 'display_name', 'created_by', 'installation_status', 'deployment_status'].map((name) => [
      name,
      { column: deploymentColumns[name]!, type: 'text' as const },
    ]),
  ),
};

export const deploymentKeyset = ({ tenant: scope }: Principal): Keyset => ({
  sorts: SORTED,
  ties: TIES,
  scope,
});

/** Returns the cursor of the next page, if the page has one. */
export const nextOf = ({ next }: Pick<ListPage<unknown>, 'next'>): Pick<ListPage<unknown>, 'next'> =>
  next === undefined ? {} : { next };

/**
 * Makes a page request that finds the deployments first: filters read only the deployment, and sorts read only the other tables
 * that they need, before `joins` add the shown fields.
 */
export function keyedPage(
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
  joins: RawBuilder<unknown>,
): Omit<PageRequest, 'db'> {
  const sorted = sortJoins(list);
  return {
    ...deploymentPage(principal, list, selector),
    columns: { ...deploymentColumns, ...sorted.columns },
    keyed: {
      keys: [sql`d.key`],
      fields: sql`deployments d on d.key = page_.key_ ${joins} ${sorted.joins}`,
    },
    ...(isWhole(list, selector) ? { total: visibleTotal(['deployments'], principal, list.allTenants) } : {}),
  };
}

/**
 * Counts the deployments that were not found, for whatever reason; null without rules (reference/rest-api.md 3.1). The other
 * filters of the list count as well, as in the original.
 */
export async function countFiltered(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
  total: number,
): Promise<number | null> {
  if (selector.rules === null || selector.rules.length === 0) return null;
  if (list.keyset?.hasTotal === false) return null;
  return (await countVisible(deps.db, principal, list.allTenants || !!selector.tenants)) - total;
}

/**
 * Returns one deployment that the caller may see; a deployment of the own tenant comes before a global one; null when there is
 * none.
 */
export async function readDeploymentObject(
  deps: ListDeps,
  principal: Principal,
  id: string,
  include: string[] | null,
): Promise<PresentedDeployment | null> {
  const { statement, values } = deps.deploymentStatements.one(principal, include);
  const given = { id, tenant: principal.tenant, username: principal.username };
  const rows = await prepared<SelectedDeployment>(deps.db, statement, values(given));
  return (await presentAll(deps, rows, include))[0] ?? null;
}

async function presentAll(
  deps: ListDeps,
  rows: SelectedDeployment[],
  include: string[] | null,
): Promise<PresentedDeployment[]> {
  const digests = rows.map((row) => row.model_).filter((digest) => typeof digest === 'string');
  const models = await readDocuments(deps.db.query, deps.documents, digests);
  return rows.map((row) => presentDeployment(row, models, deps.fragments, include));
}
