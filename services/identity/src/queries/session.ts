import type { Principal } from '@baton/contracts';
import type { SessionAnswer } from '@baton/contracts/http/session';
import { noSession } from '../domain/login-refusals';
import {
  type Authorization,
  bootstrapAdminId,
  buildPrincipal,
  permissionsOf,
  rolesIn,
  type UserRights,
} from '../domain/principal';
import { systemAdmin } from '../domain/roles';
import { findLoginByName } from '../store/authentication.sql';
import { findSession } from '../store/sessions.sql';
import type { AuthenticateDeps } from './authenticate';
import { ownPermissions } from './own-permissions';
import { listTenantNames } from './tenants';

/** Most tenants that are listed for a user who sees every tenant. */
const MAX_TENANTS = 1_000;

/**
 * Describes the caller's session. `tenant`: also return the caller's permissions in it, so that a page learns everything about its
 * user with one request.
 * @throws AppError unauthorized_error when the caller has no session, or one that has ended.
 */
export async function describeSession(
  deps: AuthenticateDeps,
  principal: Principal,
  tenant?: string,
): Promise<SessionAnswer> {
  const { sessionId, username, role } = principal;
  const session = sessionId === undefined ? undefined : await findSession(deps.db.query, sessionId);
  if (!session) throw noSession();
  const { user, authorization } = await rightsOf(deps, username);
  return {
    username,
    role,
    is_admin: role === systemAdmin,
    tenants: await tenantsOf(deps, user, authorization),
    created_at: session.created_at,
    expires_at: session.expires_at,
    ...(tenant === undefined ? {} : { permissions: await permissionsIn(deps, user, authorization, tenant) }),
  };
}

async function permissionsIn(
  deps: AuthenticateDeps,
  user: UserRights,
  authorization: Authorization,
  tenant: string,
): Promise<string[]> {
  const asked = { tenant, authMethod: 'session', allTenantsPermission: '' } as const;
  return (await ownPermissions(deps, buildPrincipal(user, authorization, asked))).permissions;
}

/** Reads the user's rights in all tenants. @throws AppError unauthorized_error when the user is gone. */
async function rightsOf(
  deps: AuthenticateDeps,
  username: string,
): Promise<{ user: UserRights; authorization: Authorization }> {
  const row = await findLoginByName(deps.db, username, '', true);
  if (!row) throw noSession();
  const user = {
    id: row.id,
    username: row.username,
    role: row.role,
    groupRoles: row.group_roles,
    tenantRoles: row.tenant_roles,
  };
  return { user, authorization: await deps.authorizationAt(row.revision) };
}

/** Returns the user's tenants with the roles that count in each. */
async function tenantsOf(
  deps: AuthenticateDeps,
  user: UserRights,
  authorization: Authorization,
): Promise<SessionAnswer['tenants']> {
  const seesAll =
    user.id === bootstrapAdminId || permissionsOf(authorization, rolesIn(user, '')).has('all_tenants');
  const names = seesAll
    ? await listTenantNames(deps, MAX_TENANTS)
    : [...new Set(user.tenantRoles.map(({ tenant }) => tenant))].sort();
  return names.map((name) => ({ name, roles: rolesIn(user, name) }));
}
