import { BUILTIN_ROLES } from './builtin-roles';

/** A role of the old manager. Dumps hold the numbers of roles and not their names. */
export interface RoleFinding {
  id: number;
  /** Null: nothing tells it; it must be named by the option `roles`. */
  name: string | null;
  /** Why it is this role, or why it is not known. */
  reason: string;
  permissions: number;
}

export interface RoleFacts {
  /** Names of permissions by role; dumps of 5.1.1 and later hold them. */
  permissions: ReadonlyMap<number, ReadonlySet<string>>;
  /** Numbers of roles that users and groups have. */
  used: Iterable<number>;
  /** The role of user 0, which is the administrator that every manager begins with. */
  adminRoles: readonly number[];
  /** What the operator says, by number. */
  given: Readonly<Record<string, string>>;
}

/**
 * Names the roles of a dump. A role is recognized only by its whole set of permissions: of those that 7.1 and the old manager both know,
 * it must have exactly those of one role of 7.1. Nothing is guessed: a wrong guess could give rights.
 */
export function findRoles({ permissions, used, adminRoles, given }: RoleFacts): Map<number, RoleFinding> {
  const ids = new Set([...permissions.keys(), ...used, ...adminRoles]);
  const known = new Set([...permissions.values()].flatMap((names) => [...names]));
  const found = new Map<number, RoleFinding>();
  for (const id of [...ids].sort((a, b) => a - b)) {
    const names = permissions.get(id);
    const role = { id, permissions: names?.size ?? 0 };
    const said = Object.hasOwn(given, id) ? given[id]! : null;
    if (said !== null) found.set(id, { ...role, name: said, reason: 'named by the operator' });
    else if (names) found.set(id, { ...role, ...byPermissions(names, known) });
    else if (adminRoles.length === 1 && adminRoles[0] === id)
      found.set(id, { ...role, name: 'sys_admin', reason: 'user 0, the first administrator, has it' });
    else found.set(id, { ...role, name: null, reason: 'the dump holds no permissions of it' });
  }
  return found;
}

function byPermissions(
  names: ReadonlySet<string>,
  known: ReadonlySet<string>,
): Pick<RoleFinding, 'name' | 'reason'> {
  const every = new Set([...BUILTIN_ROLES.values()].flatMap((role) => [...role]));
  const common = [...names].filter((name) => every.has(name));
  const same = [...BUILTIN_ROLES].filter(([, builtin]) => {
    const expected = [...builtin].filter((name) => known.has(name));
    return (
      expected.length > 0 && expected.length === common.length && common.every((name) => builtin.has(name))
    );
  });
  if (same.length === 1)
    return { name: same[0]![0], reason: `it has the ${common.length} permissions of ${same[0]![0]} in 7.1` };
  if (same.length > 1)
    return {
      name: null,
      reason: `its permissions are those of ${same.map(([role]) => role).join(' and of ')}`,
    };
  return { name: null, reason: 'no role of 7.1 has its permissions' };
}
