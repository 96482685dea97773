import { type Fate, type ImportContext, type Importer, lost, metFate, takeValid } from '@baton/import-part';
import { canonicalJson } from '@baton/kernel';
import { bootstrapAdminId } from '../domain/principal';
import { defaultSystemRole, systemAdmin } from '../domain/roles';
import { tenantRolesHere } from './chosen-tenants';
import type { ImportedPasswords } from './imported-password';
import { madeHere } from './made-here';
import { type UserRecord, userRecord } from './records';
import { type RolesHere, rolesHere } from './roles-here';
import { compareRights, rolesInTenants, tenantNames } from './tenant-roles';
import { addRights, type ImportedUser, insertUsers, type UserHere, updateUser, usersHere } from './users.sql';

/** Users by which the parts of an old manager told their state. */
const STATUS_REPORTER = /^(manager|db|broker)_status_reporter$/;

/** What all users of a batch need to know about this manager. */
interface Here {
  roles: RolesHere;
  tenants: ReadonlySet<string>;
  madeTenants: ReadonlySet<string>;
  groups: ReadonlySet<string>;
  madeGroups: ReadonlySet<string>;
  users: ReadonlyMap<string, UserHere>;
  /** New users of the batch, by their name in small letters. */
  fresh: Map<string, ImportedUser>;
}

/**
 * Users by name, in any letter case. The first administrator, users of identity providers and service accounts are only mapped; nobody
 * who is here gets another password.
 */
export function usersImporter(deps: { passwords: ImportedPasswords }): Importer {
  return {
    type: 'users',
    take: (context, records) =>
      takeValid(records, userRecord, 'username', async (valid) => {
        const here: Here = {
          roles: await rolesHere(context),
          tenants: await tenantNames(context.client),
          madeTenants: await madeHere(context.client, 'tenant'),
          groups: await groupNames(context),
          madeGroups: await madeHere(context.client, 'group'),
          users: await usersHere(
            context,
            valid.map(({ username }) => username),
          ),
          fresh: new Map(),
        };
        notePersons(context, valid);
        const fates: Fate[] = [];
        for (const user of valid) fates.push(await takeUser(deps, context, user, here));
        await insertUsers(context.client, [...here.fresh.values()]);
        return fates;
      }),
  };
}

async function groupNames({ client }: ImportContext): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>('select name from user_groups');
  return new Set(rows.map(({ name }) => name));
}

function notePersons(context: ImportContext, users: readonly UserRecord[]): void {
  const count = users.filter((user) => user.email || user.first_name || user.last_name).length;
  if (count > 0)
    context.note(`E-mail addresses and names of ${count} persons are not kept: users have none here`);
}

async function takeUser(
  deps: { passwords: ImportedPasswords },
  context: ImportContext,
  user: UserRecord,
  here: Here,
): Promise<Fate> {
  const id = user.username;
  const met = here.users.get(id.toLowerCase());
  if (here.fresh.has(id.toLowerCase()))
    return lost(id, 'repeated', 'the archive has another user of this name');
  const special = skippedUser(context, user, met);
  if (special) return special;
  const system = await here.roles.roleOf(user.role ?? defaultSystemRole, 'system_role');
  if (system.role === null) return lost(id, 'role_unknown', system.reason);
  const given = tenantRolesHere(context, user.tenants, here.tenants);
  const inTenants = await rolesInTenants(here.roles, given.roles);
  const wanted = {
    role: system.role,
    active: user.is_active,
    tenants: inTenants.roles,
    groups: user.groups.filter((group) => here.groups.has(group)),
  };
  const missing = user.groups.filter((group) => !here.groups.has(group)).map((group) => `group ${group}`);
  const dropped = [...given.dropped, ...inTenants.dropped, ...missing];
  if (met) return await takeMet(context, met, wanted, here);
  const password = await deps.passwords.of(context, user);
  const { created_at, first_login_at, last_login_at, show_getting_started } = user;
  const times = { created_at, first_login_at, last_login_at };
  here.fresh.set(id.toLowerCase(), {
    ...wanted,
    ...times,
    username: id,
    show_getting_started,
    password_hash: password.hash,
  });
  if (dropped.length > 0)
    return {
      id,
      fate: 'imported',
      code: 'roles_dropped',
      text: `without: ${dropped.slice(0, 20).join(', ')}`,
    };
  if (wanted.role === systemAdmin)
    return {
      id,
      fate: 'imported',
      code: 'is_administrator',
      text: 'the user is an administrator of this manager',
    };
  return { id, fate: 'imported', ...password.told };
}

/** The fate of users that are not taken over for what they are; null for all others. */
function skippedUser({ options }: ImportContext, user: UserRecord, met: UserHere | undefined): Fate | null {
  const id = user.username;
  const skipped = (code: string, text: string): Fate => ({ id, fate: 'skipped', code, text });
  if (STATUS_REPORTER.test(id)) return skipped('status_reporter', 'a user of the old manager for itself');
  if (met?.id === bootstrapAdminId)
    return {
      id,
      fate: 'same',
      code: 'administrator_mapped',
      text: 'the first administrator keeps password and rights of this manager',
    };
  if (options.users === 'ignore')
    return skipped('users_ignored', 'the options take over no users and groups');
  if (met?.isMapped)
    return {
      id,
      fate: 'same',
      code: 'user_mapped',
      text: 'a user of an identity provider or a service account has this name and stays',
    };
  if (!met && options.users === 'map')
    return skipped('not_created', 'the user is not here, and the options make no users');
  return null;
}

type Wanted = Pick<UserHere, 'role' | 'active' | 'tenants' | 'groups'>;

async function takeMet(context: ImportContext, met: UserHere, wanted: Wanted, here: Here): Promise<Fate> {
  const { client } = context;
  const tenants = compareRights(met.tenants, wanted.tenants, here.madeTenants);
  const groups = compareRights(asRights(met.groups), asRights(wanted.groups), here.madeGroups);
  const fate = metFate(context, {
    id: met.username,
    met: canonicalJson([met.role, met.active, met.tenants, met.groups]),
    isSame: met.role === wanted.role && met.active === wanted.active && !tenants.differs && !groups.differs,
    what: 'a user of this name',
  });
  if (fate.fate === 'replaced') await updateUser(client, met.id, wanted);
  const adds = [...tenants.adds, ...groups.adds.map((group) => `group ${group}`)];
  if (fate.fate !== 'same' || adds.length === 0) return fate;
  await addRights(client, met.id, wanted);
  return { ...fate, code: 'roles_added', text: `now also in: ${adds.slice(0, 20).join(', ')}` };
}

const asRights = (groups: readonly string[]): Record<string, string> =>
  Object.fromEntries(groups.map((group) => [group, 'member']));
