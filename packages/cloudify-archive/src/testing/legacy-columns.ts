/** Releases whose tables the generator writes. */
export const RELEASES = ['5.0', '5.2', '6.2', '6.4', '7.0'] as const;
export type Release = (typeof RELEASES)[number];

/**
 * Columns by table, from the models of the original's 5.0.5, 5.2.7, 6.2.0, 6.4.2 and 7.0.0. `name@6.2` is there since 6.2,
 * `name@5.0-5.2` up to 5.2.
 */
const COLUMNS: Readonly<Record<string, string>> = {
  agents: `_storage_id id visibility _tenant_id _creator_id created_at ip name install_method system version
    state rabbitmq_username rabbitmq_password rabbitmq_exchange updated_at _node_instance_fk`,
  audit_log: `created_at@6.2 _storage_id@6.2 ref_table@6.2 ref_id@6.2 operation@6.2 creator_name@6.2
    execution_id@6.2 ref_identifier@7.0`,
  blueprints: `_storage_id id visibility _tenant_id _creator_id created_at main_file_name plan updated_at
    description is_hidden state@5.2 error@5.2 error_traceback@5.2 _upload_execution_fk@6.2
    plan_p@7.0 requirements@7.0`,
  blueprints_filters: `_storage_id@6.2 id@6.2 visibility@6.2 _tenant_id@6.2 _creator_id@6.2 created_at@6.2 value@6.2
    updated_at@6.2 is_system_filter@6.2`,
  blueprints_labels: `created_at@6.2 id@6.2 key@6.2 value@6.2 _creator_id@6.2 _labeled_model_fk@6.2`,
  deployment_groups: `_storage_id@5.2 id@5.2 visibility@5.2 _tenant_id@5.2 _creator_id@5.2 created_at@5.2 description@5.2
    default_inputs@5.2 _default_blueprint_fk@5.2 creation_counter@6.2`,
  deployment_groups_deployments: `deployment_group_id@5.2 deployment_id@5.2`,
  deployment_groups_labels: `created_at@6.2 id@6.2 key@6.2 value@6.2 _creator_id@6.2 _labeled_model_fk@6.2`,
  deployment_modifications: `_storage_id id visibility _tenant_id _creator_id created_at context ended_at modified_nodes
    node_instances status _deployment_fk context_p@7.0 modified_nodes_p@7.0 node_instances_p@7.0`,
  deployment_update_steps: `_storage_id id visibility _tenant_id _creator_id action entity_id entity_type _deployment_update_fk
    topology_order@5.2`,
  deployment_updates: `_storage_id id visibility _tenant_id _creator_id created_at deployment_plan
    deployment_update_node_instances deployment_update_deployment central_plugins_to_uninstall
    central_plugins_to_install deployment_update_nodes modified_entity_ids old_inputs new_inputs
    state runtime_only_evaluation _execution_fk _deployment_fk _old_blueprint_fk _new_blueprint_fk
    keep_old_deployment_dependencies@5.2 deployment_plan_p@7.0
    deployment_update_node_instances_p@7.0 deployment_update_deployment_p@7.0
    central_plugins_to_uninstall_p@7.0 central_plugins_to_install_p@7.0
    deployment_update_nodes_p@7.0 modified_entity_ids_p@7.0 old_inputs_p@7.0 new_inputs_p@7.0`,
  deployments: `_storage_id id visibility _tenant_id _creator_id created_at description inputs groups permalink
    policy_triggers policy_types outputs capabilities scaling_groups updated_at workflows
    runtime_only_evaluation _blueprint_fk _site_fk installation_status@6.2 deployment_status@6.2
    sub_services_status@6.2 sub_environments_status@6.2 sub_services_count@6.2
    sub_environments_count@6.2 display_name@6.2 _create_execution_fk@6.2 _latest_execution_fk@6.2
    resource_tags@6.4 drifted_instances@6.4 unavailable_instances@6.4 inputs_p@7.0 groups_p@7.0
    policy_triggers_p@7.0 policy_types_p@7.0 outputs_p@7.0 capabilities_p@7.0 scaling_groups_p@7.0
    workflows_p@7.0`,
  deployments_filters: `_storage_id@6.2 id@6.2 visibility@6.2 _tenant_id@6.2 _creator_id@6.2 created_at@6.2 value@6.2
    updated_at@6.2 is_system_filter@6.2`,
  deployments_labels: `created_at@5.2 id@5.2 key@5.2 value@5.2 _creator_id@5.2 _deployment_fk@5.2-5.2 _labeled_model_fk@6.2`,
  events: `_storage_id id visibility _tenant_id _creator_id timestamp reported_timestamp message message_code
    event_type operation node_id source_id target_id error_causes _execution_fk
    _execution_group_fk@6.2 manager_name@6.4 agent_name@6.4`,
  execution_groups: `_storage_id@5.2 id@5.2 visibility@5.2 _tenant_id@5.2 _creator_id@5.2 created_at@5.2
    _deployment_group_fk@5.2 workflow_id@5.2 concurrency@6.2 _success_group_fk@6.2
    _failed_group_fk@6.2`,
  execution_groups_executions: `execution_group_id@5.2 execution_id@5.2`,
  execution_schedules: `_storage_id@5.2 id@5.2 visibility@5.2 _tenant_id@5.2 _creator_id@5.2 created_at@5.2
    next_occurrence@5.2 since@5.2 until@5.2 rule@5.2 slip@5.2 workflow_id@5.2 parameters@5.2
    execution_arguments@5.2 stop_on_fail@5.2 enabled@5.2 _deployment_fk@5.2 _latest_execution_fk@5.2`,
  executions: `_storage_id id visibility _tenant_id _creator_id created_at ended_at error is_system_workflow
    parameters status workflow_id started_at scheduled_for is_dry_run token _deployment_fk
    blueprint_id resume@6.2 total_operations@6.2 finished_operations@6.2 allow_custom_parameters@6.2
    parameters_p@7.0`,
  filters: `_storage_id@5.2-5.2 id@5.2-5.2 visibility@5.2-5.2 _tenant_id@5.2-5.2 _creator_id@5.2-5.2
    created_at@5.2-5.2 value@5.2-5.2 updated_at@5.2-5.2`,
  groups: `id name ldap_dn`,
  groups_roles: `group_id role_id`,
  groups_tenants: `group_id tenant_id role_id`,
  inter_deployment_dependencies: `_storage_id@5.2 id@5.2 visibility@5.2 _tenant_id@5.2 _creator_id@5.2 created_at@5.2
    dependency_creator@5.2 _source_deployment@5.2 _target_deployment@5.2 target_deployment_func@5.2
    external_source@5.2 external_target@5.2`,
  logs: `_storage_id id visibility _tenant_id _creator_id timestamp reported_timestamp message message_code
    logger level operation node_id source_id target_id _execution_fk _execution_group_fk@6.2
    manager_name@6.4 agent_name@6.4`,
  node_instances: `_storage_id id visibility _tenant_id _creator_id host_id index relationships runtime_properties
    scaling_groups state version _node_fk system_properties@6.4 has_configuration_drift@6.4
    is_status_check_ok@6.4 relationships_p@7.0 runtime_properties_p@7.0 scaling_groups_p@7.0`,
  nodes: `_storage_id id visibility _tenant_id _creator_id deploy_number_of_instances host_id
    max_number_of_instances min_number_of_instances number_of_instances planned_number_of_instances
    plugins plugins_to_install properties relationships operations type type_hierarchy
    _deployment_fk drifted_instances@6.4 unavailable_instances@6.4 plugins_p@7.0
    plugins_to_install_p@7.0 properties_p@7.0 relationships_p@7.0 operations_p@7.0
    type_hierarchy_p@7.0`,
  operations: `_storage_id id visibility _tenant_id _creator_id name state created_at dependencies type parameters
    _tasks_graph_fk manager_name@6.4 agent_name@6.4`,
  permissions: `id@5.2 role_id@5.2 name@5.2`,
  plugins: `_storage_id id visibility _tenant_id _creator_id archive_name distribution distribution_release
    distribution_version excluded_wheels package_name package_source package_version
    supported_platform supported_py_versions uploaded_at wheels title@5.2 blueprint_labels@6.4
    labels@6.4 resource_tags@6.4 excluded_wheels_p@7.0 supported_platform_p@7.0
    supported_py_versions_p@7.0 wheels_p@7.0`,
  plugins_updates: `_storage_id id visibility _tenant_id _creator_id created_at state deployments_to_update forced
    _original_blueprint_fk _temp_blueprint_fk _execution_fk deployments_per_tenant@6.4
    all_tenants@6.4 deployments_to_update_p@7.0`,
  secrets: `_storage_id id visibility _tenant_id _creator_id created_at value updated_at is_hidden_value
    schema@7.0 _secrets_provider_fk@7.0 provider_options@7.0`,
  secrets_providers: `_storage_id@7.0 id@7.0 visibility@7.0 _tenant_id@7.0 _creator_id@7.0 created_at@7.0 name@7.0
    type@7.0 connection_parameters@7.0 updated_at@7.0`,
  sites: `_storage_id id visibility _tenant_id _creator_id created_at name latitude longitude`,
  tasks_graphs: `_storage_id id visibility _tenant_id _creator_id name created_at _execution_fk`,
  tenants: `id name rabbitmq_vhost rabbitmq_username rabbitmq_password`,
  tokens: `created_at@6.4 id@6.4 secret_hash@6.4 description@6.4 last_used@6.4 expiration_date@6.4 _user_fk@6.4
    _execution_fk@6.4`,
  users: `id username active created_at email first_name last_login_at last_name password
    api_token_key@5.0-6.2 last_failed_login_at failed_logins_counter first_login_at@6.2
    show_getting_started@6.2`,
  users_groups: `user_id group_id`,
  users_roles: `user_id role_id`,
  users_tenants: `user_id tenant_id role_id`,
};

/** Tables of a release with their columns, in the order in which they are written. */
export function columnsOf(release: Release): Map<string, string[]> {
  const tables = new Map<string, string[]>();
  for (const [table, text] of Object.entries(COLUMNS)) {
    const columns = text.split(/\s+/).filter((entry) => isIn(entry, release));
    if (columns.length > 0)
      tables.set(
        table,
        columns.map((entry) => entry.split('@')[0]!),
      );
  }
  return tables;
}

function isIn(entry: string, release: Release): boolean {
  const [, range] = entry.split('@');
  if (range === undefined) return true;
  const [first, last = '7.0'] = range.split('-');
  return first! <= release && release <= last;
}
