import { FatalError, type RelationshipScope } from '@baton/plugin-sdk';
import { installed } from './installed';
import type { HostScope } from './schema';

/**
 * Makes sure that there is a program, and writes down which one its modules use. A download is written down as its address and
 * digest: each worker fetches it once, since the next operation may run on another machine.
 */
export async function install(scope: HostScope): Promise<void> {
  const { properties, runtime, inputs } = scope;
  const { resource_config: config, terraform_config: places = {} } = properties;
  const given = inputs.installation_source;
  const source = typeof given === 'string' && given !== '' ? given : config.installation_source;
  if (places.plugins_dir) runtime.plugins_dir = places.plugins_dir;
  let program = places.executable_path ?? 'terraform';
  if (!config.use_existing_resource || typeof given === 'string') {
    const isProperty = source === config.installation_source;
    const installation = { source, ...(isProperty && config.sha256 ? { sha256: config.sha256 } : {}) };
    program = await installed(scope, installation);
    runtime.installation = installation;
    delete runtime.executable_path;
  } else runtime.executable_path = program;
  runtime.terraform_version = await versionOf(scope, program);
}

/** Removes what install has written down. Downloads go with the process of the plugin. */
export async function uninstall({ runtime }: HostScope): Promise<void> {
  for (const name of ['executable_path', 'plugins_dir', 'installation', 'terraform_version'] as const)
    delete runtime[name];
}

async function versionOf({ exec }: HostScope, program: string): Promise<string> {
  const { stdout } = await exec(program, ['version', '-json'], {
    env: { CHECKPOINT_DISABLE: '1' },
    exitCodes: { 1: 'fatal', 2: 'fatal', 126: 'fatal', 127: 'fatal' },
  });
  const found = /"(?:terraform|tofu)_version"\s*:\s*"([^"]+)"/.exec(stdout)?.[1];
  if (found === undefined)
    throw new FatalError('the program does not tell its version: it is neither terraform nor tofu');
  return found;
}

/** run_on_host: the module uses the program of its host. */
export async function useHost({ ctx }: RelationshipScope): Promise<void> {
  const [source, target] = [await ctx.source(), await ctx.target()];
  const { executable_path, plugins_dir, installation } = target.instance.runtimeProperties;
  const given = { executable_path, plugins_dir, installation };
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (Object.keys(known).length === 0)
    throw new FatalError(`${target.instance.id} has no program yet: its create must have ended`);
  Object.assign(source.instance.runtimeProperties, known);
}
