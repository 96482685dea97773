/** Memberships of users, groups and tenants, read from the answers of the API. */
import type { GroupRow, TenantDetail, UserDetail } from '../api/people';

export interface Membership {
  name: string;
  /** The role assigned directly to the member; null: the member has roles only through groups. */
  role: string | null;
  /** Groups through which the member belongs here, each with its role. */
  via: string[];
}

const byName = (a: Membership, b: Membership): number => a.name.localeCompare(b.name, 'en');

/** Tenants of a user, with the directly assigned role and the roles through groups. */
export function tenantsOfUser({ tenants, tenant_roles: roles }: UserDetail): Membership[] {
  if (typeof tenants === 'number') return [];
  return Object.keys(tenants)
    .map((name) => ({
      name,
      role: roles?.direct[name] ?? null,
      via: Object.entries(roles?.groups[name] ?? {}).flatMap(([role, groups]) =>
        groups.map((group) => `${group} (${role})`),
      ),
    }))
    .sort(byName);
}

/** Users of a tenant. */
export function usersOfTenant({ users, user_roles: roles }: TenantDetail): Membership[] {
  if (typeof users === 'number') return [];
  return Object.keys(users)
    .map((name) => ({
      name,
      role: roles?.direct[name] ?? null,
      via: Object.entries(roles?.groups ?? {}).flatMap(([group, { role, users: members }]) =>
        members.includes(name) ? [`${group} (${role})`] : [],
      ),
    }))
    .sort(byName);
}

/** Groups of a tenant, or tenants of a group: each name with its role. */
export function rolesByName(roles: GroupRow['tenants'] | TenantDetail['groups']): Membership[] {
  if (typeof roles === 'number') return [];
  return Object.entries(roles)
    .map(([name, role]) => ({ name, role, via: [] }))
    .sort(byName);
}

/** Members without roles: users of a group, or groups of a user. */
export function plainMembers(names: number | readonly string[]): Membership[] {
  return typeof names === 'number' ? [] : names.map((name) => ({ name, role: null, via: [] })).sort(byName);
}

/** Returns the number of members. The API sends either a count or the names. */
export const sizeOf = (members: number | readonly string[] | object): number =>
  typeof members === 'number' ? members : Object.keys(members).length;
