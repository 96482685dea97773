import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';
import type { Backend } from '../module/schema';
import type { Settings } from './settings';

const BACKEND_FILE = 'baton_backend.tf.json';

/** Writes what the node adds to its module: backend, providers, required providers. In JSON, which terraform takes as its own. */
export async function writeAdditions(folder: string, { config, backend }: Settings): Promise<void> {
  await writeBackend(folder, backend);
  const { provider, required_providers: required } = config;
  if (provider.providers !== undefined && provider.providers.length > 0)
    await writeJson(folder, jsonName(provider.filename), { provider: providersOf(provider.providers) });
  if (required.required_providers !== undefined && Object.keys(required.required_providers).length > 0)
    await writeJson(folder, jsonName(required.filename), {
      terraform: { required_providers: required.required_providers },
    });
}

/** Writes the backend; without a name nothing is written, and the module decides. */
export async function writeBackend(folder: string, { name, options = {} }: Backend): Promise<void> {
  if (name === undefined || name === '') return;
  await writeJson(folder, BACKEND_FILE, { terraform: { backend: { [name]: options } } });
}

function providersOf(providers: readonly unknown[]): Record<string, unknown[]> {
  const byName: Record<string, unknown[]> = {};
  for (const provider of providers) {
    const { name, options = {} } = (provider ?? {}) as { name?: unknown; options?: unknown };
    if (typeof name !== 'string')
      throw new FatalError('resource_config.provider.providers: each needs a name');
    (byName[name] ??= []).push(options);
  }
  return byName;
}

/** The file has the name that the blueprint gives, and says that it is JSON. */
function jsonName(name: string): string {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name))
    throw new FatalError(
      `resource_config: ${JSON.stringify(name).slice(0, 100)} is no name of a file in the module`,
    );
  return `${name.replace(/(\.tf)?(\.json)?$/, '')}.tf.json`;
}

async function writeJson(folder: string, name: string, content: unknown): Promise<void> {
  await writeFile(join(folder, name), JSON.stringify(content, null, 2), { mode: 0o600 });
}

/** The file of variables that the module brings. @throws FatalError when it is not there */
export function tfvarsOf(folder: string, name: string): string {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_./-]*$/.test(name) || name.split('/').includes('..'))
    throw new FatalError('resource_config.tfvars: expected the name of a file in the module');
  if (!existsSync(join(folder, name)))
    throw new FatalError(`resource_config.tfvars: the module has no file ${name}`);
  return name;
}
