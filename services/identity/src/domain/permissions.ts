/**
 * The permission table that a new manager starts with (reference/rest-api.md 2.5): 248 names with the roles that hold them,
 * names and roles in the order in which the original lists them. It is seeded to the database once; from then on PUT and DELETE
 * /permissions edit the rows there.
 */

const holders = {
  ADMIN: ['sys_admin'],
  MANAGERS: ['sys_admin', 'manager'],
  AUTHORS: ['sys_admin', 'user', 'manager'],
  OPERATORS: ['sys_admin', 'user', 'operations', 'manager'],
  MEMBERS: ['sys_admin', 'manager', 'operations', 'user', 'viewer'],
  PEOPLE: ['sys_admin', 'manager', 'user', 'default', 'viewer'],
  EVERYBODY: ['sys_admin', 'manager', 'default', 'operations', 'user', 'viewer'],
} as const;

/** Lines of a holder, a colon and permission names; a holder may occur in several lines. */
const table = `
  ADMIN: all_tenants
  MANAGERS: administrators
  ADMIN: create_global_resource getting_started
  MEMBERS: agent_list
  OPERATORS: agent_create agent_update
  MEMBERS: agent_get
  ADMIN: agent_replace_certs
  MEMBERS: blueprint_get blueprint_download blueprint_list
  AUTHORS: blueprint_upload blueprint_delete
  MEMBERS: cluster_status_get
  ADMIN: cluster_node_config_update
  MEMBERS: deployment_get deployment_list
  OPERATORS: deployment_create deployment_delete deployment_update deployment_modify
    deployment_set_site
  MEMBERS: deployment_modification_get deployment_modification_list
  OPERATORS: deployment_modification_finish deployment_modification_rollback
  MEMBERS: deployment_modification_outputs deployment_capabilities deployment_update_get
    deployment_update_list
  OPERATORS: deployment_update_create deployment_update_update
  MEMBERS: deployment_group_list deployment_group_get
  OPERATORS: deployment_group_create deployment_group_update deployment_group_delete event_create
  MEMBERS: event_list
  OPERATORS: event_delete
  MANAGERS: execute_global_workflow
  MEMBERS: execution_get execution_list
  OPERATORS: execution_start execution_cancel execution_status_update
  MEMBERS: execution_schedule_get execution_schedule_list
  OPERATORS: execution_schedule_create
  MEMBERS: execution_group_list execution_group_get
  OPERATORS: execution_group_create execution_group_cancel execution_group_update
  ADMIN: set_execution_group_details
  MEMBERS: file_server_auth
  OPERATORS: functions_evaluate
  ADMIN: ldap_set
  EVERYBODY: ldap_status_get maintenance_mode_get
  ADMIN: maintenance_mode_set
  EVERYBODY: manager_config_get
  MANAGERS: manager_config_put
  MEMBERS: manager_get
  ADMIN: manager_manage monitoring
  EVERYBODY: broker_get
  ADMIN: broker_manage broker_credentials
  EVERYBODY: db_nodes_get
  MEMBERS: node_list
  OPERATORS: node_update node_delete
  MEMBERS: node_instance_get node_instance_list
  OPERATORS: node_instance_update node_instance_delete
  MEMBERS: operations plugin_get plugin_list
  AUTHORS: plugin_upload
  MEMBERS: plugin_download
  AUTHORS: plugin_delete
  MEMBERS: plugins_update_get plugins_update_list
  OPERATORS: plugins_update_create
  EVERYBODY: provider_context_get provider_context_create
  MEMBERS: secret_get
  AUTHORS: secret_create secret_update secret_delete
  MEMBERS: secret_list
  AUTHORS: secret_export secret_import
  EVERYBODY: status_get
  MEMBERS: site_get
  AUTHORS: site_create site_update site_delete
  MEMBERS: site_list
  OPERATORS: tenant_rabbitmq_credentials tenant_get
  EVERYBODY: tenant_list
  ADMIN: tenant_list_get_data tenant_create tenant_delete tenant_add_user tenant_update_user
    tenant_remove_user tenant_add_group tenant_update_group tenant_remove_group
  EVERYBODY: token_get
  ADMIN: user_get
  EVERYBODY: user_get_self
  ADMIN: user_list user_create user_delete user_update user_set_activated user_unlock user_group_get
    user_group_list user_group_create user_group_delete user_group_update user_group_add_user
    user_group_remove_user
  EVERYBODY: version_get
  ADMIN: snapshot_get snapshot_list snapshot_create snapshot_delete snapshot_upload
    snapshot_download snapshot_status_update snapshot_restore resource_set_global
  AUTHORS: resource_set_visibility
  OPERATORS: deployment_set_visibility inter_deployment_dependency_create
    inter_deployment_dependency_update inter_deployment_dependency_delete
  MEMBERS: inter_deployment_dependency_get inter_deployment_dependency_list labels_list
  OPERATORS: filter_create
  MEMBERS: filter_list filter_get
  OPERATORS: filter_update filter_delete
  ADMIN: stage_services_status
  OPERATORS: stage_edit_mode
  ADMIN: stage_maintenance_mode stage_configure stage_template_management stage_install_widgets
  MANAGERS: widget_custom_admin
  ADMIN: widget_custom_sys_admin
  MEMBERS: widget_custom_all widget_agents widget_blueprintCatalog
  OPERATORS: widget_blueprintActionButtons
  MEMBERS: widget_blueprintInfo widget_blueprints widget_blueprintSources widget_blueprintNum
  AUTHORS: widget_blueprintUploadButton
  MEMBERS: widget_buttonLink
  AUTHORS: widget_composerLink widget_cloudButton
  MEMBERS: widget_cloudNum
  OPERATORS: widget_deploymentActionButtons widget_deploymentButton
  MEMBERS: widget_deploymentInfo widget_deploymentNum widget_deployments widget_deploymentsView
  OPERATORS: widget_environmentButton
  MEMBERS: widget_events widget_eventsFilter widget_executionLogs widget_executionNum
    widget_executions widget_executionsStatus widget_filter widget_filters
  ADMIN: widget_highAvailability
  MEMBERS: widget_inputs widget_labels
  ADMIN: widget_maintenanceModeButton
  MEMBERS: widget_nodes widget_nodesComputeNum widget_nodesStats
  OPERATORS: widget_onlyMyResources
  MEMBERS: widget_outputs widget_plugins
  AUTHORS: widget_pluginsCatalog
  MEMBERS: widget_pluginsNum
  AUTHORS: widget_pluginUploadButton
  OPERATORS: widget_secretProviders
  MEMBERS: widget_secrets widget_serversNum
  AUTHORS: widget_serviceButton
  MEMBERS: widget_sites widget_sitesMap
  ADMIN: widget_snapshots widget_tenants
  MEMBERS: widget_text widget_tokens widget_topology
  ADMIN: widget_userGroups widget_userManagement user_token
  OPERATORS: execution_delete
  MEMBERS: execution_should_start
  ADMIN: license_upload license_remove
  EVERYBODY: license_list
  ADMIN: get_password_hash set_timestamp set_owner set_execution_details audit_log_view
    audit_log_truncate audit_log_inject set_plugin_update_details
  EVERYBODY: identity_provider_get
  ADMIN: community_contact_create
  PEOPLE: create_token delete_token list_token
  ADMIN: manage_others_tokens inject_token log_bundle_list log_bundle_get log_bundle_create
    log_bundle_delete log_bundle_status_update log_bundle_download secrets_provider_credentials
  MEMBERS: secrets_provider_list
  AUTHORS: secrets_provider_create
  MEMBERS: secrets_provider_get
  AUTHORS: secrets_provider_update secrets_provider_delete
`;

export interface PermissionGrant {
  role: string;
  permission: string;
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

/** Every permission name with its holders, in the order of the table. */
const rows = words(table).reduce<{ holder: keyof typeof holders; names: string[] }[]>((read, word) => {
  if (word.endsWith(':')) return [...read, { holder: word.slice(0, -1) as keyof typeof holders, names: [] }];
  read.at(-1)!.names.push(word);
  return read;
}, []);

/** Every permission name of the default table. */
export const permissionNames: readonly string[] = rows.flatMap(({ names }) => names);

/** One entry for each role that holds a permission, in the order of the table. */
export const defaultGrants: readonly PermissionGrant[] = rows.flatMap(({ holder, names }) =>
  names.flatMap((permission) => holders[holder].map((role) => ({ role, permission }))),
);

/** Whether only the console uses the permission; principals do not carry such names. */
export function isConsolePermission(name: string): boolean {
  return name.startsWith('widget_') || name.startsWith('stage_');
}
