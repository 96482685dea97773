/**
 * What the code of an execution may do with the rights of who started it: work in its tenant. What rules over users, tenants, roles,
 * tokens, snapshots, the licence or the manager itself is left out, however much its starter may do: blueprints are written by others.
 */

/** Beginnings of the names that belong to work in a tenant. */
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

/** Names that belong to it as well. */
const ALSO_WORK = new Set([
  // Sees what is private or hidden in this tenant; where there is no other tenant in sight, that is no rule over others.
  'administrators',
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

/** Names that begin so and rule over more than a tenant's work. */
const NOT_WORK = new Set(['agent_replace_certs', 'secrets_provider_credentials']);

/** A name that is not known here is refused: a new permission has to be thought about first. */
export function isForExecutions(permission: string): boolean {
  if (NOT_WORK.has(permission)) return false;
  return ALSO_WORK.has(permission) || WORK.some((beginning) => permission.startsWith(beginning));
}
