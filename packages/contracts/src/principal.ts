/** The caller of a request: the gateway sends it to the services in a signed header, see packages/http. */
export interface Principal {
  userId: number;
  username: string;
  /** Tenant of the request; empty when the request has none. */
  tenant: string;
  /** System role: sys_admin or default. */
  role: string;
  roles: string[];
  /** All that the caller holds; in services other than identity: those of SERVICE_PERMISSIONS. */
  permissions: string[];
  /** Tenants that `_all_tenants` includes. */
  tenants: { name: string; roles: string[] }[];
  authMethod: 'http_basic' | 'token' | 'execution_token' | 'session' | 'external';
  /** Set when the call was made with an execution's token. */
  executionId: string;
  /** Set when an agent made the call with its execution's token: the only deployment that it may reach (http/agent-token.ts). */
  agentDeploymentId?: string;
  /** Set together with it: the node instances that this agent's operation may change. */
  agentInstances?: readonly string[];
  isBootstrapAdmin: boolean;
  /** For a call with a session cookie: id of the session, not its secret. */
  sessionId?: string;
}

/**
 * The permissions that services ask for themselves, beside that of the route, which the gateway has checked. The gateway tells a
 * service only these: all names together would make 7 kB of each request.
 */
export const SERVICE_PERMISSIONS = [
  'administrators',
  'all_tenants',
  'blueprint_list',
  'blueprint_upload',
  'broker_credentials',
  'create_global_resource',
  'deployment_list',
  'deployment_update',
  'deployment_update_create',
  'execution_list',
  'file_server_auth',
  'get_password_hash',
  'manage_others_tokens',
  'monitoring',
  'plugin_list',
  'plugins_update_create',
  'secrets_provider_credentials',
  'set_execution_details',
  'set_owner',
  'set_timestamp',
  'tenant_list_get_data',
  'user_get',
  'user_update',
] as const;
export type ServicePermission = (typeof SERVICE_PERMISSIONS)[number];

export function hasPermission(principal: Principal, permission: ServicePermission): boolean {
  return principal.isBootstrapAdmin || principal.permissions.includes(permission);
}

/** Whether the caller sees private resources and hidden secret values of the tenant (reference/rest-api.md 2.4). */
export function isAdministrator(principal: Principal): boolean {
  return hasPermission(principal, 'administrators');
}

const asked = new Set<string>(SERVICE_PERMISSIONS);

/** Returns the principal as services get it: with those of its permissions that services ask for. */
export const forService = (principal: Principal): Principal => ({
  ...principal,
  permissions: principal.permissions.filter((name) => asked.has(name)),
});
