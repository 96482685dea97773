import type { ImportContext } from '@baton/import-part';

/**
 * Name here of a tenant of the archive; null: it was not chosen. Names that the map yields count as themselves, because records may
 * have been renamed before they were staged.
 */
export function tenantHere({ options }: Pick<ImportContext, 'options'>, name: string): string | null {
  const map = options.tenants;
  if (map === undefined) return name;
  if (Object.hasOwn(map, name)) return map[name]!;
  return Object.values(map).includes(name) ? name : null;
}

/** Roles by the names of tenants here, without tenants that are missing. `dropped`: chosen tenants that are missing here. */
export function tenantRolesHere(
  context: Pick<ImportContext, 'options'>,
  roles: Readonly<Record<string, string>>,
  known: ReadonlySet<string>,
): { roles: Record<string, string>; dropped: string[] } {
  const here: Record<string, string> = {};
  const dropped: string[] = [];
  for (const [name, role] of Object.entries(roles)) {
    const tenant = tenantHere(context, name);
    if (tenant === null) continue;
    if (known.has(tenant)) here[tenant] = role;
    else dropped.push(name);
  }
  return { roles: here, dropped };
}
