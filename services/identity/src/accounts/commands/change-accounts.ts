import type { TrustRule } from '@baton/contracts/http/service-accounts';
import { AppError, badParameter, isoInstant, nearestName, notFound } from '@baton/kernel';
import { type Db, isUniqueViolation } from '@baton/postgres';
import type { Passwords } from '../../adapters/passwords';
import { announceChange } from '../../commands/announce';
import { removeUser } from '../../commands/change-user';
import { type CreatedToken, createToken } from '../../commands/tokens';
import { requireName, requireText } from '../../domain/checks';
import { requireExpiration } from '../../domain/expiration';
import { defaultSystemRole, requireRole } from '../../domain/roles';
import { randomText } from '../../domain/token';
import { listRoles } from '../../store/authorization.sql';
import { insertTenantUser } from '../../store/bootstrap.sql';
import type { DB as Tables } from '../../store/tables.gen';
import { allTenantNames } from '../../store/tenants.sql';
import { insertUser } from '../../store/users.sql';
import { checkTrust } from '../domain/trust';
import { type AccountRow, findAccount, insertAccount, writeTrust } from '../store/accounts.sql';

interface Deps {
  db: Db<Tables>;
  passwords: Pick<Passwords, 'hash'>;
  /** Returns the current time by the clock of the database. */
  nowMs: () => Promise<number>;
}

/** Longest life of a token that an administrator makes for a service account. */
const LONGEST_MS = 366 * 86_400_000;

export interface NewAccount {
  name: string;
  description?: string | undefined;
  role?: string | undefined;
  tenants?: readonly { name: string; role: string }[] | undefined;
  trust?: readonly TrustRule[] | undefined;
}

/**
 * Creates a service account: a user without a password, with the given roles.
 * @throws AppError bad_parameters_error; conflict_error when a user has the name
 */
export async function createAccount(
  { db, passwords }: Pick<Deps, 'db' | 'passwords'>,
  wish: NewAccount,
  createdBy: string,
): Promise<void> {
  const username = requireName('name', wish.name);
  const description = wish.description ? requireText('description', wish.description) : '';
  const trust = wish.trust ?? [];
  checkTrust(trust);
  const roles = await listRoles(db.query);
  const role = requireRole(roles, wish.role ?? defaultSystemRole, 'system_role').name;
  const tenants = wish.tenants ?? [];
  for (const one of tenants) requireRole(roles, one.role, 'tenant_role');
  await requireTenants(db, tenants);
  // Nobody knows this password; a release before this one still verifies a hash for every user.
  const passwordHash = await passwords.hash(randomText(40));
  await db
    .tx(async (tx) => {
      const userId = await insertUser(tx, { username, password_hash: passwordHash, role });
      await insertAccount(tx, { userId, description, trust, createdBy });
      for (const one of tenants)
        await insertTenantUser(tx, { user_id: userId, tenant: one.name, role: one.role });
      await announceChange(tx, username);
    })
    .catch((error: unknown) => {
      if (!isUniqueViolation(error, 'users_username_key')) throw error;
      throw new AppError('conflict_error', `User \`${username}\` already exists`, { field: 'name' });
    });
}

/** @throws AppError bad_parameters_error for an unknown tenant, and for one that is named twice */
async function requireTenants(db: Db<Tables>, tenants: readonly { name: string }[]): Promise<void> {
  const known = await allTenantNames(db.query);
  for (const [at, { name }] of tenants.entries()) {
    if (!known.includes(name))
      throw badParameter(`tenants.${at}.name`, `There is no tenant \`${name}\``, {
        expected: 'the name of a tenant',
        nearest: nearestName(name, known),
      });
    if (tenants.findIndex((one) => one.name === name) !== at)
      throw badParameter(`tenants.${at}.name`, `Tenant \`${name}\` is named twice`);
  }
}

/** Replaces the rules of trust. Tokens that were exchanged before live on, 15 minutes at most. */
export async function setTrust(
  { db }: Pick<Deps, 'db'>,
  name: string,
  trust: readonly TrustRule[],
): Promise<void> {
  checkTrust(trust);
  await db.tx(async (tx) => {
    const account = await findAccount(tx, name);
    if (!account) throw notFound('ServiceAccount', name);
    await writeTrust(tx, account.user_id, trust);
  });
}

/** Deletes a service account with its tokens. @throws AppError not_found_error, also for a user that is none */
export async function deleteAccount({ db }: Pick<Deps, 'db'>, name: string): Promise<void> {
  await removeUser({ db }, (await requireAccount({ db }, name)).name);
}

/** Makes a token that ends. @throws AppError not_found_error; bad_parameters_error */
export async function createAccountToken(
  deps: Pick<Deps, 'db' | 'nowMs'>,
  name: string,
  wish: { description: string; expirationDate: string },
): Promise<CreatedToken> {
  const { user_id: userId } = await requireAccount(deps, name);
  const nowMs = await deps.nowMs();
  const endMs = requireExpiration(wish.expirationDate, nowMs);
  if (endMs > nowMs + LONGEST_MS)
    throw badParameter('expiration_date', 'The token would live too long', {
      expected: 'at most 366 days ahead',
    });
  return createToken(deps, userId, { description: wish.description, expirationDate: isoInstant(endMs) });
}

async function requireAccount({ db }: Pick<Deps, 'db'>, name: string): Promise<AccountRow> {
  const account = await findAccount(db.query, name);
  if (!account) throw notFound('ServiceAccount', name);
  return account;
}
