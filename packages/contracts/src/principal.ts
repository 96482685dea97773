/** The caller of a request: the gateway sends it to the services in a signed header, see packages/http. */
export interface Principal {
  userId: number;
  username: string;
  /** Tenant of the request; empty when the request has none. */
  tenant: string;
  /** System role: sys_admin or default. */
  role: string;
  roles: string[];
  permissions: string[];
  /** Tenants that `_all_tenants` includes. */
  tenants: { name: string; roles: string[] }[];
  authMethod: 'http_basic' | 'token' | 'execution_token' | 'session' | 'external';
  /** Set when the call was made with an execution's token. */
  executionId: string;
  isBootstrapAdmin: boolean;
  /** For a call with a session cookie: id of the session, not its secret. */
  sessionId?: string;
}

export function hasPermission(principal: Principal, permission: string): boolean {
  return principal.isBootstrapAdmin || principal.permissions.includes(permission);
}

/** Whether the caller sees private resources and hidden secret values of the tenant (reference/rest-api.md 2.4). */
export function isAdministrator(principal: Principal): boolean {
  return hasPermission(principal, 'administrators');
}
