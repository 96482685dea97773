import type { FilterRule, ListPage, ListQuery, Principal } from '@baton/contracts';
import {
  type AnyQuery,
  equalsAny,
  equalsBoolean,
  equalsInteger,
  filterConditions,
  filteredTotal,
  isPrivate,
  type PageRequest,
  selectFields,
  selectPage,
  visibilityScope,
} from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { OF_DEPLOYMENT, sortedDeployments } from './by-deployment';
import { countBeside } from './count-beside';
import { inDeployment, inDeployments, noLabels } from './list-nodes';

const ofDeployment = (column: 'id' | 'created_by'): RawBuilder<unknown> =>
  sql`(select d.${sql.ref(column)} from deployments d where d.key = ni.deployment_key)`;

/** Response fields over `node_instances ni` alone. */
export const instanceColumns: Record<string, RawBuilder<unknown>> = {
  id: sql`ni.id`,
  node_id: sql`ni.node_id`,
  deployment_id: ofDeployment('id'),
  created_by: ofDeployment('created_by'),
  tenant_name: sql`ni.tenant`,
  visibility: sql`ni.visibility`,
  private_resource: isPrivate('ni'),
  resource_availability: sql`ni.visibility`,
  host_id: sql`ni.host_id`,
  index: sql`ni.index`,
  state: sql`ni.state`,
  version: sql`ni.version`,
  runtime_properties: sql`ni.runtime_properties`,
  system_properties: sql`ni.system_properties`,
  relationships: sql`ni.relationships`,
  scaling_groups: sql`ni.scaling_groups`,
  is_status_check_ok: sql`ni.is_status_check_ok`,
  has_configuration_drift: sql`ni.has_configuration_drift`,
};

export interface InstanceSelector {
  rules: FilterRule[] | null;
  /** Only instances of this deployment. */
  deploymentId?: string | null;
}

const FROM = sql`node_instances ni`;

const DEPLOYMENT = sql`left join deployments d on d.key = ni.deployment_key`;

/** Filters other than plain equality on `instanceColumns`. */
export const instanceFilters: Record<
  string,
  RawBuilder<unknown> | ((values: string[]) => RawBuilder<SqlBool>)
> = {
  deployment_id: inDeployments(sql`ni.deployment_key`),
  created_by: (values) =>
    sql<SqlBool>`ni.deployment_key in (select x.key from deployments x where ${equalsAny(sql`x.created_by`, values)})`,
  node_name: sql`ni.node_id`,
  index: (values) => equalsInteger(sql`ni.index`, values),
  version: (values) => equalsInteger(sql`ni.version`, values),
  is_status_check_ok: (values) => equalsBoolean(sql`ni.is_status_check_ok`, values),
  has_configuration_drift: (values) => equalsBoolean(sql`ni.has_configuration_drift`, values),
};

/** Returns the condition for rows of `node_instances ni` that the caller may see. */
export function instanceScope(principal: Principal, allTenants = false): RawBuilder<SqlBool> {
  return visibilityScope(
    principal,
    { tenant: sql`ni.tenant`, visibility: sql`ni.visibility`, creator: sql`ni.private_to` },
    allTenants,
  );
}

/** Returns one page of node instances, in at most two statements. */
export async function listNodeInstances(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
  selector: InstanceSelector,
): Promise<ListPage<Record<string, unknown>>> {
  const rules = selector.rules ?? [];
  const isPart = rules.length > 0 || !!selector.deploymentId;
  const total = isPart ? null : filteredTotal(['node_instances'], principal, list);
  const isWhole = total !== null && Object.keys(list.filters).length === 0;
  const page = await selectPage<Record<string, unknown>>({
    db,
    ...(total ? { total } : {}),
    ...orderOf(principal, list, isWhole),
    fields: instanceColumns,
    list,
    where: [
      instanceScope(principal, list.allTenants),
      ...inDeployment(sql`ni.deployment_key`, selector.deploymentId),
      ...filterConditions(rules, { attributes: { id: sql`ni.id` }, ...noLabels }),
    ],
    search: sql`ni.id`,
    filters: instanceFilters,
    sorts: (field) => (field === 'node_name' ? sql`ni.node_id` : undefined),
  });
  const filtered = await countBeside(db, 'node_instances', principal, list, rules, page.total);
  return { ...page, filtered };
}

/** Finds the rows of the page by their number `seq`, which every index has except the one on ids. */
const fieldsOf = (joined: RawBuilder<unknown>) => ({
  keys: [sql`ni.seq`],
  fields: sql`node_instances ni on ni.seq = page_.key_ ${joined}`,
});

const BY_ID = {
  keys: [sql`ni.id`, sql`ni.tenant`],
  fields: sql`node_instances ni on ni.id = page_.key_ and ni.tenant = page_.key2_`,
};

const isNode = (field: string): boolean => field === 'node_id' || field === 'node_name';

/** Returns the order of the page: without a sort the order of creation, which also breaks all ties. */
function orderOf(
  principal: Principal,
  list: ListQuery,
  isWhole: boolean,
): Pick<PageRequest, 'from' | 'columns' | 'keyed' | 'tieBreak' | 'tieBreakBack'> {
  const isByDeployment = list.sort.some(({ field }) => field in OF_DEPLOYMENT);
  const columns = isByDeployment ? { ...instanceColumns, ...OF_DEPLOYMENT } : instanceColumns;
  const sorted = isWhole ? sortedDeployments(principal, list) : null;
  if (sorted)
    return {
      from: sql`${sorted} join node_instances ni on ni.deployment_key = d.key`,
      columns,
      keyed: fieldsOf(DEPLOYMENT),
      tieBreak: sql`d.key, ni.seq`,
    };
  const joined = isByDeployment ? DEPLOYMENT : sql``;
  const isById = list.sort[0]?.field === 'id';
  // Sorts only the instances of the node. Otherwise the index on ids, which begin with names of nodes, would be walked past all
  // instances before them.
  const ofNode: Record<string, RawBuilder<unknown>> = Object.keys(list.filters).some(isNode) &&
  !list.filters.id
    ? { id: sql`(ni.id || '')` }
    : {};
  return {
    from: sql`${FROM} ${joined}`,
    columns: { ...columns, ...ofNode },
    keyed: isById && !isByDeployment ? BY_ID : fieldsOf(joined),
    // An id occurs once in each tenant.
    tieBreak: isById ? sql`ni.tenant` : sql`ni.seq`,
    tieBreakBack: isById ? sql`ni.tenant desc` : sql`ni.seq desc`,
  };
}

/** Returns one instance that the caller may see, of the own tenant first; null when there is none. */
export async function readNodeInstance(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<Record<string, unknown> | null> {
  const fields = selectFields(instanceColumns);
  const { rows } = await sql<Record<string, unknown>>`
    select ${fields} from ${FROM} where ni.id = ${id} and ${instanceScope(principal)}
    order by ni.tenant = ${principal.tenant} desc limit 1`.execute(db);
  return rows[0] ?? null;
}

/** Returns the tenant of a node instance that the caller may see, the own tenant first; null when there is none. */
export async function tenantOfInstance(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<string | null> {
  const { rows } = await sql<{ tenant: string }>`
    select ni.tenant from node_instances ni where ni.id = ${id} and ${instanceScope(principal)}
    order by ni.tenant = ${principal.tenant} desc limit 1`.execute(db);
  return rows[0]?.tenant ?? null;
}
