/** Fields of each resource according to the specification; document and chapter are named beside it. */
const list = (text: string): string[] => text.split(/\s+/).filter((name) => name !== '');

const owned = 'tenant_name created_by private_resource visibility';
export const specFields = {
  // v3.1 part 1
  Agent: list('id host_id ip install_method system version node deployment'),
  Blueprint: list(`id description main_file_name plan created_at updated_at labels ${owned}`),
  Manager:
    list(`id hostname private_ip public_ip version edition distribution distro_release fs_sync_node_id networks
    ca_cert_content`),
  ClusterStatus: list('status services'),
  Deployment:
    list(`id blueprint_id created_at updated_at created_by description groups inputs outputs capabilities
    site_name policy_triggers policy_types tenant_name workflows labels latest_execution_status installation_status
    deployment_status sub_services_status sub_environments_status sub_services_count sub_environments_count
    environment_type latest_execution_total_operations latest_execution_finished_operations permalink
    private_resource visibility`),
  DeploymentInList: list(`id blueprint_id created_at updated_at created_by description groups inputs outputs
    capabilities site_name policy_triggers policy_types tenant_name labels latest_execution_status
    installation_status deployment_status`),
  Outputs: list('deployment_id outputs'),
  Capabilities: list('deployment_id capabilities'),
  DeploymentUpdate:
    list(`id deployment_id old_blueprint_id new_blueprint_id old_inputs new_inputs state tenant_name
    created_at created_by execution_id private_resource visibility resource_availability deployment_update_nodes
    deployment_update_node_instances modified_entity_ids steps deployment_plan deployment_update_deployment
    central_plugins_to_install central_plugins_to_uninstall`),
  Dependency:
    list(`id dependency_creator source_deployment_id target_deployment_id created_at resource_availability
    ${owned}`),
  // v3.1 part 2
  Event: list(`type event_type error_causes message blueprint_id deployment_id execution_id workflow_id
    node_instance_id node_name operation reported_timestamp timestamp`),
  Schedule: list(
    `id deployment_id workflow_id parameters created_at next_occurrence since until stop_on_fail enabled`,
  ),
  Execution: list(`id workflow_id blueprint_id deployment_id deployment_display_name status error parameters
    is_system_workflow created_at started_at ended_at scheduled_for created_by tenant_name`),
  Filter: list(
    `id value labels_filter_rules attrs_filter_rules created_at updated_at resource_availability ${owned}`,
  ),
  License: list('id customer_id expiration_date license_edition trial cloudify_version capabilities expired'),
  Status: list('status services'),
  Version: list('date commit version build edition'),
  NodeInstance:
    list(`id node_id deployment_id host_id runtime_properties relationships state version scaling_groups
    created_by tenant_name`),
  Node: list(`id deployment_id blueprint_id type type_hierarchy host_id properties operations plugins
    plugins_to_install relationships tenant_name number_of_instances planned_number_of_instances
    actual_number_of_instances actual_planned_number_of_instances deploy_number_of_instances
    min_number_of_instances max_number_of_instances`),
  Operation: list('id name state dependencies type parameters tasks_graph'),
  Plugin:
    list(`id archive_name package_name package_source package_version supported_platform supported_py_versions
    distribution distribution_version distribution_release wheels excluded_wheels title uploaded_at tenant_name
    created_by private_resource visibility`),
  PluginsUpdate:
    list(`id state blueprint_id temp_blueprint_id execution_id deployments_to_update forced created_at
    resource_availability ${owned}`),
  Secret: list(
    `key value visibility is_hidden_value created_at updated_at created_by tenant_name private_resource`,
  ),
  SecretInList: list(
    'key visibility is_hidden_value created_at updated_at created_by tenant_name private_resource',
  ),
  ExportedSecret: list('key value visibility is_hidden_value encrypted'),
  Site: list('name location visibility tenant_name created_at created_by'),
  Snapshot: list('id created_at status error'),
  Summary: list('tenant_name blueprints'),
  SnapshotStatus: list('status'),
  Import: list('colliding_secrets secrets_errors'),
  // v2.1
  BlueprintV21: list('id description main_file_name plan created_at updated_at'),
  DeploymentV21:
    list(`id blueprint_id created_at updated_at workflows inputs policy_types policy_triggers groups
    outputs`),
  ExecutionV21: list(`id workflow_id blueprint_id deployment_id status error created_at parameters
    is_system_workflow`),
  NodeInstanceV21:
    list(`id node_id deployment_id host_id runtime_properties relationships scaling_groups state
    version`),
  NodeV21:
    list(`id deployment_id blueprint_id type type_hierarchy number_of_instances planned_number_of_instances
    deploy_number_of_instances host_id properties operations plugins plugins_to_install relationships`),
  PluginV21: list(`id package_name archive_name package_source package_version supported_platform distribution
    distribution_version distribution_release wheels excluded_wheels supported_py_versions uploaded_at`),
  EventV21: list('event_type type timestamp @timestamp context message'),
  StatusV21: list('status services'),
  VersionV21: list('date commit version build'),
  TokenV21: list('value'),
} as const satisfies Record<string, readonly string[]>;

export type SpecResource = keyof typeof specFields;
