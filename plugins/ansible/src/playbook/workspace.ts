import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';
import { chooseAnsible } from '../installation/choose';
import type { AnsiblePrograms } from '../installation/programs';
import { writeInventory } from '../inventory/inventory';
import { requireInside } from '../settings/inside';
import type { Place } from '../settings/place';
import { sensitiveValues } from '../settings/sensitive-values';
import type { Settings } from '../settings/settings';
import type { TaskScope } from '../settings/task-scope';
import { variablesOf } from './arguments';
import { callbackFolder } from './callback-folder';
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

interface Folders {
  folder: string;
  sockets: string;
  files: string;
  secret: string;
}

async function environmentOf(
  scope: TaskScope,
  { instance }: Place,
  settings: Settings,
  { folder, sockets, files, secret }: Folders,
): Promise<Record<string, string>> {
  const given = textsOf(settings.ansible_env_vars);
  const { ANSIBLE_STDOUT_CALLBACK: shown = 'json', ANSIBLE_CALLBACK_PLUGINS: plugins } = given;
  const isOwn = ['json', 'baton_events'].includes(shown);
  const enabled = [given.ANSIBLE_CALLBACKS_ENABLED, isOwn ? undefined : 'baton_events'].filter(Boolean);
  const config = join(files, 'ansible.cfg');
  const hasConfig = (await stat(config).catch(() => null)) !== null;
  return {
    LC_ALL: 'C.UTF-8',
    ...(hasConfig ? { ANSIBLE_CONFIG: config } : {}),
    ANSIBLE_FORCE_COLOR: '0',
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_RETRY_FILES_ENABLED: 'False',
    ...given,
    // Beneath: what the run itself relies on.
    ANSIBLE_HOME: join(folder, 'home'),
    ANSIBLE_LOCAL_TEMP: join(folder, 'local'),
    ANSIBLE_SSH_CONTROL_PATH_DIR: sockets,
    ANSIBLE_STDOUT_CALLBACK: isOwn ? 'baton_events' : shown,
    ...(enabled.length > 0 ? { ANSIBLE_CALLBACKS_ENABLED: enabled.join(',') } : {}),
    ANSIBLE_CALLBACK_PLUGINS: [callbackFolder(), plugins].filter(Boolean).join(':'),
    BATON_EVENTS_TYPE: isOwn ? 'stdout' : 'notification',
    PYTHONUNBUFFERED: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    CTX_NODE_INSTANCE_ID: instance.id,
    CTX_DEPLOYMENT_ID: scope.ctx.deployment.id,
    ...(await kerberosOf(scope, settings, secret)),
  };
}

function textsOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (!/^[A-Za-z_]\w*$/.test(name))
        throw new FatalError(`ansible_env_vars: ${JSON.stringify(name)} is no name`);
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
      if (text.includes('\0'))
        throw new FatalError(`ansible_env_vars.${name}: the character 0 cannot stand there`);
      return [name, text];
    }),
  );
}

/** `kerberos_config`: the text of a krb5.conf, or a file of the blueprint. */
async function kerberosOf(
  { ctx }: TaskScope,
  { kerberos_config: given }: Settings,
  folder: string,
): Promise<Record<string, string>> {
  if (given === '') return {};
  const isText = given.includes('\n') || given.includes('=');
  const content = isText ? given : await ctx.getResource(requireInside(given, 'kerberos_config'));
  const file = join(folder, 'krb5.conf');
  await writeFile(file, content, { mode: 0o600 });
  return { KRB5_CONFIG: file };
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
