import type { RecordType } from '../model/types';

/**
 * How a column is read. `data`: what was pickled up to 6.4 and is JSON from 7.0 on, where the pickle stands in the column `<name>_p`.
 * `json`: JSON in a text. `list`: an array of texts.
 */
export type ColumnKind = 'text' | 'integer' | 'boolean' | 'data' | 'json' | 'list';

export interface TableSpec {
  type: RecordType;
  /** Columns that become the field of the same name. */
  columns: Readonly<Record<string, ColumnKind>>;
  /** Columns that become a field of another name. */
  renamed?: Readonly<Record<string, string>>;
  /** Fields that come from another table: the column with its key, and that table. */
  references?: Readonly<Record<string, readonly [column: string, table: string]>>;
  /** Fields of `references` without which the object is nothing: it is skipped as dangling. */
  required?: readonly string[];
  /** Columns that are known and not needed. */
  dropped?: readonly string[];
}

const text = 'text';
const integer = 'integer';
const boolean = 'boolean';
const data = 'data';
const json = 'json';

/** In all tables of tenants. */
export const COMMON: TableSpec['columns'] = { id: text, visibility: text, created_at: text };
export const COMMON_DROPPED = ['_storage_id', '_tenant_id', '_creator_id'];

const filters: TableSpec = {
  type: 'deployments_filters',
  columns: { value: json, updated_at: text, is_system_filter: boolean },
};
const message = {
  columns: {
    timestamp: text,
    reported_timestamp: text,
    message: text,
    message_code: text,
    operation: text,
    node_id: text,
    source_id: text,
    target_id: text,
    manager_name: text,
    agent_name: text,
  },
  renamed: { node_id: 'node_instance_id' },
  references: {
    execution_id: ['_execution_fk', 'executions'],
    execution_group_id: ['_execution_group_fk', 'execution_groups'],
  },
  dropped: ['id'],
} as const;

/** The tables of tenants whose rows become records. */
export const TENANT_TABLES: Readonly<Record<string, TableSpec>> = {
  sites: { type: 'sites', columns: { name: text, latitude: text, longitude: text }, dropped: ['id'] },
  plugins: {
    type: 'plugins',
    columns: {
      title: text,
      uploaded_at: text,
      package_name: text,
      package_version: text,
      package_source: text,
      archive_name: text,
      distribution: text,
      distribution_release: text,
      distribution_version: text,
      supported_platform: data,
      supported_py_versions: data,
      wheels: data,
      excluded_wheels: data,
      blueprint_labels: json,
      labels: json,
      resource_tags: json,
    },
  },
  secrets_providers: {
    type: 'secrets_providers',
    columns: { name: text, type: text, connection_parameters: text, updated_at: text },
    dropped: ['id'],
  },
  secrets: {
    type: 'secrets',
    columns: {
      value: text,
      is_hidden_value: boolean,
      updated_at: text,
      schema: json,
      provider_options: text,
    },
    renamed: { id: 'key' },
    references: { provider_name: ['_secrets_provider_fk', 'secrets_providers'] },
  },
  blueprints: {
    type: 'blueprints',
    columns: {
      main_file_name: text,
      plan: data,
      updated_at: text,
      description: text,
      is_hidden: boolean,
      state: text,
      error: text,
      error_traceback: text,
      requirements: json,
    },
    dropped: ['_upload_execution_fk'],
  },
  deployments: {
    type: 'deployments',
    columns: {
      description: text,
      display_name: text,
      inputs: data,
      groups: data,
      policy_triggers: data,
      policy_types: data,
      outputs: data,
      capabilities: data,
      scaling_groups: data,
      workflows: data,
      updated_at: text,
      runtime_only_evaluation: boolean,
      installation_status: text,
      deployment_status: text,
      sub_services_status: text,
      sub_environments_status: text,
      sub_services_count: integer,
      sub_environments_count: integer,
      resource_tags: json,
    },
    references: { blueprint_id: ['_blueprint_fk', 'blueprints'], site_name: ['_site_fk', 'sites'] },
    dropped: [
      'permalink',
      'drifted_instances',
      'unavailable_instances',
      '_create_execution_fk',
      '_latest_execution_fk',
    ],
  },
  deployment_groups: {
    type: 'deployment_groups',
    columns: { description: text, default_inputs: json, creation_counter: integer },
    references: { default_blueprint_id: ['_default_blueprint_fk', 'blueprints'] },
  },
  nodes: {
    type: 'nodes',
    columns: {
      deploy_number_of_instances: integer,
      host_id: text,
      max_number_of_instances: integer,
      min_number_of_instances: integer,
      number_of_instances: integer,
      planned_number_of_instances: integer,
      plugins: data,
      plugins_to_install: data,
      properties: data,
      relationships: data,
      operations: data,
      type: text,
      type_hierarchy: data,
    },
    references: { deployment_id: ['_deployment_fk', 'deployments'] },
    required: ['deployment_id'],
    dropped: ['drifted_instances', 'unavailable_instances'],
  },
  node_instances: {
    type: 'node_instances',
    columns: {
      host_id: text,
      index: integer,
      relationships: data,
      runtime_properties: data,
      scaling_groups: data,
      state: text,
      version: integer,
      system_properties: json,
      has_configuration_drift: boolean,
      is_status_check_ok: boolean,
    },
    references: { node_id: ['_node_fk', 'nodes'] },
    required: ['node_id'],
  },
  agents: {
    type: 'agents',
    columns: {
      ip: text,
      name: text,
      install_method: text,
      system: text,
      version: text,
      state: text,
      updated_at: text,
    },
    renamed: { name: 'id' },
    references: { node_instance_id: ['_node_instance_fk', 'node_instances'] },
    dropped: ['id', 'rabbitmq_username', 'rabbitmq_password', 'rabbitmq_exchange'],
  },
  inter_deployment_dependencies: {
    type: 'inter_deployment_dependencies',
    columns: {
      dependency_creator: text,
      target_deployment_func: json,
      external_source: json,
      external_target: json,
    },
    references: {
      source_deployment_id: ['_source_deployment', 'deployments'],
      target_deployment_id: ['_target_deployment', 'deployments'],
    },
  },
  executions: {
    type: 'executions',
    columns: {
      ended_at: text,
      error: text,
      is_system_workflow: boolean,
      parameters: data,
      status: text,
      workflow_id: text,
      started_at: text,
      scheduled_for: text,
      is_dry_run: boolean,
      blueprint_id: text,
      resume: boolean,
      total_operations: integer,
      finished_operations: integer,
      allow_custom_parameters: boolean,
    },
    references: { deployment_id: ['_deployment_fk', 'deployments'] },
    dropped: ['token', 'execution_group_id'],
  },
  execution_groups: {
    type: 'execution_groups',
    columns: { workflow_id: text, concurrency: integer },
    references: {
      deployment_group_id: ['_deployment_group_fk', 'deployment_groups'],
      success_group_id: ['_success_group_fk', 'deployment_groups'],
      failure_group_id: ['_failed_group_fk', 'deployment_groups'],
    },
  },
  events: {
    type: 'events',
    ...message,
    columns: { ...message.columns, event_type: text, error_causes: json },
  },
  logs: { type: 'events', ...message, columns: { ...message.columns, logger: text, level: text } },
  deployment_updates: {
    type: 'deployment_updates',
    columns: {
      deployment_plan: data,
      deployment_update_node_instances: data,
      deployment_update_deployment: data,
      central_plugins_to_uninstall: data,
      central_plugins_to_install: data,
      deployment_update_nodes: data,
      modified_entity_ids: data,
      old_inputs: data,
      new_inputs: data,
      state: text,
      runtime_only_evaluation: boolean,
      keep_old_deployment_dependencies: boolean,
    },
    references: {
      deployment_id: ['_deployment_fk', 'deployments'],
      execution_id: ['_execution_fk', 'executions'],
      old_blueprint_id: ['_old_blueprint_fk', 'blueprints'],
      new_blueprint_id: ['_new_blueprint_fk', 'blueprints'],
    },
  },
  plugins_updates: {
    type: 'plugins_update',
    columns: {
      state: text,
      deployments_to_update: data,
      forced: boolean,
      deployments_per_tenant: json,
      all_tenants: boolean,
    },
    references: {
      blueprint_id: ['_original_blueprint_fk', 'blueprints'],
      temp_blueprint_id: ['_temp_blueprint_fk', 'blueprints'],
      execution_id: ['_execution_fk', 'executions'],
    },
  },
  // Up to 5.2 the only filters, those of deployments.
  filters,
  deployments_filters: filters,
  blueprints_filters: { ...filters, type: 'blueprints_filters' },
  tasks_graphs: {
    type: 'tasks_graphs',
    columns: { name: text },
    references: { execution_id: ['_execution_fk', 'executions'] },
  },
  execution_schedules: {
    type: 'execution_schedules',
    columns: {
      next_occurrence: text,
      since: text,
      until: text,
      rule: json,
      slip: integer,
      workflow_id: text,
      parameters: json,
      execution_arguments: json,
      stop_on_fail: boolean,
      enabled: boolean,
    },
    references: {
      deployment_id: ['_deployment_fk', 'deployments'],
      latest_execution_id: ['_latest_execution_fk', 'executions'],
    },
  },
  deployment_modifications: {
    type: 'deployment_modifications',
    columns: { context: data, ended_at: text, modified_nodes: data, node_instances: data, status: text },
    references: { deployment_id: ['_deployment_fk', 'deployments'] },
  },
};

/** Tables of rows that belong to one object: the columns that may hold its key. */
export const CHILD_TABLES: Readonly<Record<string, readonly string[]>> = {
  operations: ['_tasks_graph_fk'],
  deployment_update_steps: ['_deployment_update_fk'],
  deployments_labels: ['_labeled_model_fk', '_deployment_fk'],
  blueprints_labels: ['_labeled_model_fk'],
  deployment_groups_labels: ['_labeled_model_fk'],
};

/** Tables that only join others: their columns of numbers. */
export const JOIN_TABLES: Readonly<Record<string, readonly string[]>> = {
  users_roles: ['user_id', 'role_id'],
  users_groups: ['user_id', 'group_id'],
  users_tenants: ['user_id', 'tenant_id', 'role_id'],
  groups_roles: ['group_id', 'role_id'],
  groups_tenants: ['group_id', 'tenant_id', 'role_id'],
  deployment_groups_deployments: ['deployment_group_id', 'deployment_id'],
  execution_groups_executions: ['execution_group_id', 'execution_id'],
};

/** Tables that others refer to: the column of the key, and that of the name or id that a record carries. */
export const NAMED_TABLES: Readonly<Record<string, readonly [key: string, name: string]>> = {
  tenants: ['id', 'name'],
  users: ['id', 'username'],
  groups: ['id', 'name'],
  sites: ['_storage_id', 'name'],
  secrets_providers: ['_storage_id', 'name'],
  blueprints: ['_storage_id', 'id'],
  deployments: ['_storage_id', 'id'],
  deployment_groups: ['_storage_id', 'id'],
  nodes: ['_storage_id', 'id'],
  node_instances: ['_storage_id', 'id'],
  executions: ['_storage_id', 'id'],
  execution_groups: ['_storage_id', 'id'],
};

/** Objects that belong to another by a key that their own children need: node instances need the deployment of their node. */
export const OWNED_TABLES: Readonly<Record<string, string>> = {
  nodes: '_deployment_fk',
  node_instances: '_node_fk',
};

export const MANAGER_TABLES = ['tenants', 'users', 'groups', 'permissions'] as const;
