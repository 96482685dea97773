import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** Response fields of deployments over `deployments d`; queries/present-deployment.ts puts the rest together. */

/** Stand in deployment_plans or its shared document; read as one value, only when one of them is asked for. */
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
/** Of these, what stands in the shared document. */
export const modelFields = ['groups', 'policy_types', 'policy_triggers', 'workflows'];

export const siteName = sql`(select s.name from sites s where s.key = d.site_key)`;
const environmentType = sql`coalesce((select l.value from deployment_labels l where l.deployment_key = d.key and l.key = 'csys-env-type' order by l.value limit 1), '')`;
const latestStatus = sql`case
  when d.latest_status is null or d.latest_status = 'scheduled' then null
  when d.latest_status = 'terminated' then 'completed'
  when d.latest_status in ('failed', 'cancelled') then d.latest_status
  else 'in_progress' end`;
const labels = sql`(
  select coalesce(json_agg(json_build_object('key', l.key, 'value', l.value,
    'created_at', to_char(date_trunc('milliseconds', l.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'creator_id', l.creator_id, 'created_by', l.created_by) order by l.key, l.value), '[]')
  from deployment_labels l where l.deployment_key = d.key)`;
const instances = (condition: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select count(*)::int from node_instances ni where ni.deployment_key = d.key and ${condition})`;

export const deploymentColumns: Record<string, RawBuilder<unknown>> = {
  id: sql`d.id`,
  created_at: sql`d.created_at`,
  updated_at: sql`d.updated_at`,
  created_by: sql`d.created_by`,
  tenant_name: sql`d.tenant`,
  visibility: sql`d.visibility`,
  private_resource: sql`d.visibility = 'private'`,
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
  drifted_instances: instances(sql`ni.has_configuration_drift`),
  unavailable_instances: instances(sql`not ni.is_status_check_ok`),
};

const planValue = (fields: readonly string[]): RawBuilder<unknown> => {
  const members: Record<string, RawBuilder<unknown>> = {
    inputs: sql`'inputs', p.inputs`,
    outputs: sql`'outputs', p.outputs`,
    capabilities: sql`'capabilities', p.capabilities`,
    scaling_groups: sql`'scaling_groups', p.scaling_groups`,
    resource_tags: sql`'resource_tags', p.resource_tags`,
  };
  const chosen = fields.map((field) => members[field]).filter((member) => member !== undefined);
  if (fields.some((field) => modelFields.includes(field))) chosen.push(sql`'model', encode(p.model, 'hex')`);
  if (fields.includes('workflows')) chosen.push(sql`'node_types', p.node_types`);
  return sql`(select json_build_object(${sql.join(chosen)}) from deployment_plans p where p.deployment_key = d.key)`;
};

/** `deploymentColumns` and, when `include` asks for them, the pseudo columns plan_ and states_. */
export function deploymentSelection(include: string[] | null): {
  columns: Record<string, RawBuilder<unknown>>;
  always: string[];
} {
  const wanted = planFields.filter((field) => include === null || include.includes(field));
  const columns = { ...deploymentColumns };
  const always: string[] = [];
  if (wanted.length > 0) {
    columns.plan_ = planValue(wanted);
    always.push('plan_');
  }
  if (wanted.includes('workflows')) {
    columns.states_ = sql`array(select distinct ni.state from node_instances ni where ni.deployment_key = d.key)`;
    always.push('states_');
  }
  return { columns, always };
}

/** `_sort=label:<key>`: by the values of that label. */
export function deploymentSorts(field: string): RawBuilder<unknown> | undefined {
  if (!field.startsWith('label:')) return undefined;
  const key = field.slice('label:'.length).toLowerCase();
  return sql`array(select l.value from deployment_labels l where l.deployment_key = d.key and l.key = ${key} order by l.value)`;
}

/** Filters that would otherwise hide an index behind an expression. */
export const deploymentFilterExpressions: Record<string, (values: string[]) => RawBuilder<SqlBool>> = {
  site_name: (values) =>
    values.length === 0
      ? sql<SqlBool>`d.site_key is null`
      : sql<SqlBool>`d.site_key in (select s.key from sites s where s.name = any(${values}::text[]))`,
};
