/** How the records of an archive look in the answers of a manager. */
import type { ArchiveRecord, RecordType } from '@baton/cloudify-archive';
import type { Item } from './expected';

interface Shown {
  /** Kind of object in `kinds.ts`. */
  what: string;
  /** Fields that answers have under the same name. */
  fields: readonly string[];
  /** Fields that answers spell in another way. */
  also?: (item: Item) => Item;
}

const OWNED = ['visibility', 'created_by', 'created_at'];
const sameFields = (what: string, ...fields: string[]): Shown => ({ what, fields: [...OWNED, ...fields] });

const DEPLOYMENT = [
  'id',
  'blueprint_id',
  'display_name',
  'description',
  'inputs',
  'groups',
  'policy_triggers',
  'policy_types',
  'outputs',
  'capabilities',
  'scaling_groups',
  'runtime_only_evaluation',
  'resource_tags',
  'labels',
  'installation_status',
  'deployment_status',
  'sub_services_status',
  'sub_environments_status',
  'sub_services_count',
  'sub_environments_count',
];
const NODE = [
  'deployment_id',
  'id',
  'visibility',
  'created_by',
  'host_id',
  'type',
  'type_hierarchy',
  'deploy_number_of_instances',
  'planned_number_of_instances',
  'number_of_instances',
  'min_number_of_instances',
  'max_number_of_instances',
  'plugins',
  'plugins_to_install',
  'properties',
  'relationships',
  'operations',
];
const INSTANCE = [
  'deployment_id',
  'node_id',
  'id',
  'visibility',
  'created_by',
  'host_id',
  'index',
  'state',
  'version',
  'relationships',
  'runtime_properties',
  'system_properties',
  'scaling_groups',
  'has_configuration_drift',
  'is_status_check_ok',
];
const EXECUTION = [
  'id',
  'deployment_id',
  'blueprint_id',
  'workflow_id',
  'status',
  'parameters',
  'error',
  'is_system_workflow',
  'is_dry_run',
  'allow_custom_parameters',
  'started_at',
  'ended_at',
  'scheduled_for',
];
const SCHEDULE = [
  'id',
  'deployment_id',
  'workflow_id',
  'parameters',
  'execution_arguments',
  'since',
  'until',
  'rule',
  'slip',
  'stop_on_fail',
  'enabled',
];
const filters = (what: string): Shown => sameFields(what, 'id', 'value');

/** Types that answers show. What is not here: `UNSHOWN`. */
export const SHOWN: Partial<Record<RecordType, Shown>> = {
  tenants: { what: 'tenants', fields: ['name'] },
  users: {
    what: 'users',
    fields: ['username', 'role'],
    also: ({ is_active, groups }) => ({ active: is_active, groups }),
  },
  user_groups: { what: 'user_groups', fields: ['name', 'ldap_dn', 'role'] },
  sites: sameFields('sites', 'name', 'location'),
  plugins: {
    what: 'plugins',
    fields: ['visibility', 'created_by', 'id', 'title', 'package_name', 'package_version', 'uploaded_at'],
  },
  secrets_providers: sameFields('secrets_providers', 'name', 'type'),
  secrets: sameFields('secrets', 'key', 'is_hidden_value', 'provider_name'),
  blueprints: sameFields('blueprints', 'id', 'main_file_name', 'description', 'state', 'error', 'labels'),
  deployments: sameFields('deployments', ...DEPLOYMENT),
  deployment_groups: sameFields(
    'deployment_groups',
    'id',
    'description',
    'default_inputs',
    'default_blueprint_id',
    'deployment_ids',
    'labels',
  ),
  nodes: { what: 'nodes', fields: NODE },
  node_instances: { what: 'node_instances', fields: INSTANCE },
  agents: { what: 'agents', fields: ['id', 'ip', 'install_method', 'system', 'version', 'state'] },
  inter_deployment_dependencies: sameFields(
    'inter_deployment_dependencies',
    'id',
    'dependency_creator',
    'source_deployment_id',
    'target_deployment_id',
    'target_deployment_func',
    'external_source',
    'external_target',
  ),
  executions: sameFields('executions', ...EXECUTION),
  execution_groups: sameFields('execution_groups', 'id', 'workflow_id', 'deployment_group_id', 'concurrency'),
  execution_schedules: sameFields('execution_schedules', ...SCHEDULE),
  deployment_updates: sameFields(
    'deployment_updates',
    'id',
    'deployment_id',
    'execution_id',
    'old_blueprint_id',
    'new_blueprint_id',
    'state',
    'old_inputs',
    'new_inputs',
  ),
  plugins_update: sameFields('plugins_updates', 'id', 'blueprint_id', 'state'),
  deployment_modifications: sameFields(
    'deployment_modifications',
    'id',
    'deployment_id',
    'status',
    'ended_at',
    'modified_nodes',
  ),
  deployments_filters: filters('deployment_filters'),
  blueprints_filters: filters('blueprint_filters'),
};

/** Types that no list shows, with what stands for them. */
export const UNSHOWN: Partial<Record<RecordType, string>> = {
  permissions: 'Permissions of roles: the report of the import compares them.',
  events: 'Events and log lines: their number is compared, tenant by tenant.',
  tasks_graphs: 'Graphs of tasks: kept for reading, one execution at a time, and never run.',
};

/** The item of a record as an answer would show it. */
export function shownItem({ fields, also }: Shown, { item }: ArchiveRecord): Item {
  const all = item as unknown as Item;
  return plain({ ...Object.fromEntries(fields.map((name) => [name, all[name]])), ...also?.(all) }) as Item;
}

/** Numbers beyond 2^53 as answers give them: JSON of a client rounds them, and the report of the import names them. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return null;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
}
