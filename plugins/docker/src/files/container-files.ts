import { posix } from 'node:path';
import { FatalError, type NodeScope, nodeType } from '@baton/plugin-sdk';
import { quote, type SshConnection } from '@baton/plugin-sdk/ssh';
import * as z from 'zod';
import { checked } from '../engine/client-config';
import { atMachine, DOCKER_MACHINE } from '../host/machine';
import { hostOfSources, inventoryOf } from './ansible-files';
import {
  FOLDER_RUNTIME,
  inContainer,
  makeFolder,
  removeFolder,
  requireInside,
  writeOwn,
} from './machine-folder';
import { placeSource } from './place-source';
import { BACKEND, TERRAFORM_RUNTIME, writeTerraformFiles } from './terraform-files';

const PROPERTIES = z.object({
  resource_config: z.object({
    docker_machine: DOCKER_MACHINE.default(DOCKER_MACHINE.parse({})).describe(
      'The machine of the containers',
    ),
    source: z
      .string()
      .default('')
      .describe('File of the blueprint, or an address. An archive (tar, tar.gz, zip) is unpacked'),
    destination: z.string().default('').describe('Folder on the machine; empty: a new one'),
    extra_files: z.array(z.string()).default([]).describe('Further files of the blueprint'),
    ansible_sources: z
      .record(z.string(), z.any())
      .default({})
      .describe('container_volume, playbook_path, and values of the host for its inventory'),
    terraform_sources: z
      .record(z.string(), z.any())
      .default({})
      .describe('container_volume, storage_dir, plugins_dir, plugins, variables, backend'),
  }),
});

const RUNTIME = z.object({
  ...FOLDER_RUNTIME,
  ...TERRAFORM_RUNTIME,
  ansible_container_command_arg: z.string().describe('Command for a container that runs the playbook'),
});

const TERRAFORM_SOURCES = z.object({
  container_volume: z.string().default(''),
  storage_dir: z.string().default('').transform(orName('storage')),
  plugins_dir: z.string().default('').transform(orName('plugins')),
  plugins: z.union([z.array(z.string()), z.record(z.string(), z.any()).transform(Object.keys)]).default([]),
  variables: z.record(z.string(), z.any()).default({}),
  backend: BACKEND.default({}),
});

type FilesScope = NodeScope<typeof PROPERTIES, typeof RUNTIME>;

function orName(name: string): (given: string) => string {
  return (given) => (given === '' ? name : given);
}

async function create(scope: FilesScope): Promise<void> {
  const { ansible_sources: ansible, terraform_sources, docker_machine } = scope.properties.resource_config;
  const terraform = Object.keys(terraform_sources).length > 0 ? terraformOf(terraform_sources) : null;
  const isAnsible = Object.keys(ansible).length > 0;
  if (isAnsible) hostOfSources(ansible);
  await atMachine(scope, docker_machine, async (connection) => {
    const { destination } = scope.properties.resource_config;
    const folder = await makeFolder(scope, connection, docker_machine, destination);
    await placeFiles(scope, connection, terraform === null ? folder : posix.join(folder, terraform.storage));
    if (isAnsible) await writeAnsible(scope, connection, folder);
    if (terraform !== null)
      await writeTerraformFiles(scope, connection, {
        ...terraform,
        folder,
        volume: terraform.volume || docker_machine.container_volume,
      });
  });
}

function terraformOf(sources: Readonly<Record<string, unknown>>) {
  const where = 'resource_config.terraform_sources';
  const read = checked(TERRAFORM_SOURCES, sources, where);
  return {
    volume: read.container_volume,
    storage: requireInside(read.storage_dir, `${where}.storage_dir`),
    plugins: requireInside(read.plugins_dir, `${where}.plugins_dir`),
    providers: read.plugins,
    variables: read.variables,
    backend: read.backend,
    providersName: `${where}.plugins`,
  };
}

async function placeFiles(scope: FilesScope, connection: SshConnection, folder: string): Promise<void> {
  const { source, extra_files: files } = scope.properties.resource_config;
  await connection.run(`mkdir -p -- ${quote(folder)}`);
  if (source !== '') await placeSource(scope, connection, source, folder, { name: 'resource_config.source' });
  for (const file of files)
    await connection.put(await scope.ctx.getResource(file), posix.join(folder, posix.basename(file)), {
      mode: 0o644,
    });
}

async function writeAnsible(scope: FilesScope, connection: SshConnection, folder: string): Promise<void> {
  const { ansible_sources: sources, docker_machine } = scope.properties.resource_config;
  const { playbook, hosts } = hostOfSources(sources);
  const volume = String(sources.container_volume ?? docker_machine.container_volume);
  const { text, keys } = inventoryOf(hosts, (file) => inContainer(volume, file));
  for (const [file, key] of Object.entries(keys)) {
    scope.hide(key);
    await writeOwn(scope, connection, posix.join(folder, file), key);
  }
  await writeOwn(scope, connection, posix.join(folder, 'hosts'), text);
  if (playbook.startsWith('-')) throw new FatalError('ansible_sources.playbook_path: begins with -');
  scope.runtime.ansible_container_command_arg = `ansible-playbook -i hosts ${quote(playbook)}`;
}

/** Files of the blueprint on the machine of containers, for their volumes. */
export const containerFiles = nodeType({
  description: 'Files of the blueprint on the machine of containers',
  properties: PROPERTIES,
  runtime: RUNTIME,
  mappings: {
    create: 'docker.cloudify_docker.tasks.prepare_container_files',
    delete: 'docker.cloudify_docker.tasks.remove_container_files',
  },
  create,
  async delete(scope) {
    await removeFolder(scope, scope.properties.resource_config.docker_machine);
    for (const name of Object.keys(RUNTIME.shape) as (keyof typeof RUNTIME.shape)[])
      delete scope.runtime[name];
  },
  resumable: ['create', 'delete'],
});
