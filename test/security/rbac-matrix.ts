import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { defaultGrants } from '@baton/identity/permissions';

/** Role of the caller: a user with this role only; tenant roles are assigned in the user's own tenant. */
export const roles = ['sys_admin', 'manager', 'user', 'operations', 'viewer', 'default'] as const;
export type Role = (typeof roles)[number];
/** Tenant of the request: one that the caller belongs to, or another one. `default` belongs to none. */
export type Place = 'own' | 'other';
/** `decided by the service`: every logged-in user gets to the service, which checks the user itself. */
export type Verdict = 'allowed' | 'refused' | 'decided by the service';

const held = new Map<string, Set<string>>();
for (const { role, permission } of defaultGrants)
  held.set(permission, (held.get(permission) ?? new Set<string>()).add(role));

/** Returns permissions that some route names but no role can hold: an error in its contract. */
export const unknownPermissions = (): string[] =>
  allRoutes
    .map((route) => route.permission)
    .filter((name) => name !== 'none' && name !== 'login' && !held.has(name));

/** Returns the verdict of the permission table and the contract for one call (reference/rest-api.md 1.4, 2.4). */
export function verdictOf(route: RouteContract, role: Role, place: Place): Verdict {
  // Only callers with a session cookie have a session to show, or decide about the login of a program.
  if (['shows', 'closes', 'judges'].includes(route.session ?? '')) return 'decided by the service';
  // An open route that reads a credential may require a permission of callers with one.
  if (route.permission === 'none') return route.isCredentialRead ? 'decided by the service' : 'allowed';
  if (role === 'sys_admin') return 'allowed';
  if (route.reachesGlobal) return 'decided by the service';
  const isMember = role !== 'default' && place === 'own';
  // A tenant that the caller does not belong to: refused if the route requires a tenant; otherwise only system roles count.
  if (route.tenant === 'required' && !isMember) return 'refused';
  if (route.permission === 'login') return 'decided by the service';
  const roles = held.get(route.permission);
  const byTenant = route.tenant !== 'none' && isMember && roles?.has(role) === true;
  return byTenant || roles?.has('default') === true ? 'allowed' : 'refused';
}

export interface MatrixRow {
  route: RouteContract;
  cells: Record<Role, Record<Place, Verdict>>;
}

/** Returns one row per route. */
export function rbacMatrix(): MatrixRow[] {
  return [...allRoutes]
    .sort((a, b) => (`${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1))
    .map((route) => ({
      route,
      cells: Object.fromEntries(
        roles.map((role) => [
          role,
          { own: verdictOf(route, role, 'own'), other: verdictOf(route, role, 'other') },
        ]),
      ) as MatrixRow['cells'],
    }));
}
