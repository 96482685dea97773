import type { Estate, Items } from './estate';

/** Numbers that a database would have given: by table, and for tables of tenants by tenant and name. */
export class Keys {
  readonly #keys = new Map<string, number>();
  #next = 0;

  /** A number for an object; the same one whenever it is asked for. */
  of(table: string, ...names: (string | null)[]): number {
    const id = JSON.stringify([table, ...names]);
    let key = this.#keys.get(id);
    if (key === undefined) this.#keys.set(id, (key = this.#next++));
    return key;
  }

  text(table: string, ...names: (string | null)[]): string | null {
    return names.at(-1) === null ? null : String(this.of(table, ...names));
  }
}

export const ROLE_IDS: Readonly<Record<string, number>> = {
  sys_admin: 1,
  manager: 2,
  user: 3,
  operations: 4,
  viewer: 5,
  default: 6,
};

/** Numbers begin with the administrator, who is user 0. */
export function newKeys(estate: Estate): Keys {
  const keys = new Keys();
  for (const { username } of estate.manager.users ?? []) keys.of('users', username);
  for (const { name } of estate.manager.tenants ?? []) keys.of('tenants', name);
  return keys;
}

/** The deployment of a node instance is found by its node. */
export const nodeKey = (items: Items, instance: string | null): [string, string] | null => {
  const found = (items.node_instances ?? []).find(({ id }) => id === instance);
  return found ? [found.deployment_id!, found.node_id] : null;
};
