import type { FilterRule, ListPage, ListQuery, Principal } from '@baton/contracts';
import {
  equalsInteger,
  type FilterTarget,
  filterConditions,
  isPrivate,
  selectPage,
  visibleTotal,
} from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { deploymentScope } from '../store/deployments.sql';
import { readDocuments } from '../store/documents.sql';
import type { NodeDefinition } from '../store/nodes.sql';
import { OF_DEPLOYMENT, sortedDeployments } from './by-deployment';
import { countBeside } from './count-beside';
import type { ListDeps } from './list-deployments';

const instances = (condition: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select count(*)::int from node_instances ni where ni.deployment_key = n.deployment_key and ni.node_id = n.id ${condition})`;

/** Response fields over `nodes n join deployments d`; those of the shared definition are added by its digest. */
export const nodeColumns: Record<string, RawBuilder<unknown>> = {
  id: sql`n.id`,
  node_id: sql`n.id`,
  ...OF_DEPLOYMENT,
  private_resource: isPrivate('d'),
  resource_availability: sql`d.visibility`,
  type: sql`n.type`,
  host_id: sql`n.host_id`,
  properties: sql`n.properties`,
  number_of_instances: sql`n.number_of_instances`,
  planned_number_of_instances: sql`n.planned_number_of_instances`,
  deploy_number_of_instances: sql`n.deploy_number_of_instances`,
  min_number_of_instances: sql`n.min_number_of_instances`,
  max_number_of_instances: sql`n.max_number_of_instances`,
  actual_number_of_instances: instances(sql``),
  actual_planned_number_of_instances: sql`n.planned_number_of_instances`,
  drifted_instances: instances(sql`and ni.has_configuration_drift`),
  unavailable_instances: instances(sql`and not ni.is_status_check_ok`),
};
const definitionFields = [
  'type_hierarchy',
  'operations',
  'plugins',
  'plugins_to_install',
  'relationships',
] as const;

/** Conditions that a search adds to a list of nodes. */
export interface NodeSelector {
  rules: FilterRule[] | null;
  /** Only nodes of this deployment. */
  deploymentId?: string | null;
  /** The column that `_search` searches; by default the id. */
  searchIn?: 'id' | 'type';
}

/** Nodes and instances have no labels. */
export const noLabels = { labels: sql`deployment_labels l`, labelOwner: sql<SqlBool>`false` };
const ruleTarget: FilterTarget = { attributes: { id: sql`n.id`, type: sql`n.type` }, ...noLabels };

/** Attributes with several values, in the definition of a node. */
const inDefinition: Readonly<Record<string, RawBuilder<unknown>>> = {
  operation_name: sql`json_object_keys(c.body -> 'operations')`,
  type_hierarchy: sql`json_array_elements_text(c.body -> 'type_hierarchy')`,
};

/**
 * Returns the conditions of the rules. A rule on operations holds for at least one operation of the node, or, with "not", for none.
 */
function ruleConditions(rules: readonly FilterRule[]): RawBuilder<SqlBool>[] {
  return rules.map((rule) => {
    const values = inDefinition[rule.key];
    if (rule.type !== 'attribute' || values === undefined) return conditionOf(rule, ruleTarget);
    const target = { attributes: { [rule.key]: sql`k.name` }, ...noLabels };
    const some = (of: FilterRule): RawBuilder<SqlBool> => sql<SqlBool>`exists (
      select 1 from documents c, ${values} k (name) where c.digest = n.definition and ${conditionOf(of, target)})`;
    if (rule.operator === 'not_any_of') return sql<SqlBool>`not ${some({ ...rule, operator: 'any_of' })}`;
    if (rule.operator !== 'not_contains') return some(rule);
    return rule.values.length === 0
      ? sql<SqlBool>`true`
      : sql<SqlBool>`not ${some({ ...rule, operator: 'contains' })}`;
  });
}

const conditionOf = (rule: FilterRule, target: FilterTarget): RawBuilder<SqlBool> =>
  filterConditions([rule], target)[0]!;

/** Returns a filter by deployment ids. It compares the key of the deployment, so that the primary key is used. */
export const inDeployments =
  (column: RawBuilder<unknown>) =>
  (values: string[]): RawBuilder<SqlBool> =>
    sql<SqlBool>`${column} = any(array(select x.key from deployments x where x.id = any(${values}::text[])))`;

/** Returns the condition for one deployment; none without an id. */
export function inDeployment(
  column: RawBuilder<unknown>,
  deploymentId?: string | null,
): RawBuilder<SqlBool>[] {
  return deploymentId === null || deploymentId === undefined ? [] : [inDeployments(column)([deploymentId])];
}

const NUMBERS = [
  'number_of_instances',
  'planned_number_of_instances',
  'deploy_number_of_instances',
  'min_number_of_instances',
  'max_number_of_instances',
];
/** Filters of lists and summaries of nodes other than plain equality of texts. */
export const nodeFilters: Record<string, (values: string[]) => RawBuilder<SqlBool>> = {
  deployment_id: inDeployments(sql`n.deployment_key`),
  ...Object.fromEntries(
    NUMBERS.map((name) => [name, (values: string[]) => equalsInteger(sql`n.${sql.id(name)}`, values)]),
  ),
};

const FROM = sql`nodes n join deployments d on d.key = n.deployment_key`;

/** Sorts for which nodes have an index; without a sort the order of creation applies. */
const OF_NODE = ['id', 'node_id'];

/**
 * For pages deep in the list: gathers the visible deployments once, instead of looking them up for each skipped node. `is true`
 * keeps the condition a filter of the index walk, which a join of all nodes would not be.
 */
const farNodes = (scope: RawBuilder<SqlBool>) => ({
  from: sql`nodes n`,
  where: [sql<SqlBool>`(n.deployment_key in (select d.key from deployments d where ${scope})) is true`],
});

/** Fields in the rows of nodes themselves that have no selective index. */
const OWN_FIELDS = ['type', 'host_id', ...NUMBERS];

/** Whether all nodes are read and no field of their deployments: then the deployments are gathered once as well. */
const isReadWhole = ({ filters, sort, search }: ListQuery): boolean =>
  Object.keys(filters).every((field) => OWN_FIELDS.includes(field)) &&
  sort.every(({ field }) => [...OWN_FIELDS, ...OF_NODE].includes(field)) &&
  (search !== null ||
    Object.keys(filters).length > 0 ||
    sort.some(({ field }) => OWN_FIELDS.includes(field)));

type SelectedNode = Record<string, unknown> & { definition_?: string };

/** Returns one page of nodes, in at most three statements. */
export async function listNodes(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: NodeSelector,
): Promise<ListPage<Record<string, unknown>>> {
  const wanted = definitionFields.filter((field) => list.include === null || list.include.includes(field));
  const { node_id: filterOnly, ...columns } = nodeColumns;
  const isWhole =
    (selector.rules ?? []).length === 0 &&
    (selector.deploymentId ?? null) === null &&
    Object.keys(list.filters).length === 0 &&
    list.search === null;
  const scope = deploymentScope(principal, list.allTenants);
  const more = [
    ...inDeployment(sql`n.deployment_key`, selector.deploymentId),
    ...ruleConditions(selector.rules ?? []),
  ];
  const sorted = isWhole ? sortedDeployments(principal, list) : null;
  const far = farNodes(scope);
  const isGathered = !selector.deploymentId && isReadWhole(list);
  const page = await selectPage<SelectedNode>({
    db: deps.db.query,
    from: sorted ? sql`${sorted} join nodes n on n.deployment_key = d.key` : isGathered ? far.from : FROM,
    columns: wanted.length > 0 ? { ...columns, definition_: sql`encode(n.definition, 'hex')` } : columns,
    list,
    where: isGathered ? [...far.where, ...more] : [scope, ...more],
    ...(sorted ? { tieBreak: sql`d.key, n.seq` } : { tieBreak: sql`n.seq`, tieBreakBack: sql`n.seq desc` }),
    keyed: { keys: [sql`n.seq`], fields: sql`${FROM} on n.seq = page_.key_` },
    ...(isWhole && list.sort.every(({ field }) => OF_NODE.includes(field)) ? { far } : {}),
    search: selector.searchIn === 'type' ? sql`n.type` : sql`n.id`,
    filters: { ...nodeFilters, node_id: filterOnly! },
    sorts: (field) => nodeColumns[field],
    always: wanted.length > 0 ? ['definition_'] : [],
    ...(isWhole ? { total: visibleTotal(['nodes'], principal, list.allTenants) } : {}),
  });
  const definitions = await readDocuments(
    deps.db.query,
    deps.documents,
    page.items.map((row) => row.definition_).filter((d) => d !== undefined),
  );
  const items = page.items.map(({ definition_: digest, one_: _one, ...row }) => {
    const definition =
      digest === undefined ? undefined : (definitions.get(digest) as NodeDefinition | undefined);
    for (const field of wanted) row[field] = definition?.[field] ?? null;
    return row;
  });
  return {
    items,
    total: page.total,
    filtered: await countBeside(deps.db.query, 'nodes', principal, list, selector.rules, page.total),
  };
}
