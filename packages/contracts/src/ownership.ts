/**
 * Owner and creation time of a resource, where a request gives them: used by restores (reference/rest-api.md ch. 5). A
 * time needs the permission set_timestamp, another user set_owner.
 */
import { AppError, badParameter, readInstant } from '@baton/kernel';
import { hasPermission, type Principal, type ServicePermission } from './principal';

/** Finds the user of that name, with the name as the account spells it; null: no such user, or one that may not log in. */
export type FindUser = (username: string) => Promise<{ username: string; userId: number } | null>;

/** Names of the two body fields, as each resource spells them. */
export interface OwnershipFields {
  at: string;
  by: string;
}

const CREATED: OwnershipFields = { at: 'created_at', by: 'created_by' };
type Body = Record<string, unknown>;

export interface Ownership {
  /** ISO text for the database; null: now. */
  createdAt: string | null;
  createdBy: string;
  creatorId: number;
}

/**
 * Ownership of a new resource: the values in `body`, else the caller and now.
 * @throws AppError forbidden_error without the permission; bad_parameters_error for a wrong date and for an unknown
 * user.
 */
export async function ownershipOf(
  principal: Principal,
  body: object,
  findUser: FindUser,
  fields = CREATED,
): Promise<Ownership> {
  const given = body as Body;
  const createdAt = timeOf(principal, fields.at, given[fields.at]);
  const name = given[fields.by];
  const isForeign = typeof name === 'string' && name !== principal.username;
  const owner = isForeign ? await namedUser(principal, fields.by, name, findUser) : principal;
  return { createdAt, createdBy: owner.username, creatorId: owner.userId };
}

/**
 * Changed ownership of an existing resource: only the values in `body`. To name oneself takes the resource from another
 * user, so it needs the permission too.
 * @throws as ownershipOf
 */
export async function changedOwnership(
  principal: Principal,
  body: object,
  findUser: FindUser,
  fields: OwnershipFields = { at: 'created_at', by: 'creator' },
): Promise<{ created_at?: string; created_by?: string }> {
  const given = body as Body;
  const createdAt = timeOf(principal, fields.at, given[fields.at]);
  const name = given[fields.by];
  const owner = typeof name === 'string' ? await namedUser(principal, fields.by, name, findUser) : undefined;
  return {
    ...(createdAt === null ? {} : { created_at: createdAt }),
    ...(owner === undefined ? {} : { created_by: owner.username }),
  };
}

function timeOf(principal: Principal, field: string, text: unknown): string | null {
  if (typeof text !== 'string') return null;
  requireRight(principal, 'set_timestamp', field);
  return readInstant(field, text);
}

async function namedUser(
  principal: Principal,
  field: string,
  username: string,
  findUser: FindUser,
): Promise<{ username: string; userId: number }> {
  requireRight(principal, 'set_owner', field);
  const user = await findUser(username);
  if (user !== null) return user;
  throw badParameter(field, `There is no active user \`${username}\``, { expected: 'the name of a user' });
}

function requireRight(principal: Principal, permission: ServicePermission, field: string): void {
  if (hasPermission(principal, permission)) return;
  throw new AppError('forbidden_error', `User \`${principal.username}\` is not permitted to set ${field}`, {
    field,
  });
}

/** Looks up each name only once: lists contain the same few users many times. */
export function rememberingUsers(findUser: FindUser): FindUser {
  const known = new Map<string, ReturnType<FindUser>>();
  return (username) => {
    const asked = known.get(username) ?? findUser(username);
    known.set(username, asked);
    return asked;
  };
}
