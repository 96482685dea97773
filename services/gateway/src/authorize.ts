/** May this caller use this route in this tenant? (reference/rest-api.md 1.4, 2.4) */
import { parseResourceUri } from '@baton/contracts';
import { AppError, isAppError } from '@baton/kernel';
import { type AuthenticateDeps, type AuthenticationScope, authenticate, noCredentials } from './authenticate';
import { type Credential, readCredential } from './credentials';
import { type Caller, holds } from './principal-cache';
import type { RequestHeaders } from './request-headers';
import type { CompiledRoute } from './route-table';

export interface AuthorizationRequest {
  route: CompiledRoute;
  /** Segments of the path, undecoded. */
  segments: readonly string[];
  /** Query without its question mark. */
  query: string;
  headers: RequestHeaders;
  isLegacy: boolean;
  /** Of the client, as client-address.ts names it. */
  address: string;
}

/**
 * The caller, whose permission for the route has been checked; null on routes open to everybody.
 * @throws AppError unauthorized_error, forbidden_error, forbidden_while_cancelling, bad_parameters_error, service_unavailable_error
 */
export async function authorize(
  deps: AuthenticateDeps,
  request: AuthorizationRequest,
): Promise<Caller | null> {
  const { contract } = request.route;
  if (contract.permission === 'none' && contract.isCredentialRead !== true) return null;
  const credential = readCredential(request.headers);
  if (contract.permission === 'none')
    return credential ? await authenticateIn(deps, credential, scopeOf(request), request) : null;
  if (!credential) throw noCredentials();
  const scope = scopeOf(request);
  const caller = await authenticateIn(deps, credential, scope, request);
  if (contract.isRefusedWhileCancelling === true && caller.isCancelling === true)
    throw new AppError('forbidden_while_cancelling', 'The execution that asks for this is being cancelled');
  if (contract.permission === 'login') return requireTenant(request, caller);
  if (isFreeForExecution(request, caller)) return caller;
  if (scope.allTenantsPermission !== '') return inReachableTenant(deps, credential, scope, request, caller);
  // What the service shows them is for everybody who is logged in.
  if (contract.reachesGlobal === true) return caller;
  if (!holds(caller, contract.permission)) throw forbidden(caller, contract.permission);
  return requireTenant(request, caller);
}

const ALL_TENANTS = /(?:^|&)_all_tenants=true(?:&|$)/i;

function scopeOf({
  route,
  query,
  segments,
  headers,
  isLegacy,
  address,
}: AuthorizationRequest): AuthenticationScope {
  const { permission, tenant } = route.contract;
  const isAll = route.allowsAllTenants && permission !== 'login' && ALL_TENANTS.test(query);
  return {
    tenant: tenant === 'none' ? '' : tenantOf(route, segments, query, headers),
    isLegacy: isLegacy && tenant !== 'none',
    allTenantsPermission: isAll ? permission : '',
    address,
  };
}

/** The tenant that a path parameter, the header or a query argument names; empty: none. */
function tenantOf(
  route: CompiledRoute,
  segments: readonly string[],
  query: string,
  { tenant: header, originalUri }: RequestHeaders,
): string {
  if (route.contract.isTenantOfUri === true) return parseResourceUri(originalUri)?.tenant ?? '';
  if (route.tenantSegment >= 0) return decode(segments[route.tenantSegment]!);
  if (header !== '' || !route.takesTenantFromQuery || !query.includes('tenant_name=')) return header;
  return new URLSearchParams(query).get('tenant_name') ?? '';
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new AppError(
      'bad_parameters_error',
      `Path segment \`${segment}\` is not well encoded`,
      { field: 'path', expected: 'percent-encoded UTF-8' },
      { cause },
    );
  }
}

/**
 * An unknown tenant in the path is 404 for those who hold the permission anyway, and the service says so; for everybody
 * else it stays the 403 that hides which tenants exist.
 */
async function authenticateIn(
  deps: AuthenticateDeps,
  credential: Credential,
  scope: AuthenticationScope,
  { route }: AuthorizationRequest,
): Promise<Caller> {
  try {
    return await authenticate(deps, credential, scope);
  } catch (error) {
    if (route.tenantSegment < 0 || !isAppError(error, 'forbidden_error')) throw error;
    // Not as v2.1, for which no tenant is default_tenant: what is held there would open a tenant that is not there.
    const caller = await authenticate(deps, credential, { ...scope, tenant: '', isLegacy: false });
    if (holds(caller, route.contract.permission)) return caller;
    throw error;
  }
}

/** Some routes belong to the work of an execution: its token opens them in its own tenant whatever the roles are (2.1). */
function isFreeForExecution(
  { route }: AuthorizationRequest,
  { principal, executionTenant }: Caller,
): boolean {
  return (
    route.contract.isAllowedToExecution === true &&
    executionTenant !== undefined &&
    principal.tenant === executionTenant
  );
}

/**
 * `_all_tenants`: enough that the permission is held in some tenant, and no tenant need be named. Where it is not held in
 * the tenant of the request, the principal of one where it is goes on, so that nothing of that is shown by its rights.
 */
async function inReachableTenant(
  deps: AuthenticateDeps,
  credential: Credential,
  scope: AuthenticationScope,
  request: AuthorizationRequest,
  caller: Caller,
): Promise<Caller> {
  const { permission } = request.route.contract;
  const { tenant, tenants } = caller.principal;
  if (holds(caller, permission) && (tenant === '' || isMember(caller))) return caller;
  const first = tenants[0]?.name;
  if (first === undefined) throw forbidden(caller, permission);
  return authenticate(deps, credential, { ...scope, tenant: first });
}

function requireTenant({ route }: AuthorizationRequest, caller: Caller): Caller {
  const { tenant } = route.contract;
  if (tenant !== 'required') return caller;
  if (caller.principal.tenant === '') throw tenantMissing();
  if (!isMember(caller)) throw forbidden(caller, route.contract.permission);
  return caller;
}

/** Belongs to the tenant of the request, or may see every tenant. */
function isMember(caller: Caller): boolean {
  const { tenant, tenants } = caller.principal;
  return holds(caller, 'all_tenants') || tenants.some((entry) => entry.name === tenant);
}

function tenantMissing(): AppError {
  return new AppError('forbidden_error', 'Authorization failed: Tenant not provided');
}

function forbidden({ principal }: Caller, permission: string): AppError {
  const where = principal.tenant === '' ? '' : ` in the tenant \`${principal.tenant}\``;
  return new AppError(
    'forbidden_error',
    `User \`${principal.username}\` is not permitted to perform the action ${permission}${where}`,
  );
}
