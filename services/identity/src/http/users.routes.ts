import { hasPermission, type Principal, type ServicePermission } from '@baton/contracts';
import { userAccessRoutes } from '@baton/contracts/http/user-access';
import { usersRoutes } from '@baton/contracts/http/users';
import { answer, type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import { AppError, badParameter, isAppError, readInstant } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { AuthorizationAt } from '../adapters/authorization-cache';
import type { Passwords } from '../adapters/passwords';
import { changeUser, removeUser, setUserActive, type UserChange, unlockUser } from '../commands/change-user';
import { createUser } from '../commands/create-user';
import type { LockSettings } from '../domain/account-lock';
import { forbidden } from '../queries/rights';
import { userAccess } from '../queries/user-access';
import { getUser, listUsers } from '../queries/users';
import type { DB as Tables } from '../store/tables.gen';
import type { WirePolicy } from './wire-policy';

export interface UsersDeps {
  db: Db<Tables>;
  passwords: Passwords;
  lock: LockSettings;
  wire: WirePolicy;
  authorizationAt: AuthorizationAt;
}

interface UserBody {
  password?: string;
  role?: string;
  show_getting_started?: boolean;
}

const plain = { getData: false, includeHash: false };
const viewOf = (call: HttpCall) => ({ getData: call.query?._get_data === true, includeHash: false });

export function usersHttp(deps: UsersDeps): BoundRoute[] {
  const named = <T>(run: () => Promise<T>) => namedUser(deps.wire, run);
  return bindRoutes(usersRoutes, {
    getCurrentUser: (call) => getUser(deps, call.principal.username, viewOf(call)),
    listUsers: async (call) => {
      const includeHash = call.query._include_hash === true;
      if (includeHash) requireHashReader(call.principal);
      return listEnvelope(
        await listUsers(deps, call.list, { getData: call.query._get_data === true, includeHash }),
        call.list,
      );
    },
    createUser: async (call) => {
      const { body } = call;
      if (body.created_at !== undefined || body.first_login_at || body.last_login_at)
        requirePermission(call.principal, 'set_timestamp');
      const username = await createUser(deps, {
        username: body.username,
        password: body.password,
        role: body.role,
        isPrehashed: body.is_prehashed === true,
        createdAt: instantOf('created_at', body.created_at) ?? undefined,
        firstLoginAt: instantOf('first_login_at', body.first_login_at),
        lastLoginAt: instantOf('last_login_at', body.last_login_at),
      });
      return getUser(deps, username, plain);
    },
    getUser: (call) => named(() => getUser(deps, call.params.username!, viewOf(call))),
    updateUser: (call) => named(() => updateUser(deps, call)),
    deleteUser: async (call) => {
      await removeUser(deps, call.params.username!);
    },
    activateUser: async (call) => {
      // Any other action deactivates (reference/rest-api.md 2.7).
      const isChanged = await setUserActive(deps, call.params.username!, call.body.action === 'activate');
      return isChanged ? getUser(deps, call.params.username!, viewOf(call)) : answer({ status: 304 });
    },
    unlockUser: async (call) => {
      await unlockUser(deps, call.params.username!);
      return getUser(deps, call.params.username!, viewOf(call));
    },
    getIdentityProvider: () => 'local',
    getLdap: () => 'disabled',
    setLdap: () => {
      throw new AppError(
        'method_not_allowed_error',
        'This manager keeps its own users; a directory cannot be set',
      );
    },
  });
}

/** The explanation of a user's roles. */
export function userAccessHttp(deps: UsersDeps): BoundRoute[] {
  return bindRoutes(userAccessRoutes, {
    getUserAccess: (call) => {
      const username = call.params.username!;
      const isOwn = username.toLowerCase() === call.principal.username.toLowerCase();
      // The code of an execution learns nothing about users.
      if (!isOwn || call.principal.executionId !== '') requirePermission(call.principal, 'user_get');
      return namedUser(deps.wire, () => userAccess(deps, username));
    },
  });
}

/**
 * Allows password hashes only for tools that restore users, which send a password or a token. Pages of the console do not need
 * them, so a script injected into a page gets none either.
 */
function requireHashReader(principal: Principal): void {
  requirePermission(principal, 'get_password_hash');
  if (principal.authMethod === 'session')
    throw new AppError('forbidden_error', 'Password hashes are not shown to the session of a browser', {
      field: '_include_hash',
      expected: 'a password or a token as the credential',
    });
}

async function updateUser(deps: UsersDeps, call: HttpCall<UserBody>) {
  const username = call.params.username!;
  const change = changeOf(call.body);
  const isOwn = username.toLowerCase() === call.principal.username.toLowerCase();
  if (!isOwn || 'role' in change) requirePermission(call.principal, 'user_update');
  await changeUser(deps, username, change);
  return getUser(deps, username, viewOf(call));
}

/** Reads the change of a user. @throws AppError bad_parameters_error unless exactly one key is given. */
function changeOf(body: UserBody): UserChange {
  const { password, role, show_getting_started: showGettingStarted } = body;
  const given = [password, role, showGettingStarted].filter((value) => value !== undefined);
  if (given.length !== 1) {
    throw badParameter('', 'Exactly one of `password`, `role` and `show_getting_started` must be given', {
      expected: ['password', 'role', 'show_getting_started'],
    });
  }
  if (password !== undefined) return { password };
  return role === undefined ? { showGettingStarted: showGettingStarted! } : { role };
}

function requirePermission(principal: Principal, permission: ServicePermission): void {
  if (!hasPermission(principal, permission)) throw forbidden(principal, permission, principal.tenant);
}

/** Runs a request about the user in the path, and translates its not_found_error for the wire. */
async function namedUser<T>(wire: WirePolicy, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw isAppError(error, 'not_found_error') ? wire.unknownUser(error) : error;
  }
}

function instantOf(field: string, text: string | null | undefined): string | null {
  return text === undefined || text === null ? null : readInstant(field, text);
}
