/** Decides whether a caller may use a route in a tenant (reference/rest-api.md 1.4, 2.4). */
import type { IncomingMessage } from 'node:http';
import { parseResourceUri } from '@baton/contracts';
import { AppError, isAppError } from '@baton/kernel';
import { checkAgentToken } from './agent-token';
import { type AuthenticateDeps, type AuthenticationScope, authenticate, noCredentials } from './authenticate';
import type { BrowserSessions } from './browser-sessions';
import { type Credential, readCredential } from './credentials';
import { andThen } from './exchange';
import { type Caller, holds } from './principal-cache';
import type { RequestHeaders } from './request-headers';
import type { CompiledRoute } from './route-table';

export interface AuthorizeDeps extends AuthenticateDeps {
  sessions: BrowserSessions;
}

export interface AuthorizationRequest {
  request: IncomingMessage;
  method: string;
  route: CompiledRoute;
  /** Segments of the path, undecoded. */
  segments: readonly string[];
  /** Query without its question mark. */
  query: string;
  headers: RequestHeaders;
  isLegacy: boolean;
  /** Address of the client as client-address.ts returns it. */
  address: string;
}

/**
 * Returns the caller after the permission check for the route; null on routes open to everybody.
 * @throws AppError unauthorized_error, forbidden_error, cross_site_request_error, forbidden_while_cancelling, bad_parameters_error,
 * service_unavailable_error
 */
export function authorize(
  deps: AuthorizeDeps,
  request: AuthorizationRequest,
): Caller | null | Promise<Caller | null> {
  const { permission, isCredentialRead } = request.route.contract;
  if (permission === 'none' && isCredentialRead !== true) return null;
  return authorizeAs(deps, request, credentialOf(deps, request));
}

/**
 * Returns the credential of the request that counts; null when the request sends none.
 * @throws AppError cross_site_request_error
 */
export function credentialOf(deps: AuthorizeDeps, request: AuthorizationRequest): Credential | null {
  return readCredential(request.headers) ?? cookieOf(deps, request);
}

/** Like `authorize`, with a credential that `credentialOf` has already returned. */
export function authorizeAs(
  deps: AuthorizeDeps,
  request: AuthorizationRequest,
  credential: Credential | null,
): Caller | null | Promise<Caller | null> {
  const { permission } = request.route.contract;
  if (permission === 'none')
    return credential
      ? andThen(authenticateIn(deps, credential, scopeOf(request), request), (caller) => {
          checkAgentToken(request, caller);
          return caller;
        })
      : null;
  if (!credential) throw noCredentials();
  const scope = scopeOf(request);
  return andThen(authenticateIn(deps, credential, scope, request), (caller) =>
    permitted(deps, credential, scope, request, caller),
  );
}

/** Checks the permission for the route. @throws AppError forbidden_error, forbidden_while_cancelling */
function permitted(
  deps: AuthorizeDeps,
  credential: Credential,
  scope: AuthenticationScope,
  request: AuthorizationRequest,
  caller: Caller,
): Caller | Promise<Caller> {
  const { contract } = request.route;
  checkAgentToken(request, caller);
  if (contract.isRefusedWhileCancelling === true && caller.isCancelling === true)
    throw new AppError('forbidden_while_cancelling', 'The execution that asks for this is being cancelled');
  if (contract.permission === 'login') return requireTenant(request, caller);
  if (isFreeForExecution(request, caller)) return caller;
  if (scope.allTenantsPermission !== '') return inReachableTenant(deps, credential, scope, request, caller);
  // Every logged-in user may call the route; the service decides which resources it shows.
  if (contract.reachesGlobal === true) return caller;
  if (!holds(caller, contract.permission)) throw forbidden(caller, contract.permission);
  return requireTenant(request, caller);
}

/**
 * Returns the session cookie as a credential. Only the current version of the API has browser sessions: clients of v2.1 have none.
 * An open route ignores the cookie: a session that has ended must not close the route.
 */
function cookieOf({ sessions }: AuthorizeDeps, asked: AuthorizationRequest): Credential | null {
  const isOpen = asked.route.contract.permission === 'none';
  return asked.isLegacy || isOpen ? null : sessions.credentialOf(asked.request, asked.headers, asked.method);
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
  const { permission, tenant, responseKind } = route.contract;
  const isAll = route.allowsAllTenants && permission !== 'login' && ALL_TENANTS.test(query);
  return {
    tenant: tenant === 'none' ? '' : tenantOf(route, segments, query, headers),
    isLegacy: isLegacy && tenant !== 'none',
    allTenantsPermission: isAll ? permission : '',
    address,
    isWatching: responseKind === 'events',
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
 * Authenticates the caller in the tenant of the path. For an unknown tenant in the path, a caller who holds the permission anyway
 * gets the 404 of the service; every other caller gets 403, which does not show which tenants exist.
 */
function authenticateIn(
  deps: AuthenticateDeps,
  credential: Credential,
  scope: AuthenticationScope,
  { route }: AuthorizationRequest,
): Caller | Promise<Caller> {
  const caller = authenticate(deps, credential, scope);
  if (route.tenantSegment < 0 || !(caller instanceof Promise)) return caller;
  return caller.catch(async (error: unknown) => {
    if (!isAppError(error, 'forbidden_error')) throw error;
    // Not as v2.1: there an empty tenant means default_tenant, and the caller's roles in it would give access to the unknown
    // tenant.
    const anywhere = await authenticate(deps, credential, { ...scope, tenant: '', isLegacy: false });
    if (holds(anywhere, route.contract.permission)) return anywhere;
    throw error;
  });
}

/** Some routes belong to the work of an execution: its token may use them in its own tenant, whatever the roles are (2.1). */
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
 * Handles `_all_tenants`: the permission in any one tenant is enough, and the request need not name a tenant. When the caller does
 * not hold the permission in the tenant of the request, the principal of the first tenant where he holds it is forwarded, so that
 * his rights in the tenant of the request give access to nothing in it.
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

/** Whether the caller belongs to the tenant of the request, or may see every tenant. */
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
