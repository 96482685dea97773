import type { BaseScope } from '@baton/plugin-sdk';
import { FatalError } from '@baton/plugin-sdk';
import { readYaml } from 'cloudify-kubernetes-plugin/cluster';
import type * as z from 'zod';
import { isDict, layered, valuesOfSets } from '../chart/set-values';
import { type Flag, readFlags, valueOfFlag, withoutFlags } from '../program/flags';
import type { RELEASE_CONFIG } from '../types/schema';

type Given = z.output<typeof RELEASE_CONFIG>;

/** What a release is to be: inputs of the operation, over what an upgrade has stored, over the properties. */
export interface ReleaseConfig {
  name: string;
  chart: string;
  namespace: string;
  flags: Flag[];
  /** Values of the file, under those that are set. */
  values: Record<string, unknown>;
}

/** What the operation upgrade_release has changed. Values are not here: they may be secrets. */
export interface StoredUpgrade {
  chart?: string;
  values_file?: string;
  flags?: Flag[];
}

interface Parts {
  config: Given;
  stored: StoredUpgrade | undefined;
  inputs: Readonly<Record<string, unknown>>;
  /** Namespace of the context of the kubeconfig. */
  contextNamespace: string | undefined;
}

const NAME = /^[a-z0-9]([a-z0-9.-]{0,51}[a-z0-9])?$/;
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_VALUES = 4 * 1024 * 1024;
const SECRET_NAME = /pass|secret|token|key|credential/i;

/** @throws FatalError for names, flags and values that are wrong */
export async function releaseConfigOf(
  scope: Pick<BaseScope, 'ctx' | 'http' | 'hide'>,
  { config, stored, inputs, contextNamespace }: Parts,
): Promise<ReleaseConfig> {
  const flags = readFlags('flags', config.flags, stored?.flags, inputs.flags);
  for (const name of ['username', 'password'])
    if (valueOfFlag(flags, name) !== undefined)
      throw new FatalError(
        `flags: ${name} would stand on the command line: give it to a node Repo or Registry of the deployment`,
      );
  const namespace = valueOfFlag(flags, 'namespace') ?? contextNamespace ?? 'default';
  if (!NAME.test(config.name))
    throw new FatalError(
      `resource_config.name: ${JSON.stringify(config.name).slice(0, 80)} is no name of a release`,
    );
  if (!NAMESPACE.test(namespace))
    throw new FatalError(`flags: ${JSON.stringify(namespace).slice(0, 80)} is no name of a namespace`);
  const file = textOf(inputs.values_file) ?? textOf(stored?.values_file) ?? textOf(config.values_file);
  const values = layered(
    file === undefined ? {} : await valuesOfFile(scope, file),
    layered(
      valuesOfSets(config.set_values, 'set_values'),
      valuesOfSets(inputs.set_values, 'inputs.set_values'),
    ),
  );
  hideSecrets(values, scope.hide);
  return {
    name: config.name,
    chart: textOf(inputs.chart) ?? textOf(stored?.chart) ?? config.chart,
    namespace,
    flags: withoutFlags(flags, ['namespace']),
    values: values as Record<string, unknown>,
  };
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Values of names such as `password` are masked in what helm says of failures. */
function hideSecrets(value: unknown, hide: (secret: unknown) => void, name = ''): void {
  if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value))
      hideSecrets(inner, hide, Array.isArray(value) ? name : key);
  else if (typeof value === 'string' && SECRET_NAME.test(name)) hide(value);
}

async function valuesOfFile({ ctx, http }: Pick<BaseScope, 'ctx' | 'http'>, file: string): Promise<unknown> {
  const text = /^https?:\/\//.test(file)
    ? await fetched(http, file)
    : Buffer.from(await ctx.getResource(file)).toString('utf8');
  const values = readYaml(text, `values_file: ${file}`) ?? {};
  if (!isDict(values)) throw new FatalError(`values_file: ${file} holds no dictionary`);
  return values;
}

async function fetched(http: BaseScope['http'], url: string): Promise<string> {
  const answer = await http.request('GET', url, { maxBytes: MAX_VALUES });
  if (answer.status !== 200) throw new FatalError(`values_file: the address was answered ${answer.status}`);
  return answer.text;
}
