import { FatalError } from '@baton/plugin-sdk';

const KEY = 'ansible_ssh_private_key_file';

export interface Inventory {
  /** JSON, which Ansible reads as YAML. */
  text: string;
  /** Texts of private keys by the name of their file. */
  keys: Readonly<Record<string, string>>;
}

/** Whether a value is the text of a private key, not the path of its file. */
export const isKeyText = (value: unknown): value is string =>
  typeof value === 'string' && /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(value);

/** An inventory with paths of files in the place of private keys. `pathOf`: where the container has a file. */
export function inventoryOf(hosts: unknown, pathOf: (file: string) => string): Inventory {
  const keys: Record<string, string> = {};
  const filed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(filed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        if (name !== KEY || !isKeyText(inner)) return [name, filed(inner)];
        const file = `.ssh-key-${Object.keys(keys).length + 1}`;
        keys[file] = inner.endsWith('\n') ? inner : `${inner}\n`;
        return [name, pathOf(file)];
      }),
    );
  };
  return { text: JSON.stringify(filed(hosts), null, 2), keys };
}

/** The inventory of `ansible_sources`: all its members are values of one host, `instance`. @throws FatalError without a playbook */
export function hostOfSources(sources: Readonly<Record<string, unknown>>): {
  playbook: string;
  hosts: unknown;
} {
  const { container_volume: _, playbook_path: playbook, ...host } = sources;
  if (typeof playbook !== 'string' || playbook === '')
    throw new FatalError('resource_config.ansible_sources.playbook_path: the playbook is missing');
  return { playbook, hosts: { all: { hosts: { instance: host } } } };
}
