import {
  type Fate,
  type ImportClient,
  type ImportContext,
  type Importer,
  takeValid,
} from '@baton/import-part';
import { madeHere } from './made-here';
import { permissionRecord } from './records';
import { archivePermissions, BUILT_IN, makeRole } from './roles-here';

/**
 * Permissions of roles. A role that this import makes gets those of the archive. A built-in role keeps those of this manager: what the
 * archive has more is reported and not given. A custom role that was here follows the option on_conflict.
 */
export const permissionsImporter: Importer = {
  type: 'permissions',
  take: (context, records) =>
    takeValid(records, permissionRecord, 'role', async (valid) => {
      const { client, options } = context;
      await makeUnusedRoles(
        context,
        valid.map(({ role }) => role),
      );
      const made = await madeHere(client, 'role');
      const held = await heldHere(client, valid);
      const wanted: { role: string; permission: string }[] = [];
      const fates = valid.map(({ role, permission }): Fate => {
        const id = `${role}/${permission}`;
        const isNew = made.has(role);
        if (held.has(id)) return { id, fate: 'same', ...(isNew ? {} : { met: id }) };
        if (Object.hasOwn(options.roles, role))
          return {
            id,
            fate: 'skipped',
            code: 'role_mapped',
            text: `role ${role} is ${options.roles[role]} here`,
          };
        if (BUILT_IN.has(role))
          return {
            id,
            fate: 'lost',
            code: 'role_not_widened',
            text: `role ${role} has not this permission here`,
          };
        if (isNew || options.on_conflict === 'replace') wanted.push({ role, permission });
        if (isNew) return { id, fate: 'imported' };
        const told = {
          id,
          code: 'differs',
          text: `role ${role} is here without this permission`,
          met: `no ${id}`,
        };
        if (options.on_conflict === 'replace') return { ...told, fate: 'replaced' };
        return { ...told, fate: options.on_conflict === 'skip' ? 'skipped' : 'conflict' };
      });
      await give(client, wanted);
      return fates;
    }),
};

/** Custom roles that nobody has: of the weaker type, for tenants. */
async function makeUnusedRoles({ client, options, source }: ImportContext, roles: string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select distinct name from unnest($1::text[]) name where not exists (select from roles r where r.name = name.name)',
    [roles],
  );
  for (const { name } of rows)
    if (!Object.hasOwn(options.roles, name)) await makeRole(client, name, 'tenant_role', source);
}

async function heldHere(
  client: ImportClient,
  pairs: readonly { role: string; permission: string }[],
): Promise<Set<string>> {
  const { rows } = await client.query<{ role: string; permission: string }>(
    `select role, permission from role_permissions
     join unnest($1::text[], $2::text[]) as wanted (role, permission) using (role, permission)`,
    [pairs.map(({ role }) => role), pairs.map(({ permission }) => permission)],
  );
  return new Set(rows.map(({ role, permission }) => `${role}/${permission}`));
}

async function give(
  client: ImportClient,
  pairs: readonly { role: string; permission: string }[],
): Promise<void> {
  if (pairs.length === 0) return;
  await client.query(
    `insert into role_permissions (role, permission) select * from unnest($1::text[], $2::text[]) on conflict do nothing`,
    [pairs.map(({ role }) => role), pairs.map(({ permission }) => permission)],
  );
  await client.query('update authorization_state set revision = revision + 1');
}

/** Notes permissions that built-in roles have here and had not in the archive: people get them by the move. */
export async function noteWiderRoles(context: ImportContext): Promise<void> {
  const archive = await archivePermissions(context.client, context.importId);
  const known = new Set([...archive.values()].flatMap((names) => [...names]));
  const { rows } = await context.client.query<{ role: string; permission: string }>(
    'select role, permission from role_permissions order by role, permission',
  );
  for (const role of BUILT_IN) {
    const there = archive.get(role);
    if (!there) continue;
    // Permissions that the old manager did not know at all are no difference in what somebody decided.
    const more = rows.filter(
      (row) => row.role === role && !there.has(row.permission) && known.has(row.permission),
    );
    if (more.length === 0) continue;
    const names = more.slice(0, 20).map(({ permission }) => permission);
    context.note(
      `Role ${role} has ${more.length} permissions here that it had not in the archive: ${names.join(', ')}${more.length > names.length ? ', ...' : ''}`,
    );
  }
}
