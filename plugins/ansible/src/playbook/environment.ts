import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';
import { requireInside } from '../settings/inside';
import type { Place } from '../settings/place';
import type { Settings } from '../settings/settings';
import type { TaskScope } from '../settings/task-scope';
import { callbackFolder } from './callback-folder';

/** Folders of a run. */
export interface RunFolders {
  folder: string;
  /** Sockets of connections that stay open while the run goes on. */
  sockets: string;
  /** The copy of the playbook's folder. */
  files: string;
  /** For files that are only for their owner. */
  secret: string;
}

/**
 * The environment of Ansible: what the blueprint sets, and above it what the run relies on.
 * @throws FatalError for names and values that no environment can have
 */
export async function environmentOf(
  scope: TaskScope,
  { instance }: Place,
  settings: Settings,
  folders: RunFolders,
): Promise<Record<string, string>> {
  const given = textsOf(settings.ansible_env_vars);
  return {
    LC_ALL: 'C.UTF-8',
    ...(await ownFiles(given, folders)),
    ANSIBLE_FORCE_COLOR: '0',
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_RETRY_FILES_ENABLED: 'False',
    ...given,
    ANSIBLE_HOME: join(folders.folder, 'home'),
    ANSIBLE_LOCAL_TEMP: join(folders.folder, 'local'),
    ANSIBLE_SSH_CONTROL_PATH_DIR: folders.sockets,
    ...callbacksOf(given),
    PYTHONUNBUFFERED: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    CTX_NODE_INSTANCE_ID: instance.id,
    CTX_DEPLOYMENT_ID: scope.ctx.deployment.id,
    ...(await kerberosOf(scope, settings, folders.secret)),
  };
}

/** Our callback writes the output, or stands beside the one that the blueprint wants. */
function callbacksOf(given: Readonly<Record<string, string>>): Record<string, string> {
  const { ANSIBLE_STDOUT_CALLBACK: shown = 'json', ANSIBLE_CALLBACK_PLUGINS: plugins } = given;
  const isOwn = ['json', 'baton_events'].includes(shown);
  const enabled = [given.ANSIBLE_CALLBACKS_ENABLED, isOwn ? undefined : 'baton_events'].filter(Boolean);
  return {
    ANSIBLE_STDOUT_CALLBACK: isOwn ? 'baton_events' : shown,
    ...(enabled.length > 0 ? { ANSIBLE_CALLBACKS_ENABLED: enabled.join(',') } : {}),
    ANSIBLE_CALLBACK_PLUGINS: [callbackFolder(), plugins].filter(Boolean).join(':'),
    BATON_EVENTS_TYPE: isOwn ? 'stdout' : 'notification',
  };
}

const KEPT_OPEN = '-C -o ControlMaster=auto -o ControlPersist=60s';
const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null;

/**
 * What the files beside the playbook decide. `known_hosts`: only hosts with these keys are believed, whatever other options say: the
 * first one counts for ssh. Without it keys that a run accepts are forgotten with the run.
 */
async function ownFiles(
  given: Readonly<Record<string, string>>,
  { files, secret }: RunFolders,
): Promise<Record<string, string>> {
  const known = join(files, 'known_hosts');
  const config = join(files, 'ansible.cfg');
  const hasConfig = await exists(config);
  const isStrict = await exists(known);
  const acceptsAll = /^(false|no|off|0|f|n)$/i.test(given.ANSIBLE_HOST_KEY_CHECKING ?? '');
  const checks = isStrict
    ? `-o StrictHostKeyChecking=yes -o UserKnownHostsFile=${known}`
    : `-o UserKnownHostsFile=${join(secret, 'known_hosts')}`;
  return {
    ...(hasConfig ? { ANSIBLE_CONFIG: config } : {}),
    ...(isStrict || (acceptsAll && !hasConfig) ? { ANSIBLE_SSH_ARGS: `${KEPT_OPEN} ${checks}` } : {}),
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
