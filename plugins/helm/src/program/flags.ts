import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';

/** A flag of helm: with a value, or alone. */
export interface Flag {
  name: string;
  value?: string;
}

const FLAG = z.object({ name: z.string(), value: z.union([z.string(), z.number(), z.boolean()]).nullish() });
const NAME = /^[a-z][a-z0-9-]{0,60}$/;
const MAX_FLAGS = 100;

/** Flags that the plugin sets itself, or that would lead past it: programs of an author's choosing, other clusters, other files. */
const REFUSED: Record<string, string> = {
  'post-renderer': 'it names a program',
  'post-renderer-args': 'it names a program',
  kubeconfig: 'client_config says the cluster',
  'kube-context': 'client_config says the cluster',
  'kube-apiserver': 'client_config says the cluster',
  'kube-token': 'client_config says the cluster',
  'kube-ca-file': 'client_config says the cluster',
  'kube-insecure-skip-tls-verify': 'client_config says the cluster',
  'kube-tls-server-name': 'client_config says the cluster',
  'kube-as-user': 'client_config says the cluster',
  'kube-as-group': 'client_config says the cluster',
  'registry-config': 'the plugin makes it',
  'repository-config': 'the plugin makes it',
  'repository-cache': 'the plugin makes it',
  keyring: 'it names a file of the machine',
  output: 'the plugin reads the output',
  values: 'values_file and set_values give values',
  set: 'values_file and set_values give values',
  'set-string': 'values_file and set_values give values',
  'set-json': 'values_file and set_values give values',
  'set-file': 'values_file and set_values give values',
  'set-literal': 'values_file and set_values give values',
};

/**
 * Reads flags as blueprints write them: `[{name, value}]`, with or without the hyphens. Later ones replace earlier ones of their name.
 * @throws FatalError for what is no flag, and for flags that lead past the plugin
 */
export function readFlags(where: string, ...lists: unknown[]): Flag[] {
  const flags = new Map<string, Flag>();
  for (const list of lists) {
    const parsed = z
      .array(FLAG)
      .max(MAX_FLAGS)
      .safeParse(list ?? []);
    if (!parsed.success)
      throw new FatalError(`${where}: expected a list of dictionaries with name and value`);
    for (const { name: written, value } of parsed.data) {
      const name = written.replace(/^--?/, '');
      if (!NAME.test(name))
        throw new FatalError(`${where}: ${JSON.stringify(written).slice(0, 80)} is no name of a flag`);
      const reason = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
      if (reason !== undefined) throw new FatalError(`${where}: the flag ${name} is not taken: ${reason}`);
      flags.set(name, value === null || value === undefined ? { name } : { name, value: String(value) });
    }
  }
  return [...flags.values()];
}

/** As arguments: `--name` or `--name=value`. A value can so never become a flag. */
export const argumentsOf = (flags: readonly Flag[]): string[] =>
  flags.map(({ name, value }) => (value === undefined ? `--${name}` : `--${name}=${value}`));

export const withoutFlags = (flags: readonly Flag[], names: readonly string[]): Flag[] =>
  flags.filter(({ name }) => !names.includes(name));

export const onlyFlags = (flags: readonly Flag[], names: readonly string[]): Flag[] =>
  flags.filter(({ name }) => names.includes(name));

export const valueOfFlag = (flags: readonly Flag[], name: string): string | undefined =>
  flags.find((flag) => flag.name === name)?.value;
