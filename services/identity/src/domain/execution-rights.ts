/**
 * The permissions of an execution's code, among those of the user who started it: only work in its tenant. Permissions over users,
 * tenants, roles, tokens, snapshots, the licence or the manager itself are excluded, whatever its starter holds: blueprints are
 * written by other people.
 */

/** Prefixes of permission names for work in a tenant. */
const WORK = [
  'agent_',
  'blueprint_',
  'deployment_',
  'event_',
  'execution_',
  'filter_',
  'inter_deployment_dependency_',
  'node_',
  'plugin_',
  'plugins_update_',
  'secret_',
  'secrets_provider_',
  'site_',
] as const;

/** Further permission names for work in a tenant. */
const ALSO_WORK = new Set([
  // Allows to see private or hidden resources in this tenant; as no other tenant is visible, it gives no power over others.
  'administrators',
  // The addresses alone: to an execution nobody shows the user of the broker (services/cluster-status, brokers.routes.ts).
  'broker_get',
  'cluster_status_get',
  'file_server_auth',
  'functions_evaluate',
  'labels_list',
  'manager_get',
  'operations',
  'provider_context_get',
  'resource_set_visibility',
  'status_get',
  'version_get',
]);

/** Permission names with such a prefix that go beyond a tenant's work. */
const NOT_WORK = new Set(['agent_replace_certs', 'secrets_provider_credentials']);

/** Whether an execution may hold the permission. Unknown names are refused: each new permission must be classified first. */
export function isForExecutions(permission: string): boolean {
  if (NOT_WORK.has(permission)) return false;
  return ALSO_WORK.has(permission) || WORK.some((beginning) => permission.startsWith(beginning));
}
