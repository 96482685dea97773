import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseAnsible } from '../installation/choose';
import type { AnsiblePrograms } from '../installation/programs';
import { writeInventory } from '../inventory/inventory';
import { requireInside } from '../settings/inside';
import type { Place } from '../settings/place';
import { sensitiveValues } from '../settings/sensitive-values';
import type { Settings } from '../settings/settings';
import type { TaskScope } from '../settings/task-scope';
import { variablesOf } from './arguments';
import { environmentOf } from './environment';
import { endLeftovers } from './leftovers';
import { placePlaybook } from './playbook-files';

/** The files of one run of Ansible. */
export interface Workspace {
  /** Folder of everything, for its owner alone. */
  folder: string;
  playbook: string;
  inventory: string;
  variables: string;
  modules: string | null;
  programs: AnsiblePrograms;
  env: Readonly<Record<string, string>>;
}

/**
 * Makes the files of a run, calls `work`, and removes them with everything that the run has left running. A process that is killed
 * in between leaves them in its /tmp, which goes with it.
 */
export async function withWorkspace<T>(
  scope: TaskScope,
  place: Place,
  settings: Settings,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  hideSensitive(scope, settings);
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ansible-')));
  // Paths of sockets may have some hundred characters at most, and that of TMPDIR may be long.
  const sockets = await mkdtemp('/tmp/bcp-');
  try {
    const files = join(folder, 'playbook');
    const playbook = await placePlaybook(scope, settings, files);
    const secret = join(folder, 'private');
    await mkdir(secret, { mode: 0o700 });
    const inventory = await writeInventory(scope, place, settings, { playbook: files, secret });
    const variables = join(secret, 'variables.json');
    await writeFile(variables, JSON.stringify(variablesOf(settings)), { mode: 0o600 });
    const programs = await chooseAnsible(scope, place, settings);
    const modules = await modulesOf(scope, settings, folder);
    const env = await environmentOf(scope, place, settings, { folder, sockets, files, secret });
    return await work({
      folder,
      playbook,
      inventory,
      variables,
      modules,
      programs,
      env: { ...programs.env, ...env },
    });
  } finally {
    await endLeftovers([folder, sockets]);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    await rm(sockets, { recursive: true, force: true, maxRetries: 3 });
  }
}

function hideSensitive(scope: TaskScope, settings: Settings): void {
  const { sensitive_keys: keys, sources, run_data, options_config, ansible_env_vars } = settings;
  scope.hide(sensitiveValues({ sources, run_data, options_config, ansible_env_vars }, keys));
}

/** `module_path`: a folder of the worker, or one of the blueprint. */
async function modulesOf(
  { ctx }: TaskScope,
  { module_path: path }: Settings,
  folder: string,
): Promise<string | null> {
  if (path === '') return null;
  if (path.startsWith('/')) return path;
  return await ctx.downloadDirectory(requireInside(path, 'module_path'), join(folder, 'modules'));
}
