import type { Principal } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { Activity } from '../adapters/activity';
import type { AuthorizationAt } from '../adapters/authorization-cache';
import { isStoredOldHash } from '../adapters/old-passwords';
import type { Passwords } from '../adapters/passwords';
import { isLocked, type LockSettings } from '../domain/account-lock';
import { isName } from '../domain/checks';
import { badCode, type LoginRefusals, noCredentials, unauthorized } from '../domain/login-refusals';
import { buildPrincipal } from '../domain/principal';
import { isSecretOf, parseToken } from '../domain/token';
import type { DirectoryLogins } from '../providers/commands/directory-logins';
import {
  countFailedLogin,
  findLoginByCode,
  findLoginByName,
  findLoginBySession,
  findLoginByToken,
  type LoginRow,
  recordLogin,
  replacePasswordHash,
  type TokenLoginRow,
} from '../store/authentication.sql';
import type { DB as Tables } from '../store/tables.gen';

export interface AuthenticateDeps {
  db: Db<Tables>;
  passwords: Passwords;
  authorizationAt: AuthorizationAt;
  activity: Activity;
  lock: LockSettings;
  wire: { refusals: LoginRefusals };
  /** Asks the provider of a user again, when that is due (src/providers/commands/recheck.ts). */
  recheckUser: (userId: number) => Promise<void>;
  /** Passwords of directories (src/providers/commands/directory-logins.ts). */
  directories: DirectoryLogins;
  /** A session that was not used for this long has ended. */
  sessionIdleMs: number;
}

export interface Scope {
  /** Tenant of the request, empty: none. */
  tenant: string;
  /** See AuthenticateRequest.all_tenants_permission; empty for one tenant. */
  allTenantsPermission: string;
  /** See AuthenticateRequest.is_watching. */
  isWatching?: boolean;
}

/** The principal of a session or token, and the time from now until it ends if it is not used again; null: it has no end. */
export interface Bearer {
  principal: Principal;
  endsInMs: number | null;
}

const NOBODY = -1;
/** A check that is late is tried again with the next request: an answer may be trusted for this long meanwhile. */
const LEAST_CHECK_MS = 1_000;

/**
 * Authenticates a user name and password. An unknown name takes as much time as a wrong password.
 * @throws AppError unauthorized_error; forbidden_error when the tenant is unknown; too_many_requests_error.
 */
export async function authenticateBasic(
  deps: AuthenticateDeps,
  credential: { username: string; password: string },
  scope: Scope,
): Promise<Principal> {
  return (await authenticatePassword(deps, credential, scope)).principal;
}

/**
 * Like authenticateBasic; also returns the stored hash of the user. A local user is checked first and without any directory. Every
 * other name goes to the directories.
 */
export async function authenticatePassword(
  deps: AuthenticateDeps,
  credential: PasswordCredential,
  scope: Scope,
): Promise<{ principal: Principal; passwordHash: string }> {
  const found = isName(credential.username) ? await findLogin(deps, credential.username, scope) : undefined;
  const { row, isRemembered } =
    found && hasPassword(found)
      ? await byLocalPassword(deps, found, credential)
      : await byDirectory(deps, found, credential, scope);
  if (row.failed_logins > 0 || row.is_first_login) await recordLogin(deps.db, row.id);
  else if (!isRemembered) deps.activity.loggedIn(row.id, row.now);
  const principal = await principalOf(deps, row, scope, 'http_basic');
  return { principal, passwordHash: row.password_hash };
}

interface PasswordCredential {
  username: string;
  password: string;
}

/** A user whose password was good. `isRemembered`: it was checked a moment ago. */
interface Proven {
  row: LoginRow;
  isRemembered: boolean;
}

/** @throws AppError unauthorized_error, which takes as long as for a name of a directory; too_many_requests_error */
async function byLocalPassword(
  deps: AuthenticateDeps,
  row: LoginRow,
  { username, password }: PasswordCredential,
): Promise<Proven> {
  const rejected = (): AppError => deps.wire.refusals.rejected(row.username);
  const { isGood, isRemembered } = await deps.passwords.verify(row.password_hash, password, username);
  try {
    if (!isGood) throw rejected();
    requireUsable(deps, row, rejected);
    return { row: await withNewHash(deps, row, password), isRemembered };
  } catch (error) {
    if (!isGood) await countFailedLogin(deps.db, row.id);
    await deps.directories.pretend(username);
    throw error;
  }
}

/**
 * Replaces the hash that an imported user brought by one of our own, now that the password is known. A crash before the statement leaves
 * the old hash for the next login. When somebody else has changed it meanwhile, that hash stays; the password may fit it, too.
 */
async function withNewHash(deps: AuthenticateDeps, row: LoginRow, password: string): Promise<LoginRow> {
  if (!isStoredOldHash(row.password_hash)) return row;
  const fresh = await deps.passwords.hash(password);
  const now = await replacePasswordHash(deps.db, row.id, row.password_hash, fresh);
  const isOurs = now === fresh || (now !== null && (await deps.passwords.verify(now, password)).isGood);
  return isOurs ? { ...row, password_hash: now } : row;
}

/**
 * Checks the password of a user of a directory, or of an unknown name. Failures do not count at the account, or a stranger could lock
 * it: the gateway slows them down.
 * @throws AppError unauthorized_error; too_many_requests_error
 */
async function byDirectory(
  deps: AuthenticateDeps,
  found: LoginRow | undefined,
  { username, password }: PasswordCredential,
  scope: Scope,
): Promise<Proven> {
  const { refusals } = deps.wire;
  const refuse = async (): Promise<never> => {
    await deps.passwords.verifyNothing(password, username);
    await countFailedLogin(deps.db, NOBODY);
    throw refusals.unknown();
  };
  if (!isName(username) || found?.is_service) {
    await deps.directories.pretend(username);
    return refuse();
  }
  const owner = found && { userId: found.id, provider: found.provider! };
  const good = await deps.directories.check({ username, password }, owner ?? null);
  if (!good) return refuse();
  if (good.isRemembered && isCheckDue(found!)) await deps.recheckUser(good.userId);
  const row = await findLogin(deps, username, scope);
  // Deleted meanwhile, and perhaps made anew as somebody else.
  if (row?.id !== good.userId) return refuse();
  requireUsable(deps, row, () => refusals.rejected(row.username));
  return { row, isRemembered: good.isRemembered };
}

/** Authenticates a user token. @throws AppError as authenticateBasic. */
export async function authenticateToken(
  deps: AuthenticateDeps,
  token: string,
  scope: Scope,
): Promise<Bearer> {
  const parsed = parseToken(token);
  if (!parsed) throw unauthorized('Invalid token structure');
  const find = () => findLoginByToken(deps.db, parsed.id, scope.tenant, scope.allTenantsPermission !== '');
  const row = await checked(deps, find, (found) =>
    requireLive(deps, found, parsed.secret, 'Token is expired'),
  );
  if (!scope.isWatching) deps.activity.tokenUsed(parsed.id, row.now);
  return { principal: await principalOf(deps, row, scope, 'token'), endsInMs: endOf(row) };
}

/** Authenticates the session of a cookie. @throws AppError as authenticateBasic. */
export async function authenticateSession(
  deps: AuthenticateDeps,
  value: string,
  scope: Scope,
): Promise<Bearer> {
  const parsed = parseToken(value, 'bses');
  if (!parsed) throw unauthorized('Invalid session');
  const { tenant, allTenantsPermission } = scope;
  const where = { tenant, allTenants: allTenantsPermission !== '' };
  const find = () => findLoginBySession(deps.db, parsed.id, where, deps.sessionIdleMs);
  const row = await checked(deps, find, (found) =>
    requireLive(deps, found, parsed.secret, 'The session is over'),
  );
  if (!scope.isWatching) deps.activity.sessionUsed(parsed.id, row.now);
  const principal = { ...(await principalOf(deps, row, scope, 'session')), sessionId: parsed.id };
  return { principal, endsInMs: endOf(row) };
}

/**
 * Returns the user of a sign-in link's code, and the id of the code. The code stays valid: the caller that redeems it makes sure
 * that this happens once.
 * @throws AppError unauthorized_error
 */
export async function authenticateCode(
  deps: AuthenticateDeps,
  code: string,
): Promise<{ principal: Principal; codeId: string }> {
  const parsed = parseToken(code, 'bcode');
  const row = parsed ? await findLoginByCode(deps.db, parsed.id) : undefined;
  if (!parsed || !row || !isSecretOf(parsed.secret, row.secret_hash) || row.is_expired) throw badCode();
  requireUsable(deps, row, badCode);
  const principal = await principalOf(deps, row, { tenant: '', allTenantsPermission: '' }, 'session');
  return { principal, codeId: parsed.id };
}

const hasPassword = (row: LoginRow): boolean => row.provider === null && !row.is_service;
const isCheckDue = ({ check_in_ms: inMs }: LoginRow): boolean => inMs !== null && inMs <= 0;

/**
 * Returns the live row. When its user belongs to a provider that is to be asked again, it is read once more after that: the roles
 * may be others, and the session may have ended.
 */
async function checked(
  deps: AuthenticateDeps,
  find: () => Promise<TokenLoginRow | undefined>,
  live: (found: TokenLoginRow | undefined) => TokenLoginRow,
): Promise<TokenLoginRow> {
  const row = live(await find());
  if (!isCheckDue(row)) return row;
  await deps.recheckUser(row.id);
  return live(await find());
}

/** Time until the credential is to be judged again: open event streams do so then, and so the provider is asked for them, too. */
function endOf({ ends_in_ms: endsInMs, check_in_ms: checkInMs }: TokenLoginRow): number | null {
  if (checkInMs === null) return endsInMs;
  return Math.min(endsInMs ?? Number.POSITIVE_INFINITY, Math.max(checkInMs, LEAST_CHECK_MS));
}

/** Returns the owner of a token that is valid now. @throws AppError unauthorized_error */
function requireLive(
  deps: AuthenticateDeps,
  row: TokenLoginRow | undefined,
  secret: string,
  expired: string,
): TokenLoginRow {
  if (!row || !isSecretOf(secret, row.secret_hash)) throw unauthorized('Unauthorized');
  if (row.is_expired) throw unauthorized(expired);
  requireUsable(deps, row, () => unauthorized('Unauthorized'));
  return row;
}

/**
 * Returns the principal of a user by name, for calls with the token of an execution that the user started.
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

/** Refuses inactive and locked accounts, whatever the credential is (reference/rest-api.md 2.1, 2.2). */
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
