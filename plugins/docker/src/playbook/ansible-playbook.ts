import { posix } from 'node:path';
import { FatalError, type NodeScope, nodeType } from '@baton/plugin-sdk';
import { quote, type SshConnection } from '@baton/plugin-sdk/ssh';
import * as z from 'zod';
import { type Inventory, inventoryOf } from '../files/ansible-files';
import {
  FOLDER_RUNTIME,
  inContainer,
  makeFolder,
  removeFolder,
  requireInside,
  writeOwn,
} from '../files/machine-folder';
import { kindOfName, placeFolder, placeSource } from '../files/place-source';
import { atMachine, DOCKER_MACHINE } from '../host/machine';
import { playbookCommand, variablesOf } from './command';
import { PRECREATE_INPUTS, SETTINGS, SETTINGS_RUNTIME, type Settings } from './schema';
import { settingsOf, storedSettings } from './settings';

const PROPERTIES = SETTINGS.extend({
  docker_machine: DOCKER_MACHINE.nullish().describe('The machine of the containers'),
});

const RUNTIME = z.object({
  ...FOLDER_RUNTIME,
  ...SETTINGS_RUNTIME,
  ansible_container_command_arg: z.string().describe('Command for a container that runs the playbook'),
});

type PlaybookScope = NodeScope<typeof PROPERTIES, typeof RUNTIME>;

const PLAYBOOK = 'playbook';
const INVENTORY = 'hosts';
const VARIABLES = 'vars.json';

async function create(scope: PlaybookScope): Promise<void> {
  const { properties, runtime } = scope;
  const { settings, hidden } = settingsOf(properties, runtime);
  scope.hide(hidden);
  const path = playbookPath(settings);
  const volume = properties.docker_machine?.container_volume ?? '';
  const command = playbookCommand(settings, {
    inventory: inContainer(volume, INVENTORY),
    variables: inContainer(volume, VARIABLES),
    playbook: inContainer(volume, PLAYBOOK, insideOf(settings, path)),
  });
  const { text, keys } = await inventory(scope, settings, volume);
  await atMachine(scope, properties.docker_machine, async (connection) => {
    const folder = await makeFolder(scope, connection, properties.docker_machine!);
    await placePlaybook(scope, connection, settings, path, posix.join(folder, PLAYBOOK));
    const files = { ...keys, [INVENTORY]: text, [VARIABLES]: JSON.stringify(variablesOf(settings)) };
    for (const [name, content] of Object.entries(files))
      await writeOwn(scope, connection, posix.join(folder, name), content);
    const playbook = posix.join(folder, PLAYBOOK, insideOf(settings, path));
    const { exitCode } = await connection.run(`test -f ${quote(playbook)}`, { exitCodes: { 1: 'ok' } });
    if (exitCode === 1)
      throw new FatalError(
        `playbook_path: there is no file ${path} in ${settings.playbook_source_path || 'the blueprint'}`,
      );
  });
  runtime.ansible_env_vars ??= settings.ansible_env_vars;
  runtime.ansible_container_command_arg = command;
}

function playbookPath(settings: Settings): string {
  const name = settings.playbook_path === '' ? 'site_yaml_path' : 'playbook_path';
  if (settings[name] === '') throw new FatalError('playbook_path: the playbook is missing');
  return requireInside(settings[name], name);
}

/** A playbook comes with its folder, which loses its path; else paths stay as they are. */
const comesWithFolder = (settings: Settings): boolean =>
  settings.playbook_source_path === '' && settings.additional_playbook_files.length === 0;

const insideOf = (settings: Settings, path: string): string =>
  comesWithFolder(settings) ? posix.basename(path) : path;

async function placePlaybook(
  scope: PlaybookScope,
  connection: SshConnection,
  settings: Settings,
  path: string,
  folder: string,
): Promise<void> {
  const { playbook_source_path: source, additional_playbook_files: files } = settings;
  const name = 'playbook_source_path';
  await connection.run(`mkdir -p -- ${quote(folder)}`);
  if (source.includes('://') || kindOfName(source) !== null)
    return await placeSource(scope, connection, source, folder, { name, skipsParent: true });
  if (source !== '') return await placeFolder(scope, connection, requireInside(source, name), folder);
  if (comesWithFolder(settings)) return await placeFolder(scope, connection, posix.dirname(path), folder);
  for (const file of [path, ...files]) {
    const inside = requireInside(file, 'additional_playbook_files');
    const target = posix.join(folder, inside);
    await connection.run(`mkdir -p -- ${quote(posix.dirname(target))}`);
    await connection.put(await scope.ctx.getResource(inside), target, { mode: 0o644 });
  }
}

/** A text with more than a path in it is an inventory itself. */
async function inventory({ ctx }: PlaybookScope, { sources }: Settings, volume: string): Promise<Inventory> {
  if (typeof sources !== 'string') return inventoryOf(sources, (file) => inContainer(volume, file));
  if (sources === '') return { text: '', keys: {} };
  if (/[\s,=[]/.test(sources)) return { text: sources, keys: {} };
  const bytes = await ctx.getResource(requireInside(sources, 'sources'));
  return { text: Buffer.from(bytes).toString('utf8'), keys: {} };
}

/** A playbook on the machine of containers, and the command that runs it in a container. */
export const ansiblePlaybook = nodeType({
  description: 'Files and command for a container that runs a playbook of Ansible',
  properties: PROPERTIES,
  runtime: RUNTIME,
  inputs: { precreate: PRECREATE_INPUTS },
  mappings: {
    precreate: 'docker.cloudify_docker.ansible.set_playbook_config',
    create: 'docker.cloudify_docker.ansible.create_ansible_playbook',
    delete: 'docker.cloudify_docker.ansible.remove_ansible_playbook',
  },
  precreate({ properties, runtime, inputs }) {
    Object.assign(runtime, storedSettings(properties, inputs));
  },
  create,
  async delete(scope) {
    await removeFolder(scope, scope.properties.docker_machine);
    for (const name of Object.keys(RUNTIME.shape) as (keyof typeof RUNTIME.shape)[])
      delete scope.runtime[name];
  },
  resumable: ['precreate', 'create', 'delete'],
});
