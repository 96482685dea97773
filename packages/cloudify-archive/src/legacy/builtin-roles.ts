/**
 * Permissions of the roles that every manager has, as 7.1 writes them. By letters of the roles that have them: A sys_admin, M manager,
 * O operations, U user, V viewer, D default.
 */
const PERMISSIONS: Readonly<Record<string, string>> = {
  A: `agent_replace_certs all_tenants audit_log_inject audit_log_truncate audit_log_view
    broker_credentials broker_manage cluster_node_config_update community_contact_create
    create_global_resource get_password_hash getting_started inject_token ldap_set license_remove
    license_upload log_bundle_create log_bundle_delete log_bundle_download log_bundle_get
    log_bundle_list log_bundle_status_update maintenance_mode_set manage_others_tokens
    manager_manage monitoring resource_set_global secrets_provider_credentials set_execution_details
    set_execution_group_details set_owner set_plugin_update_details set_timestamp snapshot_create
    snapshot_delete snapshot_download snapshot_get snapshot_list snapshot_restore
    snapshot_status_update snapshot_upload stage_configure stage_install_widgets
    stage_maintenance_mode stage_services_status stage_template_management tenant_add_group
    tenant_add_user tenant_create tenant_delete tenant_list_get_data tenant_remove_group
    tenant_remove_user tenant_update_group tenant_update_user user_create user_delete user_get
    user_group_add_user user_group_create user_group_delete user_group_get user_group_list
    user_group_remove_user user_group_update user_list user_set_activated user_token user_unlock
    user_update widget_custom_sys_admin widget_highAvailability widget_maintenanceModeButton
    widget_snapshots widget_tenants widget_userGroups widget_userManagement`,
  AM: `administrators execute_global_workflow manager_config_put widget_custom_admin`,
  AMOUV: `agent_get agent_list blueprint_download blueprint_get blueprint_list cluster_status_get
    deployment_capabilities deployment_get deployment_group_get deployment_group_list
    deployment_list deployment_modification_get deployment_modification_list
    deployment_modification_outputs deployment_update_get deployment_update_list event_list
    execution_get execution_group_get execution_group_list execution_list execution_schedule_get
    execution_schedule_list execution_should_start file_server_auth filter_get filter_list
    inter_deployment_dependency_get inter_deployment_dependency_list labels_list manager_get
    node_instance_get node_instance_list node_list operations plugin_download plugin_get plugin_list
    plugins_update_get plugins_update_list secret_get secret_list secrets_provider_get
    secrets_provider_list site_get site_list widget_agents widget_blueprintCatalog
    widget_blueprintInfo widget_blueprintNum widget_blueprintSources widget_blueprints
    widget_buttonLink widget_cloudNum widget_custom_all widget_deploymentInfo widget_deploymentNum
    widget_deployments widget_deploymentsView widget_events widget_eventsFilter widget_executionLogs
    widget_executionNum widget_executions widget_executionsStatus widget_filter widget_filters
    widget_inputs widget_labels widget_nodes widget_nodesComputeNum widget_nodesStats widget_outputs
    widget_plugins widget_pluginsNum widget_secrets widget_serversNum widget_sites widget_sitesMap
    widget_text widget_tokens widget_topology`,
  AMOU: `agent_create agent_update deployment_create deployment_delete deployment_group_create
    deployment_group_delete deployment_group_update deployment_modification_finish
    deployment_modification_rollback deployment_modify deployment_set_site deployment_set_visibility
    deployment_update deployment_update_create deployment_update_update event_create event_delete
    execution_cancel execution_delete execution_group_cancel execution_group_create
    execution_group_update execution_schedule_create execution_start execution_status_update
    filter_create filter_delete filter_update functions_evaluate inter_deployment_dependency_create
    inter_deployment_dependency_delete inter_deployment_dependency_update node_delete
    node_instance_delete node_instance_update node_update plugins_update_create stage_edit_mode
    tenant_get tenant_rabbitmq_credentials widget_blueprintActionButtons
    widget_deploymentActionButtons widget_deploymentButton widget_environmentButton
    widget_onlyMyResources widget_secretProviders`,
  AMU: `blueprint_delete blueprint_upload plugin_delete plugin_upload resource_set_visibility secret_create
    secret_delete secret_export secret_import secret_update secrets_provider_create
    secrets_provider_delete secrets_provider_update site_create site_delete site_update
    widget_blueprintUploadButton widget_cloudButton widget_composerLink widget_pluginUploadButton
    widget_pluginsCatalog widget_serviceButton`,
  AMOUVD: `broker_get db_nodes_get identity_provider_get ldap_status_get license_list maintenance_mode_get
    manager_config_get provider_context_create provider_context_get status_get tenant_list token_get
    user_get_self version_get`,
  AMUVD: `create_token delete_token list_token`,
};

const LETTERS: Readonly<Record<string, string>> = {
  sys_admin: 'A',
  manager: 'M',
  operations: 'O',
  user: 'U',
  viewer: 'V',
  default: 'D',
};

/** Names of the permissions of a role that every manager has, by the name of the role. */
export const BUILTIN_ROLES: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(LETTERS).map(([role, letter]) => [
    role,
    new Set(
      Object.entries(PERMISSIONS).flatMap(([letters, names]) =>
        letters.includes(letter) ? names.split(/\s+/) : [],
      ),
    ),
  ]),
);
