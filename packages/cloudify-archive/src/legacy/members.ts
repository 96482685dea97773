import { type Note, setOwn, type ValueObject } from '../value';
import type { References } from './references';
import type { RoleFinding } from './roles';
import type { Row } from './row';

/** Accounts that managers before 5.1 used among themselves. */
const REPORTERS = new Set(['manager_status_reporter', 'db_status_reporter', 'broker_status_reporter']);

export interface Members {
  references: References;
  roles: ReadonlyMap<number, RoleFinding>;
}

/** Why a user is left out; null for a user of people. */
export const leftOut = (username: string | null | undefined): string | null =>
  username && REPORTERS.has(username) ? 'an account that managers used among themselves' : null;

/** A user with roles and groups by their names. */
export function userOf(row: Row, { references, roles }: Members): ValueObject {
  const id = row.integer('id')!;
  const text = (column: string): ValueObject[string] => row.text(column) ?? null;
  return {
    username: text('username'),
    role: systemRole(references.joined('users_roles', id), roles, row.notes),
    password_hash: text('password'),
    is_active: row.read('active', 'boolean') ?? true,
    tenants: tenantRoles(references.joined('users_tenants', id), { references, roles }, row.notes),
    groups: references
      .joined('users_groups', id)
      .map(([group]) => references.nameOf('groups', group!))
      .filter((name) => name !== null),
    created_at: text('created_at'),
    first_login_at: text('first_login_at'),
    last_login_at: text('last_login_at'),
    email: text('email'),
    first_name: text('first_name'),
    last_name: text('last_name'),
    show_getting_started: row.read('show_getting_started', 'boolean') ?? false,
  };
}

export function groupOf(row: Row, { references, roles }: Members): ValueObject {
  const id = row.integer('id')!;
  return {
    name: row.text('name') ?? null,
    ldap_dn: row.text('ldap_dn') ?? null,
    role: systemRole(references.joined('groups_roles', id), roles, row.notes),
    tenants: tenantRoles(references.joined('groups_tenants', id), { references, roles }, row.notes),
  };
}

type Joined = readonly (readonly number[])[];

function systemRole(joined: Joined, roles: Members['roles'], notes: Note[]): string | null {
  // Where somebody has several, the first that is known.
  const names = joined.map(([role]) => roleName(role!, 'role', roles, notes));
  return names.find((name) => name !== null) ?? null;
}

function tenantRoles(joined: Joined, { references, roles }: Members, notes: Note[]): ValueObject {
  const tenants: ValueObject = {};
  for (const [tenant, role] of joined) {
    const name = references.nameOf('tenants', tenant!);
    if (name === null) continue;
    const roleOf = roleName(role!, `tenants.${name}`, roles, notes);
    if (roleOf !== null) setOwn(tenants, name, roleOf);
  }
  return tenants;
}

function roleName(id: number, path: string, roles: Members['roles'], notes: Note[]): string | null {
  const found = roles.get(id);
  if (found?.name) return found.name;
  const message = `role ${id} has no name (${found?.reason ?? 'it is nowhere'}); name it in the option roles`;
  notes.push({ code: 'role-unknown', path, message });
  return null;
}
