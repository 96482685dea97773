import type { ImportClient } from '@baton/import-part';
import type { RolesHere } from './roles-here';

/** Names of the tenants that are here and open. */
export async function tenantNames(client: ImportClient): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    'select name from tenants where closing_since is null',
  );
  return new Set(rows.map(({ name }) => name));
}

/** Roles by tenant with the names of roles here. `dropped`: tenants whose role is not known here. */
export async function rolesInTenants(
  roles: RolesHere,
  wanted: Readonly<Record<string, string>>,
): Promise<{ roles: Record<string, string>; dropped: string[] }> {
  const here: Record<string, string> = {};
  const dropped: string[] = [];
  for (const [tenant, name] of Object.entries(wanted)) {
    const found = await roles.roleOf(name, 'tenant_role');
    if (found.role === null) dropped.push(`${tenant} (${found.reason})`);
    else here[tenant] = found.role;
  }
  return { roles: here, dropped };
}

/**
 * How the rights of an object here differ from those of the archive. Rights that it has only here stay. `adds`: what is missing, in
 * tenants or groups that this import has made. `differs`: another role, or one that is missing where people of this manager decide.
 */
export function compareRights(
  here: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
  made: ReadonlySet<string>,
): { adds: string[]; differs: boolean } {
  const other = Object.keys(wanted).filter((name) => here[name] !== wanted[name]);
  return {
    adds: other.filter((name) => made.has(name)),
    differs: other.some((name) => !made.has(name) || here[name] !== undefined),
  };
}
