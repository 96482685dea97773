import { type ImportClient, type ImportContext, stagedRecords } from '@baton/import-part';
import { defaultRoles, type RoleType } from '../domain/roles';
import { noteMade } from './made-here';
import { permissionRecord } from './records';

/** The roles that every manager has. Their permissions are those of this manager, whatever an archive says. */
export const BUILT_IN: ReadonlySet<string> = new Set(defaultRoles.map(({ name }) => name));

/** Permissions by role, as the archive has them. */
export async function archivePermissions(
  client: ImportClient,
  importId: string,
): Promise<Map<string, Set<string>>> {
  const roles = new Map<string, Set<string>>();
  for await (const batch of stagedRecords(client, importId, 'permissions'))
    for (const { item } of batch) {
      const read = permissionRecord.safeParse(item);
      if (!read.success) continue;
      const { role, permission } = read.data;
      const known = roles.get(role);
      if (known) known.add(permission);
      else roles.set(role, new Set([permission]));
    }
  return roles;
}

/** Makes a custom role. It has no permission until the permissions of the archive are taken. */
export async function makeRole(
  client: ImportClient,
  name: string,
  type: RoleType,
  source: string,
): Promise<void> {
  await client.query('insert into roles (name, type, description) values ($1, $2, $3)', [
    name,
    type,
    `Imported from ${source}`,
  ]);
  await noteMade(client, 'role', [name]);
}

/** Finds the role here of a role of the archive. */
export interface RolesHere {
  /** Null: there is none of that type. `reason` says why, for the report. */
  roleOf(name: string, type: RoleType): Promise<{ role: string } | { role: null; reason: string }>;
}

/**
 * A role of the archive is, in this order: what the option `roles` says; the role of that name here, if it has the type; a new role,
 * if the archive has permissions of it. No role is guessed: a wrong guess could give rights.
 */
export async function rolesHere(context: ImportContext): Promise<RolesHere> {
  const { client, importId, options, source } = context;
  const { rows } = await client.query<{ name: string; type: RoleType }>('select name, type from roles');
  const types = new Map(rows.map(({ name, type }) => [name, type]));
  let archive: Map<string, Set<string>> | null = null;
  return {
    roleOf: async (name, type) => {
      const wanted = Object.hasOwn(options.roles, name) ? options.roles[name]! : name;
      const found = types.get(wanted);
      if (found === type) return { role: wanted };
      if (found) return { role: null, reason: `role ${wanted} is no ${type.replace('_', ' ')} here` };
      archive ??= await archivePermissions(client, importId);
      if (wanted !== name || !archive.has(name))
        return { role: null, reason: `role ${wanted} is not here; name another one with the option roles` };
      await makeRole(client, name, type, source);
      types.set(name, type);
      return { role: name };
    },
  };
}
