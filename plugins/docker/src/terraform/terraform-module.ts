import { posix } from 'node:path';
import { type NodeScope, nodeType } from '@baton/plugin-sdk';
import type { SshConnection } from '@baton/plugin-sdk/ssh';
import { quote } from '@baton/plugin-sdk/ssh';
import * as z from 'zod';
import { FOLDER_RUNTIME, makeFolder, removeFolder, requireInside } from '../files/machine-folder';
import { kindOfName, placeFolder, placeSource } from '../files/place-source';
import { BACKEND, TERRAFORM_RUNTIME, writeTerraformFiles } from '../files/terraform-files';
import { atMachine, DOCKER_MACHINE } from '../host/machine';

const PROPERTIES = z.object({
  docker_machine: DOCKER_MACHINE.nullish().describe('The machine of the containers'),
  terraform_plugins: z
    .array(z.string())
    .default([])
    .describe('Providers: archives or programs of the blueprint, or addresses'),
  resource_config: z.object({
    source: z.string().describe('The module: an archive, folder or file of the blueprint, or an address'),
    backend: BACKEND.default({}).describe('Where the state is'),
    variables: z.record(z.string(), z.any()).default({}),
    environment_variables: z
      .record(z.string(), z.any())
      .default({})
      .describe('Stored as a runtime property, for the environment of the container'),
  }),
});

const RUNTIME = z.object({
  ...FOLDER_RUNTIME,
  ...TERRAFORM_RUNTIME,
  environment_variables: z.record(z.string(), z.any()),
});

type ModuleScope = NodeScope<typeof PROPERTIES, typeof RUNTIME>;

const STORAGE = 'storage';
const NAME = 'resource_config.source';

async function create(scope: ModuleScope): Promise<void> {
  const { docker_machine: machine, resource_config: config, terraform_plugins: providers } = scope.properties;
  await atMachine(scope, machine, async (connection) => {
    const folder = await makeFolder(scope, connection, machine!);
    await placeModule(scope, connection, posix.join(folder, STORAGE));
    await writeTerraformFiles(scope, connection, {
      folder,
      volume: machine!.container_volume,
      storage: STORAGE,
      plugins: 'plugins',
      providers,
      variables: config.variables,
      backend: config.backend,
      providersName: 'terraform_plugins',
    });
  });
  scope.runtime.environment_variables = config.environment_variables;
}

async function placeModule(scope: ModuleScope, connection: SshConnection, storage: string): Promise<void> {
  const { source } = scope.properties.resource_config;
  await connection.run(`mkdir -p -- ${quote(storage)}`);
  const isFile = source.includes('://') || kindOfName(source) !== null || /\.tf(\.json)?$/.test(source);
  if (isFile) await placeSource(scope, connection, source, storage, { name: NAME, skipsParent: true });
  else await placeFolder(scope, connection, requireInside(source, NAME), storage);
}

/** A module of Terraform on the machine of containers, and the command that applies it in a container. */
export const terraformModule = nodeType({
  description: 'Files and command for a container that applies a module of Terraform',
  properties: PROPERTIES,
  runtime: RUNTIME,
  mappings: {
    create: 'docker.cloudify_docker.terraform.prepare_terraform_files',
    delete: 'docker.cloudify_docker.terraform.remove_terraform_files',
  },
  create,
  async delete(scope) {
    await removeFolder(scope, scope.properties.docker_machine);
    for (const name of Object.keys(RUNTIME.shape) as (keyof typeof RUNTIME.shape)[])
      delete scope.runtime[name];
  },
  resumable: ['create', 'delete'],
});
