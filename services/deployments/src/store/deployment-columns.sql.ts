import type { ListQuery } from '@baton/contracts';
import { isPrivate } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** Response fields of deployments over `deployments d` alone; queries/present-deployment.ts adds the rest. */

/** Fields in deployment_plans or its shared document; read only when one of them is requested. */
export const planFields = [
  'inputs',
  'outputs',
  'capabilities',
  'scaling_groups',
  'resource_tags',
  'groups',
  'policy_types',
  'policy_triggers',
  'workflows',
];
/** The plan fields that are in the shared document. */
export const modelFields = ['groups', 'policy_types', 'policy_triggers', 'workflows'];

export const siteName = sql`(select s.name from sites s where s.key = d.site_key)`;
const environmentType = sql`coalesce((select l.value from deployment_labels l where l.deployment_key = d.key and l.key = 'csys-env-type' order by l.value limit 1), '')`;
const latestStatus = sql`case
  when d.latest_status is null or d.latest_status = 'scheduled' then null
  when d.latest_status = 'terminated' then 'completed'
  when d.latest_status in ('failed', 'cancelled') then d.latest_status
  else 'in_progress' end`;
/** Formats an instant for the API; sessions run in UTC. */
const instant = (column: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`to_char(date_trunc('milliseconds', ${column}), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const labels = sql`(
  select coalesce(json_agg(l), '[]') from (
    select l.key, l.value, ${instant(sql`l.created_at`)} as created_at,
      l.creator_id, l.created_by
    from deployment_labels l where l.deployment_key = d.key order by l.key, l.value) l)`;
const instances = (condition: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select count(*)::int from node_instances ni where ni.deployment_key = d.key and ${condition})`;

export const deploymentColumns: Record<string, RawBuilder<unknown>> = {
  id: sql`d.id`,
  created_at: sql`d.created_at`,
  updated_at: sql`d.updated_at`,
  created_by: sql`d.created_by`,
  tenant_name: sql`d.tenant`,
  visibility: sql`d.visibility`,
  private_resource: isPrivate('d'),
  resource_availability: sql`d.visibility`,
  blueprint_id: sql`d.blueprint_id`,
  description: sql`d.description`,
  display_name: sql`d.display_name`,
  site_name: siteName,
  labels,
  runtime_only_evaluation: sql`d.runtime_only_evaluation`,
  environment_type: environmentType,
  installation_status: sql`d.installation_status`,
  deployment_status: sql`d.deployment_status`,
  sub_services_status: sql`d.sub_services_status`,
  sub_environments_status: sql`d.sub_environments_status`,
  sub_services_count: sql`d.sub_services_count`,
  sub_environments_count: sql`d.sub_environments_count`,
  has_sub_deployments: sql`d.sub_services_count + d.sub_environments_count > 0`,
  latest_execution: sql`d.latest_execution`,
  latest_execution_status: latestStatus,
  latest_execution_workflow_id: sql`d.latest_workflow_id`,
  latest_execution_total_operations: sql`d.latest_total_operations`,
  latest_execution_finished_operations: sql`d.latest_finished_operations`,
  create_execution: sql`d.create_execution`,
  deployment_groups: sql`array(select g.id from deployment_group_members m join deployment_groups g on g.key = m.group_key
    where m.deployment_key = d.key order by g.id)`,
  drifted_instances: instances(sql`ni.has_configuration_drift`),
  unavailable_instances: instances(sql`not ni.is_status_check_ok`),
};

/** JSON columns of deployment_plans, copied into the answer unchanged. */
const planColumns: Record<string, RawBuilder<unknown>> = {
  inputs: sql`p.inputs`,
  outputs: sql`p.outputs`,
  capabilities: sql`p.capabilities`,
  scaling_groups: sql`p.scaling_groups`,
  resource_tags: sql`p.resource_tags`,
};
const instantColumns = ['created_at', 'updated_at'];

/** Fields that are computed from the node instances, read once for all of them; states as JSON texts, between commas. */
const instanceFields = ['drifted_instances', 'unavailable_instances', 'workflows'];
/** Summary of the instances of the deployment `d`, or of any row that has its `key`. */
const instanceSummary = sql`(
  select count(*) filter (where ni.has_configuration_drift)::int as drifted, count(*) filter (where not ni.is_status_check_ok)::int as unavailable,
    case when count(*) = 0 then ''
      when min(ni.state collate "C") = max(ni.state collate "C") then to_json(min(ni.state collate "C"))::text
      else (select string_agg(distinct to_json(s.state)::text, ',') from node_instances s where s.deployment_key = d.key) end as states
  from node_instances ni where ni.deployment_key = d.key)`;
const instanceSums = sql`cross join lateral ${instanceSummary} i`;

export interface DeploymentSelection {
  /** Besides response fields the pseudo columns model_, node_types_ and states_, where they are needed. */
  columns: Record<string, RawBuilder<unknown>>;
  always: string[];
  /** Joins that the columns need to `deployments d`; they keep one row per deployment. */
  joins: RawBuilder<unknown>;
}

/** Returns `deploymentColumns` and the further columns for `include`. */
export function deploymentSelection(include: string[] | null): DeploymentSelection {
  const isWanted = (field: string): boolean => include === null || include.includes(field);
  const columns: Record<string, RawBuilder<unknown>> = { ...deploymentColumns, labels: sql`${labels}::text` };
  const always: string[] = [];
  const joins: RawBuilder<unknown>[] = [];
  const add = (name: string, column: RawBuilder<unknown>): void => {
    columns[name] = column;
    always.push(name);
  };
  if (planFields.some(isWanted)) {
    joins.push(sql`left join deployment_plans p on p.deployment_key = d.key`);
    for (const [name, column] of Object.entries(planColumns)) columns[name] = sql`${column}::text`;
  }
  if (modelFields.some(isWanted)) add('model_', sql`encode(p.model, 'hex')`);
  if (instanceFields.some(isWanted)) {
    joins.push(instanceSums);
    columns.drifted_instances = sql`i.drifted`;
    columns.unavailable_instances = sql`i.unavailable`;
  }
  if (isWanted('workflows')) {
    add('node_types_', sql`to_json(p.node_types)::text`);
    add('states_', sql`i.states`);
  }
  return { columns, always, joins: sql.join(joins, sql` `) };
}

/** Separators between the parts of a record, and after each record: control characters, which no JSON text contains. */
export const PART_END = '\x1e';
export const RECORD_END = '\x1d';
const partEnd = sql.lit(PART_END);
/** The separator in a list of records, with the comma before the next record. */
export const betweenRecords = sql.lit(`${RECORD_END},`);

/**
 * Selects a deployment as one text over `d`, of which only `key` is needed when all fields are wanted. Its parts: the JSON object
 * without its closing brace and without the fields of the shared document; the distinct states of its node instances; the digest of
 * the model and, after a blank, the types of its nodes.
 */
export function deploymentRecord(include: string[] | null): {
  record: RawBuilder<string>;
  joins: RawBuilder<unknown>;
} {
  if (include === null)
    return {
      record: sql`t.state || ',"drifted_instances":' || i.drifted || ',"unavailable_instances":' || i.unavailable || t.body
        || ${partEnd} || i.states || ${partEnd} || t.shared`,
      joins: sql`cross join lateral (select * from deployment_texts r where r.deployment_key = d.key limit 1) t ${instanceSums}`,
    };
  const { columns, joins } = deploymentSelection(include);
  const texts: Record<string, RawBuilder<unknown>> = { ...columns, ...planColumns, labels };
  const fields = include
    .filter((name) => texts[name] !== undefined)
    .map(
      (name) =>
        sql`${instantColumns.includes(name) ? instant(texts[name]!) : texts[name]} as ${sql.id(name)}`,
    );
  const isShared = modelFields.some((name) => include.includes(name));
  return {
    record: sql`left(row_to_json(f)::text, -1) || ${partEnd} || ${include.includes('workflows') ? sql`i.states` : sql`''`} || ${partEnd}
      || ${isShared ? sql`shared_of(p)` : sql`''`}`,
    joins: sql`${joins} cross join lateral (select ${sql.join(fields)}) f`,
  };
}

/** Whether a record contains any of these fields; fields of the shared document are in no record. */
export const hasRecord = (include: string[] | null): boolean =>
  include === null || include.some((name) => name in deploymentColumns || name in planColumns);

/**
 * Returns the expression for `_sort=label:<key>`: sorts by the values of that label. Deployments without it come last, or first in
 * descending order.
 */
export function deploymentSorts(field: string): RawBuilder<unknown> | undefined {
  if (!field.startsWith('label:')) return undefined;
  const key = field.slice('label:'.length).toLowerCase();
  return sql`(select array_agg(l.value order by l.value) from deployment_labels l where l.deployment_key = d.key and l.key = ${key})`;
}

/** Sorts by columns of other tables: joined once for a list instead of looked up for each of its deployments. */
const SORT_JOINS: Record<string, { join: RawBuilder<unknown>; column: RawBuilder<unknown> }> = {
  site_name: { join: sql`left join sites site_ on site_.key = d.site_key`, column: sql`site_.name` },
  environment_type: {
    join: sql`left join (select l.deployment_key, min(l.value) as value from deployment_labels l
      where l.key = 'csys-env-type' group by 1) type_ on type_.deployment_key = d.key`,
    column: sql`coalesce(type_.value, '')`,
  },
};

/** Returns the joins to `deployments d` that the sorts of a list need, and the columns by which the sorts then order. */
export function sortJoins({ sort }: ListQuery): {
  joins: RawBuilder<unknown>;
  columns: Record<string, RawBuilder<unknown>>;
} {
  const found = sort.map(({ field }) => field).filter((field) => SORT_JOINS[field]);
  return {
    joins:
      found.length === 0
        ? sql``
        : sql.join(
            [...new Set(found)].map((field) => SORT_JOINS[field]!.join),
            sql` `,
          ),
    columns: Object.fromEntries(found.map((field) => [field, SORT_JOINS[field]!.column])),
  };
}

/** Filters that would otherwise hide an index behind an expression, or read another table for each deployment. */
export const deploymentFilterExpressions: Record<string, (values: string[]) => RawBuilder<SqlBool>> = {
  environment_type: (values) => {
    // Never null: deployments without the label have an empty one.
    const some = sql<SqlBool>`d.key in (select l.deployment_key from deployment_labels l where l.key = 'csys-env-type'
      group by 1 having min(l.value) = any(${values}::text[]))`;
    return values.includes('')
      ? sql<SqlBool>`(${some} or d.key not in (select l.deployment_key from deployment_labels l where l.key = 'csys-env-type'))`
      : some;
  },
  deployment_group_id: (values) => {
    const members = sql`select m.deployment_key from deployment_group_members m`;
    return values.length === 0
      ? sql<SqlBool>`d.key not in (${members})`
      : sql<SqlBool>`d.key in (${members} join deployment_groups g on g.key = m.group_key where g.id = any(${values}::text[]))`;
  },
  site_name: (values) =>
    values.length === 0
      ? sql<SqlBool>`d.site_key is null`
      : sql<SqlBool>`d.site_key in (select s.key from sites s where s.name = any(${values}::text[]))`,
};
