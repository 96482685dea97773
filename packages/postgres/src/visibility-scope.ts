import type { Principal } from '@baton/contracts';
import { hasPermission, isAdministrator } from '@baton/contracts';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

export interface VisibilityColumns {
  tenant: RawBuilder<unknown>;
  visibility: RawBuilder<unknown>;
  creator: RawBuilder<unknown>;
}

/**
 * Condition for the rows that `principal` may see (reference/rest-api.md 3.5): global rows of every tenant, and in the tenants in
 * question the rows of visibility tenant and the private rows of the caller (all private ones for administrators). `of`: the
 * columns, or the table that has them as `tenant`, `visibility` and `created_by`. `allTenants` (`_all_tenants=true`): every tenant
 * that the caller may see, instead of the tenant of the request.
 */
export function visibilityScope(
  principal: Principal,
  of: string | VisibilityColumns,
  allTenants = false,
): RawBuilder<SqlBool> {
  const { tenant, visibility, creator } = typeof of === 'string' ? columnsOf(of) : of;
  const { reached, administered } = tenantsOf(principal, allTenants);
  const isGlobal = sql`${visibility} = 'global'`;
  const isOwnOrShared = sql`(${visibility} <> 'private' or ${creator} = ${principal.username})`;
  const branches: RawBuilder<unknown>[] = [isGlobal];
  if (administered === 'all') return sql<SqlBool>`true`;
  if (administered.length > 0) branches.push(inTenants(tenant, administered));
  if (reached === 'all') branches.push(isOwnOrShared);
  else if (reached.length > 0) branches.push(sql`(${inTenants(tenant, reached)} and ${isOwnOrShared})`);
  return sql<SqlBool>`(${sql.join(branches, sql` or `)})`;
}

const columnsOf = (table: string): VisibilityColumns => ({
  tenant: sql.ref(`${table}.tenant`),
  visibility: sql.ref(`${table}.visibility`),
  creator: sql.ref(`${table}.created_by`),
});

function inTenants(column: RawBuilder<unknown>, tenants: string[]): RawBuilder<unknown> {
  return tenants.length === 1 ? sql`${column} = ${tenants[0]}` : sql`${column} = any(${tenants}::text[])`;
}

interface Tenants {
  /** Tenants of which the caller sees every row. */
  administered: 'all' | string[];
  /** Tenants of which the caller sees shared and own rows. */
  reached: 'all' | string[];
}

function tenantsOf(principal: Principal, allTenants: boolean): Tenants {
  const current = principal.tenant === '' ? [] : [principal.tenant];
  const isAdmin = isAdministrator(principal);
  if (!allTenants)
    return isAdmin ? { administered: current, reached: [] } : { administered: [], reached: current };
  if (hasPermission(principal, 'all_tenants')) {
    const isSystemAdmin = principal.isBootstrapAdmin || principal.role === 'sys_admin';
    return { administered: isSystemAdmin ? 'all' : isAdmin ? current : [], reached: 'all' };
  }
  const managed = principal.tenants.filter((t) => t.roles.includes('manager')).map((t) => t.name);
  const administered = isAdmin ? [...new Set([...current, ...managed])] : managed;
  const reached = [...new Set([...current, ...principal.tenants.map((t) => t.name)])];
  return { administered, reached: reached.filter((name) => !administered.includes(name)) };
}
