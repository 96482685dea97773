/** Values of one host, by the names that Ansible has for them. */
export type HostConfig = Readonly<Record<string, unknown>>;

/** An inventory as the runtime property `sources` holds it: the form of the original. */
export interface Sources {
  all: { hosts: Record<string, HostConfig | null>; children: Record<string, Group> };
}
interface Group {
  hosts: Record<string, HostConfig | null>;
  [more: string]: unknown;
}

type Dict = Readonly<Record<string, unknown>>;
const dict = (value: unknown): Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Dict) : {};

/** Names of hosts as the original writes them: playbooks know these. */
const hostName = (name: string): string => name.replaceAll('_', '-').toLowerCase();

/** Reads a stored or given inventory: with `all`, or groups alone. */
export function sourcesOf(value: unknown): Sources {
  const given = dict(value);
  const all = Object.hasOwn(given, 'all') ? dict(given.all) : { children: given };
  return {
    all: {
      hosts: hostsOf(all.hosts),
      children: Object.fromEntries(
        Object.entries(dict(all.children)).map(([name, group]) => [
          name,
          { ...dict(group), hosts: hostsOf(dict(group).hosts) },
        ]),
      ),
    },
  };
}

const hostsOf = (value: unknown): Record<string, HostConfig | null> =>
  Object.fromEntries(
    Object.entries(dict(value)).map(([name, config]) => [
      hostName(name),
      config === null ? null : dict(config),
    ]),
  );

/** An inventory of one host in some groups; further groups name the host alone. */
export function sourcesOfHost(
  name: string,
  config: HostConfig,
  group: string,
  more: readonly string[] = [],
): Sources {
  const children: Record<string, Group> = {};
  for (const one of more) children[one] = { hosts: { [hostName(name)]: null } };
  children[group] = { hosts: { [hostName(name)]: config } };
  return { all: { hosts: {}, children } };
}

/** Adds hosts. A host that is there in the same group gets the new values. */
export function merged(present: unknown, added: Sources): Sources {
  const { all } = sourcesOf(present);
  for (const [name, group] of Object.entries(added.all.children)) {
    const known = all.children[name];
    all.children[name] = { ...known, ...group, hosts: { ...known?.hosts, ...group.hosts } };
  }
  return { all: { ...all, hosts: { ...all.hosts, ...added.all.hosts } } };
}

/** Takes a host out of all groups that `removed` names. Groups without hosts stay, as in the original. */
export function without(present: unknown, removed: Sources): Sources {
  const { all } = sourcesOf(present);
  for (const [name, group] of Object.entries(removed.all.children))
    for (const host of Object.keys(group.hosts)) delete all.children[name]?.hosts[host];
  return { all };
}

/** Whether an inventory names a host or a group. */
export function isEmpty(value: unknown): boolean {
  const { all } = sourcesOf(value);
  return Object.keys(all.hosts).length === 0 && Object.keys(all.children).length === 0;
}
