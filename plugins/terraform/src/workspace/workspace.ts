import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FatalError, type HeldLock } from '@baton/plugin-sdk';
import type { ModuleScope, Source } from '../module/schema';
import { fetchSource, locationOf } from '../source/fetch-source';
import { packFolder } from '../source/pack';
import { moduleFolder } from '../source/safe-path';
import { unpack } from '../source/unpack';
import { FILES, placeState, StateKeeper } from '../state/state-keeper';
import { binaryOf } from '../tool/binary';
import { type Terraform, terraformIn } from '../tool/terraform';
import { flagsFor } from './flags';
import { isOriginal, moveOriginal } from './original-source';
import { type Kept, type Settings, settingsOf } from './settings';
import { statePath } from './state-path';
import { tfvarsOf, writeAdditions } from './written-files';

/** A module that is ready to be run, in a folder of this operation alone. */
export interface Workspace {
  /** Private to the operation: variables and plans. */
  scratch: string;
  folder: string;
  settings: Settings;
  /** Inputs of earlier operations that are still in force. */
  kept: Kept;
  terraform: Terraform;
  /** Arguments with the variables, for commands that read the module. */
  variables: string[];
  /** Null: another backend has the state. */
  statePath: string | null;
  /** Further flags of the node for a command. */
  flags(command: string): string[];
}

export interface WorkspaceOptions {
  /** writes: takes the lock of the state, and stores what becomes of it. */
  state: 'reads' | 'writes';
  /** Fetches the source anew instead of taking the stored one. */
  isFresh?: boolean;
  /** Whether the fetched source is stored for later operations. Default: yes. */
  isKept?: boolean;
}

/**
 * Makes the folder of the module, runs `work`, and removes the folder. With `writes` the lock of the state is held meanwhile, and the
 * state is stored while it changes.
 * @throws LockedError when somebody else works on the module
 */
export async function inWorkspace<T>(
  scope: ModuleScope,
  options: WorkspaceOptions,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const scratch = await mkdtemp(join(tmpdir(), 'terraform-'));
  const lock =
    options.state === 'writes' || isOriginal(scope)
      ? await scope.files.lock(FILES.state, `${scope.ctx.operation.name} of ${scope.instanceId}`)
      : null;
  try {
    return await inFolder(scope, options, scratch, lock, work);
  } finally {
    await lock
      ?.release()
      .catch((error: Error) => scope.log.warning(`The lock of the state: ${error.message}`));
    await rm(scratch, { recursive: true, force: true });
  }
}

async function inFolder<T>(
  scope: ModuleScope,
  options: WorkspaceOptions,
  scratch: string,
  lock: HeldLock | null,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const kept = await keptSettings(scope);
  const settings = settingsOf(scope, kept);
  const root = join(scratch, 'source');
  await moveOriginal(scope, settings.sourcePath, lock);
  await provideSource(scope, settings.source, root, options);
  const folder = await moduleFolder(root, settings.sourcePath);
  await writeAdditions(folder, settings);
  const state = await textOfFile(scope, FILES.state);
  const terraform = terraformIn(scope, {
    binary: await binaryOf(scope),
    cwd: folder,
    env: await environmentOf(scratch, settings),
    silenceLimitMs: silenceOf(scope),
    signal: lock === null ? scope.signal : AbortSignal.any([scope.signal, lock.signal]),
  });
  const path = await initialized(scope, terraform, folder, state);
  const workspace: Workspace = {
    scratch,
    folder,
    settings,
    kept,
    terraform,
    variables: await variablesOf(scratch, folder, settings),
    statePath: path,
    flags: (command) => flagsFor(command, settings.config.flags_override),
  };
  if (lock === null || path === null || options.state === 'reads') return await work(workspace);
  return await watched(new StateKeeper(path, lock, state, scope.log), () => work(workspace));
}

/** Reads a file of the instance as text; null: there is none. */
export async function textOfFile(
  { files }: Pick<ModuleScope, 'files'>,
  name: string,
): Promise<string | null> {
  const content = await files.read(name);
  return content === null ? null : Buffer.from(content).toString('utf8');
}

async function keptSettings(scope: ModuleScope): Promise<Kept> {
  const text = await textOfFile(scope, FILES.settings);
  return text === null ? {} : (JSON.parse(text) as Kept);
}

/** The last state is stored whatever the work comes to; its error goes before that of the work. */
async function watched<T>(keeper: StateKeeper, work: () => Promise<T>): Promise<T> {
  keeper.start();
  try {
    return await work();
  } finally {
    await keeper.stop();
  }
}

/** Unpacks the stored source, or fetches it and stores it. */
async function provideSource(
  scope: ModuleScope,
  source: Source,
  root: string,
  { isFresh = false, isKept = true }: WorkspaceOptions,
): Promise<void> {
  const stored = isFresh ? null : await scope.files.read(FILES.source);
  if (stored !== null) {
    await mkdir(root, { mode: 0o700 });
    return await unpack(stored, root);
  }
  await fetchSource(scope, source, root);
  if (!isKept) return;
  await scope.files.write(FILES.source, await packFolder(root));
  scope.runtime.last_source_location = locationOf(source).location;
}

async function initialized(
  scope: ModuleScope,
  terraform: Terraform,
  folder: string,
  state: string | null,
): Promise<string | null> {
  const { properties, runtime } = scope;
  const plugins =
    typeof runtime.plugins_dir === 'string' && runtime.plugins_dir !== ''
      ? [`-plugin-dir=${runtime.plugins_dir}`]
      : [];
  const args = [
    'init',
    '-no-color',
    '-input=false',
    ...plugins,
    ...(properties.provider_upgrade ? ['-upgrade'] : []),
  ];
  if (state !== null) await placeState(join(folder, 'terraform.tfstate'), state);
  const further = flagsFor('init', properties.resource_config.flags_override);
  await terraform.run([...args, ...further]);
  const path = await statePath(folder);
  if (path === null && state !== null) await rm(join(folder, 'terraform.tfstate'), { force: true });
  if (path !== null && state !== null) await placeState(path, state);
  return path;
}

/** The variables of the node go through a file that only this account reads. */
async function variablesOf(
  scratch: string,
  folder: string,
  { config, variables }: Settings,
): Promise<string[]> {
  if (config.tfvars) return [`-var-file=${tfvarsOf(folder, config.tfvars)}`];
  const path = join(scratch, 'variables.tfvars.json');
  await writeFile(path, JSON.stringify(variables), { mode: 0o600 });
  return [`-var-file=${path}`];
}

async function environmentOf(scratch: string, { environment }: Settings): Promise<Record<string, string>> {
  const settings = join(scratch, 'terraformrc');
  await writeFile(settings, 'disable_checkpoint = true\n', { mode: 0o600 });
  return {
    TF_CLI_CONFIG_FILE: settings,
    ...environment,
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    CHECKPOINT_DISABLE: '1',
  };
}

const DEFAULT_SILENCE_S = 300;

function silenceOf({ properties }: ModuleScope): number {
  const { max_sleep_time: seconds = DEFAULT_SILENCE_S } = properties.general_executor_process;
  const value = Number(seconds);
  if (!(value > 0)) throw new FatalError('general_executor_process.max_sleep_time: expected seconds');
  return value * 1000;
}
