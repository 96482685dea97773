import {
  type Fate,
  type ImportClient,
  type ImportContext,
  type Importer,
  lost,
  metFate,
  takeValid,
} from '@baton/import-part';
import { canonicalJson } from '@baton/kernel';
import { defaultSystemRole } from '../domain/roles';
import { tenantRolesHere } from './chosen-tenants';
import { madeHere, noteMade } from './made-here';
import { type GroupRecord, groupRecord } from './records';
import { type RolesHere, rolesHere } from './roles-here';
import { compareRights, rolesInTenants, tenantNames } from './tenant-roles';

interface GroupHere {
  name: string;
  ldap_dn: string | null;
  role: string;
  tenants: Record<string, string>;
}

/** User groups by name, with their role and their roles in tenants. */
export const userGroupsImporter: Importer = {
  type: 'user_groups',
  take: (context, records) =>
    takeValid(records, groupRecord, 'name', async (valid) => {
      if (context.options.users === 'ignore') return valid.map(({ name }) => ignored(name));
      const roles = await rolesHere(context);
      const known = await tenantNames(context.client);
      const here = await groupsHere(context.client, valid);
      const fates: Fate[] = [];
      for (const group of valid) fates.push(await takeGroup(context, { group, roles, known, here }));
      return fates;
    }),
};

const ignored = (id: string): Fate => ({
  id,
  fate: 'skipped',
  code: 'users_ignored',
  text: 'the options take over no users and groups',
});

async function groupsHere(
  client: ImportClient,
  groups: readonly GroupRecord[],
): Promise<Map<string, GroupHere>> {
  const { rows } = await client.query<GroupHere>(
    `select name, ldap_dn, role,
       coalesce((select jsonb_object_agg(tenant, tg.role) from tenant_groups tg where tg.group_name = g.name), '{}') as tenants
     from user_groups g where lower(name) = any($1::text[])`,
    [groups.map(({ name }) => name.toLowerCase())],
  );
  return new Map(rows.map((row) => [row.name.toLowerCase(), row]));
}

async function takeGroup(
  context: ImportContext,
  {
    group,
    roles,
    known,
    here,
  }: { group: GroupRecord; roles: RolesHere; known: ReadonlySet<string>; here: Map<string, GroupHere> },
): Promise<Fate> {
  const { client, options } = context;
  const system = await roles.roleOf(group.role ?? defaultSystemRole, 'system_role');
  if (system.role === null) return lost(group.name, 'role_unknown', system.reason);
  const given = tenantRolesHere(context, group.tenants, known);
  const inTenants = await rolesInTenants(roles, given.roles);
  const wanted: GroupHere = {
    name: group.name,
    ldap_dn: group.ldap_dn || null,
    role: system.role,
    tenants: inTenants.roles,
  };
  const met = here.get(group.name.toLowerCase());
  if (!met && options.users === 'map')
    return {
      id: group.name,
      fate: 'skipped',
      code: 'not_created',
      text: 'it is not here, and the options make no users and groups',
    };
  const rights = compareRights(met?.tenants ?? {}, wanted.tenants, await madeHere(client, 'tenant'));
  const fate: Fate = met
    ? metFate(context, {
        id: group.name,
        met: canonicalJson(met),
        isSame: isSameGroup(met, wanted, rights.differs),
        what: 'a user group of this name',
      })
    : { id: group.name, fate: 'imported' };
  if (fate.fate === 'same' && rights.adds.length > 0) {
    await writeGroup(client, { ...met!, tenants: wanted.tenants });
    return { ...fate, code: 'roles_added', text: `now also in: ${rights.adds.slice(0, 20).join(', ')}` };
  }
  if (fate.fate !== 'imported' && fate.fate !== 'replaced') return fate;
  if (await isDnTaken(client, wanted))
    return lost(group.name, 'ldap_dn_taken', 'another user group has its ldap_dn');
  await writeGroup(client, { ...wanted, name: met?.name ?? group.name });
  if (!met) await noteMade(client, 'group', [group.name]);
  here.set(group.name.toLowerCase(), wanted);
  const dropped = [...given.dropped, ...inTenants.dropped];
  if (dropped.length === 0 || fate.code) return fate;
  return { ...fate, code: 'roles_dropped', text: `without its roles in: ${dropped.slice(0, 20).join(', ')}` };
}

const isSameGroup = (met: GroupHere, wanted: GroupHere, differs: boolean): boolean =>
  !differs &&
  met.role === wanted.role &&
  (met.ldap_dn ?? '').toLowerCase() === (wanted.ldap_dn ?? '').toLowerCase();

async function isDnTaken(client: ImportClient, { name, ldap_dn: dn }: GroupHere): Promise<boolean> {
  if (dn === null) return false;
  const { rows } = await client.query(
    'select 1 from user_groups where lower(ldap_dn) = lower($1) and lower(name) <> lower($2)',
    [dn, name],
  );
  return rows.length > 0;
}

async function writeGroup(client: ImportClient, { name, ldap_dn, role, tenants }: GroupHere): Promise<void> {
  await client.query(
    `insert into user_groups (name, ldap_dn, role) values ($1, $2, $3)
     on conflict (name) do update set ldap_dn = excluded.ldap_dn, role = excluded.role`,
    [name, ldap_dn, role],
  );
  await client.query(
    `insert into tenant_groups (group_name, tenant, role) select $1, t.* from unnest($2::text[], $3::text[]) t
     on conflict (group_name, tenant) do update set role = excluded.role`,
    [name, Object.keys(tenants), Object.values(tenants)],
  );
}
