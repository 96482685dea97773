/** Who calls: travels from the gateway to the services in a signed header, see packages/http. */
export interface Principal {
  userId: number;
  username: string;
  /** Tenant of the request; empty where the request named none. */
  tenant: string;
  /** System role: sys_admin or default. */
  role: string;
  roles: string[];
  permissions: string[];
  /** Tenants that `_all_tenants` may reach. */
  tenants: { name: string; roles: string[] }[];
  authMethod: 'http_basic' | 'token' | 'execution_token' | 'external';
  /** Set when the call was made with an execution's token. */
  executionId: string;
  isBootstrapAdmin: boolean;
}

export function hasPermission(principal: Principal, permission: string): boolean {
  return principal.isBootstrapAdmin || principal.permissions.includes(permission);
}

/** Sees private resources and hidden secret values of the tenant (reference/rest-api.md 2.4). */
export function isAdministrator(principal: Principal): boolean {
  return hasPermission(principal, 'administrators');
}
