import type { FilterRule, ListPage, ListQuery, Principal } from '@baton/contracts';
import {
  type FilterTarget,
  filterConditions,
  type PageRequest,
  prepared,
  selectPage,
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
    // What rules on schedules have become: see scheduled-deployments.ts.
    schedules: sql`d.tenant || '/' || d.id`,
  },
  labels: sql`deployment_labels l`,
  labelOwner: sql`l.deployment_key = d.key`,
};

/** Conditions of everything but the rules. */
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

/** One page, in at most four statements however many deployments it holds. */
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
  };
}

/** Whether the list holds every deployment that is visible in the tenants in question. */
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

/** The list of a tenant in its own order. */
export function isPlainPage(principal: Principal, list: ListQuery, selector: DeploymentSelector): boolean {
  const [first, second] = list.sort;
  return (
    principal.tenant !== '' &&
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
  return await selectPage<SelectedDeployment>({
    db: deps.db.query,
    ...page,
    columns: { ...columns, ...page.columns },
    fields: columns,
    always,
  });
}

/**
 * A page whose deployments are found first: filters look at the deployment alone, and sorts at what they need of other
 * tables, before `joins` bring what is shown.
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
 * How many deployments there are beside those found, whatever left them out; null without rules (reference/rest-api.md
 * 3.1). The other filters of the list count as well, as in the original.
 */
export async function countFiltered(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
  total: number,
): Promise<number | null> {
  if (selector.rules === null || selector.rules.length === 0) return null;
  return (await countVisible(deps.db, principal, list.allTenants || !!selector.tenants)) - total;
}

/** One deployment that the caller may see, the own tenant's before a global one; null when there is none. */
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
