import type { NewProvider, ProviderChange } from '@baton/contracts/http/identity-providers';
import { AppError, badParameter, notFound, Secret } from '@baton/kernel';
import { type Db, isForeignKeyViolation, isUniqueViolation, type Tx } from '@baton/postgres';
import type { Passwords } from '../../adapters/passwords';
import { announceChange } from '../../commands/announce';
import { requireName, requireText } from '../../domain/checks';
import { defaultSystemRole } from '../../domain/roles';
import { listRoles } from '../../store/authorization.sql';
import { findProvider, removeProvider, writeProvider } from '../../store/identity-providers.sql';
import type { DB as Tables } from '../../store/tables.gen';
import { allTenantNames } from '../../store/tenants.sql';
import { insertUser } from '../../store/users.sql';
import { requireFilter } from '../adapters/ldap-filter';
import { blankLdap, givenLdap, neededByLdap, requireSameSubjects } from '../domain/ldap-settings';
import { blankOidc, givenOidc, neededByOidc, requireSameIssuer } from '../domain/oidc-settings';
import { checkMapping, grantsOf, type Provider, requireCertificate } from '../domain/provider';
import { requireOwnSettings } from '../domain/provider-settings';
import type { Sealer } from '../domain/sealed-text';
import {
  insertProviderUser,
  lockProvider,
  makeChecksDue,
  replaceGrants,
  usersOfProvider,
} from '../store/provider-users.sql';
import { unknownPassword } from './provider-user';

interface Deps {
  db: Db<Tables>;
  sealer: Sealer;
}

/** Users whose roles are computed anew at once, when a mapping changes. */
const BATCH = 1_000;

/**
 * Creates a provider, or replaces all its settings; without `client_secret` or `bind_password` a stored secret stays.
 * @throws AppError bad_parameters_error; illegal_action_error for a provider with users
 */
export async function putProvider(deps: Deps, id: string, wish: NewProvider): Promise<void> {
  await change(deps, id, (before) => {
    for (const field of wish.type === 'ldap' ? neededByLdap : neededByOidc)
      if (wish[field] === undefined) throw badParameter(field, `\`${field}\` is missing`);
    const secretSealed = before?.type === wish.type ? before.secretSealed : null;
    return given(deps.sealer, { ...blank(id, wish.type), secretSealed }, wish);
  });
}

/** Changes the given settings of a provider. @throws AppError not_found_error; bad_parameters_error; illegal_action_error */
export async function changeProvider(deps: Deps, id: string, wish: ProviderChange): Promise<void> {
  await change(deps, id, (before) => {
    if (!before) throw notFound('IdentityProvider', id);
    return given(deps.sealer, before, wish);
  });
}

async function change(
  { db }: Deps,
  id: string,
  decide: (before: Provider | null) => Provider,
): Promise<void> {
  await db.tx(async (tx) => {
    await lockProvider(tx, id);
    const before = await findProvider(tx, id);
    const after = decide(before);
    checkMapping(after.mapping, { roles: await listRoles(tx), tenants: await allTenantNames(tx) });
    if (before && (await usersOfProvider(tx, id, -1, 1)).length > 0) requireSameUsers(before, after);
    await writeProvider(tx, after);
    if (before) await applyToUsers(tx, after);
  });
}

/** @throws AppError illegal_action_error when the subjects of the users would mean other people */
function requireSameUsers(before: Provider, after: Provider): void {
  if (before.type === 'oidc' && after.type === 'oidc') return requireSameIssuer(before, after);
  if (before.type === 'ldap' && after.type === 'ldap') return requireSameSubjects(before, after);
  throw new AppError('illegal_action_error', 'The type of a provider with users cannot change', {
    field: 'type',
    expected: `${before.type}, or a new provider`,
  });
}

/** Gives the users of the provider what the new mapping says, by the groups that the provider told last. */
async function applyToUsers(tx: Tx<Tables>, { id, mapping }: Provider): Promise<void> {
  for (let afterId = -1, isMore = true; isMore; ) {
    const users = await usersOfProvider(tx, id, afterId, BATCH);
    isMore = users.length === BATCH;
    afterId = users.at(-1)?.user_id ?? afterId;
    await replaceGrants(
      tx,
      users.map(({ user_id: userId, groups }) => ({ userId, grants: grantsOf(mapping, groups) })),
    );
  }
  // A disabled provider ends the sessions of its users, a changed claim may name other groups: both at the next use.
  await makeChecksDue(tx, id);
  await announceChange(tx, '');
}

function blank(id: string, type: Provider['type']): Provider {
  const common = {
    id,
    name: id,
    secretSealed: null,
    mapping: [],
    provision: 'jit',
    caCertificate: null,
    isEnabled: true,
  } as const;
  return type === 'ldap' ? { ...common, type, ...blankLdap } : { ...common, type, ...blankOidc };
}

/** Returns the provider with the settings that the request gives. @throws AppError bad_parameters_error */
function given(sealer: Sealer, before: Provider, wish: ProviderChange): Provider {
  requireOwnSettings(before.type, wish);
  const { id } = before;
  const sealed = (use: 'client secret' | 'bind password', secret: string | undefined) =>
    secret === undefined ? undefined : sealer.seal(use, id, new Secret(secret));
  const common = {
    name: wish.name === undefined ? undefined : requireText('name', wish.name),
    mapping: wish.mapping,
    provision: wish.provision,
    caCertificate:
      wish.ca_certificate === undefined
        ? undefined
        : wish.ca_certificate && requireCertificate(wish.ca_certificate, 'ca_certificate'),
    isEnabled: wish.is_enabled,
  };
  if (before.type === 'oidc') {
    const secretSealed = sealed('client secret', wish.client_secret);
    return { ...before, ...present({ ...common, secretSealed, ...givenOidc(wish) }) };
  }
  const secretSealed = sealed('bind password', wish.bind_password);
  const after = { ...before, ...present({ ...common, secretSealed, ...givenLdap(wish) }) };
  requireFilter('user_filter', after.userFilter, { needed: ['username'], allowed: ['username'] });
  requireFilter('group_filter', after.groupFilter, {
    needed: ['dn', 'username'],
    allowed: ['dn', 'username'],
  });
  return after;
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The members that are not undefined. */
const present = <T extends object>(all: T): Present<T> =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Present<T>;

/** Deletes a provider. @throws AppError not_found_error; dependent_exists_error while users belong to it */
export async function deleteProvider({ db }: Pick<Deps, 'db'>, id: string): Promise<void> {
  await db
    .tx(async (tx) => {
      if (!(await removeProvider(tx, id))) throw notFound('IdentityProvider', id);
    })
    .catch((error: unknown) => {
      if (!isForeignKeyViolation(error)) throw error;
      throw new AppError(
        'dependent_exists_error',
        `Users belong to identity provider \`${id}\`: delete them first, or disable the provider`,
        { expected: 'is_enabled: false, or no users' },
      );
    });
}

/**
 * Makes a user that belongs to a provider, before its first sign-in.
 * @throws AppError bad_parameters_error; not_found_error; conflict_error when the name or the subject has a user
 */
export async function addProviderUser(
  { db, passwords }: { db: Db<Tables>; passwords: Pick<Passwords, 'hash'> },
  providerId: string,
  { username, subject }: { username: string; subject: string },
): Promise<void> {
  requireName('username', username);
  requireText('subject', subject);
  const passwordHash = await passwords.hash(unknownPassword());
  await db
    .tx(async (tx) => {
      if (!(await findProvider(tx, providerId))) throw notFound('IdentityProvider', providerId);
      const userId = await insertUser(tx, { username, password_hash: passwordHash, role: defaultSystemRole });
      await insertProviderUser(tx, { userId, provider: providerId, subject });
      await announceChange(tx, username);
    })
    .catch((error: unknown) => {
      if (!isUniqueViolation(error)) throw error;
      const isName = isUniqueViolation(error, 'users_username_key');
      throw new AppError(
        'conflict_error',
        isName ? `User \`${username}\` already exists` : 'The subject has a user already',
        { field: isName ? 'username' : 'subject' },
      );
    });
}
