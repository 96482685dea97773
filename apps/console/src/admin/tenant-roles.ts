import type { Pair } from '../ui/pair-rows';

/** Rows of tenants with roles in the format of the API; rows without a tenant are left out. */
export const tenantRolesOf = (rows: readonly Pair[]): { name: string; role: string }[] =>
  rows.flatMap(([name, role]) => (name.trim() === '' ? [] : [{ name: name.trim(), role }]));
