import type { ProviderChange } from '@baton/contracts/http/identity-providers';
import { AppError, badParameter, notFound, Secret } from '@baton/kernel';
import { type Db, isForeignKeyViolation, isUniqueViolation, type Tx } from '@baton/postgres';
import type { Passwords } from '../../adapters/passwords';
import { announceChange } from '../../commands/announce';
import { requireName, requireText } from '../../domain/checks';
import { defaultSystemRole } from '../../domain/roles';
import { randomText } from '../../domain/token';
import { listRoles } from '../../store/authorization.sql';
import { findProvider, removeProvider, writeProvider } from '../../store/identity-providers.sql';
import type { DB as Tables } from '../../store/tables.gen';
import { allTenantNames } from '../../store/tenants.sql';
import { insertUser } from '../../store/users.sql';
import {
  checkMapping,
  checkParameters,
  grantsOf,
  type Provider,
  requireCertificate,
  requireIssuer,
} from '../domain/provider';
import type { Sealer } from '../domain/sealed-text';
import {
  insertProviderUser,
  lockProvider,
  makeChecksDue,
  replaceGrants,
  usersOfProvider,
} from '../store/provider-users.sql';

interface Deps {
  db: Db<Tables>;
  sealer: Sealer;
}

const DEFAULTS = {
  scopes: ['openid', 'profile', 'offline_access'],
  usernameClaim: 'preferred_username',
  groupsClaim: 'groups',
} as const;
/** Users whose roles are computed anew at once, when a mapping changes. */
const BATCH = 1_000;

/**
 * Creates a provider, or replaces all its settings; without `client_secret` a stored secret stays.
 * @throws AppError bad_parameters_error
 */
export async function putProvider(deps: Deps, id: string, wish: ProviderChange): Promise<void> {
  await change(deps, id, (before) => {
    for (const field of ['issuer', 'client_id'] as const)
      if (wish[field] === undefined) throw badParameter(field, `\`${field}\` is missing`);
    return { ...blank(id), secretSealed: before?.secretSealed ?? null, ...given(deps.sealer, id, wish) };
  });
}

/** Changes the given settings of a provider. @throws AppError not_found_error; bad_parameters_error */
export async function changeProvider(deps: Deps, id: string, wish: ProviderChange): Promise<void> {
  await change(deps, id, (before) => {
    if (!before) throw notFound('IdentityProvider', id);
    return { ...before, ...given(deps.sealer, id, wish) };
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
    if (after.issuer !== before?.issuer) requireIssuer(after.issuer);
    checkParameters(after.parameters);
    checkMapping(after.mapping, { roles: await listRoles(tx), tenants: await allTenantNames(tx) });
    // Subjects are unique within an issuer: under another one the same text can be another person.
    if (before && before.issuer !== after.issuer && (await usersOfProvider(tx, id, -1, 1)).length > 0)
      throw new AppError('illegal_action_error', 'The issuer of a provider with users cannot change', {
        field: 'issuer',
        expected: `${before.issuer}, or a new provider`,
      });
    await writeProvider(tx, after);
    if (before) await applyToUsers(tx, after);
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

const blank = (id: string): Provider => ({
  id,
  name: id,
  issuer: '',
  clientId: '',
  secretSealed: null,
  scopes: DEFAULTS.scopes,
  parameters: {},
  usernameClaim: DEFAULTS.usernameClaim,
  groupsClaim: DEFAULTS.groupsClaim,
  stripSuffix: null,
  mapping: [],
  provision: 'jit',
  caCertificate: null,
  isEnabled: true,
});

/** Returns the settings that the request gives. @throws AppError bad_parameters_error */
function given(sealer: Sealer, id: string, wish: ProviderChange): Partial<Provider> {
  const { client_secret: secret, claims } = wish;
  const all: { [K in keyof Provider]?: Provider[K] | undefined } = {
    name: wish.name === undefined ? undefined : requireText('name', wish.name),
    issuer: wish.issuer,
    clientId: wish.client_id === undefined ? undefined : requireText('client_id', wish.client_id),
    secretSealed: secret === undefined ? undefined : sealer.seal('client secret', id, new Secret(secret)),
    scopes: wish.scopes && requireScopes(wish.scopes),
    parameters: wish.parameters,
    ...(claims && {
      usernameClaim: claims.username ?? DEFAULTS.usernameClaim,
      groupsClaim: claims.groups ?? DEFAULTS.groupsClaim,
      stripSuffix: claims.strip_suffix ?? null,
    }),
    mapping: wish.mapping,
    provision: wish.provision,
    caCertificate:
      wish.ca_certificate === undefined
        ? undefined
        : wish.ca_certificate && requireCertificate(wish.ca_certificate, 'ca_certificate'),
    isEnabled: wish.is_enabled,
  };
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as Partial<Provider>;
}

/** @throws AppError bad_parameters_error unless `openid` is among them: without it there is no ID token */
function requireScopes(scopes: readonly string[]): readonly string[] {
  const bad = scopes.findIndex((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (bad >= 0) throw badParameter(`scopes.${bad}`, 'A scope is one word (RFC 6749, section 3.3)');
  if (!scopes.includes('openid'))
    throw badParameter('scopes', '`openid` is missing', { expected: 'openid and others' });
  return scopes;
}

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
  const passwordHash = await passwords.hash(randomText(40));
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
