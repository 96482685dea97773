import type { Principal } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { Activity } from '../adapters/activity';
import type { AuthorizationAt } from '../adapters/authorization-cache';
import type { Passwords } from '../adapters/passwords';
import { isLocked, type LockSettings } from '../domain/account-lock';
import { isName } from '../domain/checks';
import { type LoginRefusals, noCredentials, unauthorized } from '../domain/login-refusals';
import { buildPrincipal } from '../domain/principal';
import { isSecretOf, parseToken } from '../domain/token';
import {
  countFailedLogin,
  findLoginByName,
  findLoginByToken,
  type LoginRow,
  recordLogin,
} from '../store/authentication.sql';
import type { DB as Tables } from '../store/tables.gen';

export interface AuthenticateDeps {
  db: Db<Tables>;
  passwords: Passwords;
  authorizationAt: AuthorizationAt;
  activity: Activity;
  lock: LockSettings;
  wire: { refusals: LoginRefusals };
}

export interface Scope {
  /** Tenant of the request, empty: none. */
  tenant: string;
  /** See AuthenticateRequest.all_tenants_permission; empty for one tenant. */
  allTenantsPermission: string;
}

const NOBODY = -1;

/**
 * Principal of a user name and password. An unknown name costs as much time as a wrong password.
 * @throws AppError unauthorized_error; forbidden_error when the tenant is unknown; too_many_requests_error.
 */
export async function authenticateBasic(
  deps: AuthenticateDeps,
  credential: { username: string; password: string },
  scope: Scope,
): Promise<Principal> {
  const { db, passwords } = deps;
  const { refusals } = deps.wire;
  const row = isName(credential.username) ? await findLogin(deps, credential.username, scope) : undefined;
  if (!row) {
    await passwords.verifyNothing(credential.password, credential.username);
    await countFailedLogin(db, NOBODY);
    throw refusals.unknown();
  }
  const rejected = (): AppError => refusals.rejected(row.username);
  const { isGood, isRemembered } = await passwords.verify(
    row.password_hash,
    credential.password,
    credential.username,
  );
  if (!isGood) {
    await countFailedLogin(db, row.id);
    throw rejected();
  }
  requireUsable(deps, row, rejected);
  if (row.failed_logins > 0 || row.is_first_login) await recordLogin(db, row.id);
  else if (!isRemembered) deps.activity.loggedIn(row.id, row.now);
  return principalOf(deps, row, scope, 'http_basic');
}

/** Principal of a user token. @throws AppError as authenticateBasic. */
export async function authenticateToken(
  deps: AuthenticateDeps,
  token: string,
  scope: Scope,
): Promise<Principal> {
  const parsed = parseToken(token);
  if (!parsed) throw unauthorized('Invalid token structure');
  const row = await findLoginByToken(deps.db, parsed.id, scope.tenant, scope.allTenantsPermission !== '');
  if (!row || !isSecretOf(parsed.secret, row.secret_hash)) throw unauthorized('Unauthorized');
  if (row.is_expired) throw unauthorized('Token is expired');
  requireUsable(deps, row, () => unauthorized('Unauthorized'));
  deps.activity.tokenUsed(parsed.id, row.now);
  return principalOf(deps, row, scope, 'token');
}

/**
 * Principal of a user by name, for calls made with the token of an execution that the user started.
 * @throws AppError unauthorized_error when the user is gone, inactive or locked; forbidden_error for an unknown tenant.
 */
export async function principalOfUser(
  deps: AuthenticateDeps,
  username: string,
  scope: Scope,
  isForExecution = false,
): Promise<Principal> {
  const row = isName(username) ? await findLogin(deps, username, scope) : undefined;
  if (!row) throw noCredentials();
  requireUsable(deps, row, noCredentials);
  return principalOf(deps, row, scope, 'execution_token', isForExecution);
}

function findLogin(deps: AuthenticateDeps, username: string, scope: Scope): Promise<LoginRow | undefined> {
  return findLoginByName(deps.db, username, scope.tenant, scope.allTenantsPermission !== '');
}

/** Inactive and locked accounts are refused whatever the credential is (reference/rest-api.md 2.1, 2.2). */
function requireUsable(deps: AuthenticateDeps, row: LoginRow, locked: () => AppError): void {
  if (!row.active) throw deps.wire.refusals.inactive(locked);
  const history = { failedLogins: row.failed_logins, sinceLastFailureMs: row.since_failure_ms };
  if (isLocked(history, deps.lock)) throw locked();
}

async function principalOf(
  deps: AuthenticateDeps,
  row: LoginRow,
  scope: Scope,
  authMethod: Principal['authMethod'],
  isForExecution = false,
): Promise<Principal> {
  if (scope.tenant !== '' && !row.is_tenant_there) {
    throw new AppError(
      'forbidden_error',
      `Authorization failed: Tried to authenticate with invalid tenant name: ${scope.tenant}`,
    );
  }
  const user = {
    id: row.id,
    username: row.username,
    role: row.role,
    groupRoles: row.group_roles,
    tenantRoles: row.tenant_roles,
  };
  const authorization = await deps.authorizationAt(row.revision);
  return buildPrincipal(user, authorization, {
    tenant: scope.tenant,
    authMethod,
    allTenantsPermission: scope.allTenantsPermission,
    isForExecution,
  });
}
