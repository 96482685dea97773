import { posix } from 'node:path';
import { FatalError, type NodeScope, nodeType } from '@baton/plugin-sdk';
import { quote, type SshConnection } from '@baton/plugin-sdk/ssh';
import * as z from 'zod';
import { atMachine, DOCKER_MACHINE } from '../host/machine';

const PROPERTIES = z.object({
  resource_config: z.object({
    docker_machine: DOCKER_MACHINE.default(DOCKER_MACHINE.parse({})).describe(
      'The machine of the containers',
    ),
    source: z
      .string()
      .default('')
      .describe('File of the blueprint. An archive (tar, tar.gz, zip) is unpacked'),
    destination: z.string().default('').describe('Folder on the machine; empty: a new one'),
    extra_files: z.array(z.string()).default([]).describe('Further files of the blueprint'),
    ansible_sources: z.record(z.string(), z.any()).default({}).describe('Not offered'),
    terraform_sources: z.record(z.string(), z.any()).default({}).describe('Not offered'),
  }),
});

const RUNTIME = z.object({
  destination: z.string().describe('Folder on the machine'),
  docker_host: z.string().describe('Address of the machine'),
  is_own: z.boolean().describe('Whether the folder was made by this node'),
});

type FilesScope = NodeScope<typeof PROPERTIES, typeof RUNTIME>;

async function create(scope: FilesScope): Promise<void> {
  const { resource_config: config } = scope.properties;
  for (const name of ['ansible_sources', 'terraform_sources'] as const)
    if (Object.keys(config[name]).length > 0)
      throw new FatalError(
        `resource_config.${name}: not offered: write the file in the blueprint, and name it in extra_files`,
      );
  await atMachine(scope, config.docker_machine, async (connection) => {
    const folder = await destinationOf(scope, connection);
    if (config.source !== '') await unpack(scope, connection, config.source, folder);
    for (const file of config.extra_files)
      await connection.put(await scope.ctx.getResource(file), posix.join(folder, posix.basename(file)), {
        mode: 0o644,
      });
  });
}

/** Stored before anything is written: delete knows what is ours. */
async function destinationOf(
  { properties, runtime, ctx }: FilesScope,
  connection: SshConnection,
): Promise<string> {
  const { destination, docker_machine: machine } = properties.resource_config;
  runtime.docker_host = machine.docker_ip;
  if (runtime.destination !== undefined) return runtime.destination;
  if (destination === '') {
    const { stdout } = await connection.run('mktemp -d');
    Object.assign(runtime, { destination: stdout.trim(), is_own: true });
  } else {
    if (!posix.isAbsolute(destination))
      throw new FatalError('resource_config.destination: expected an absolute path');
    const { exitCode } = await connection.run(`test -e ${quote(destination)}`, { exitCodes: { 1: 'ok' } });
    Object.assign(runtime, { destination, is_own: exitCode === 1 });
  }
  await (await ctx.instance()).update();
  await connection.run(`mkdir -p -- ${quote(runtime.destination!)}`);
  return runtime.destination!;
}

async function unpack(
  { ctx }: FilesScope,
  connection: SshConnection,
  source: string,
  folder: string,
): Promise<void> {
  if (/^https?:/.test(source))
    throw new FatalError('resource_config.source: expected a file of the blueprint');
  const file = posix.join(folder, posix.basename(source));
  await connection.put(await ctx.getResource(source), file, { mode: 0o644 });
  const isTar = /\.(tar|tgz|tar\.(gz|bz2|xz))$/.test(source);
  if (!isTar && !source.endsWith('.zip')) return;
  const program = isTar
    ? `tar -xf ${quote(file)} -C ${quote(folder)}`
    : `unzip -oq ${quote(file)} -d ${quote(folder)}`;
  await connection.run(`${program} && rm -f -- ${quote(file)}`);
}

async function remove(scope: FilesScope): Promise<void> {
  const { runtime, log, properties } = scope;
  const { destination, is_own: isOwn } = runtime;
  if (destination !== undefined && isOwn === true)
    await atMachine(scope, properties.resource_config.docker_machine, async (connection) => {
      await connection.run(`rm -rf -- ${quote(destination)}`);
    });
  else if (destination !== undefined) log.info(`${destination} was there before this node: its files stay`);
  for (const name of ['destination', 'docker_host', 'is_own'] as const) delete runtime[name];
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
  delete: remove,
  resumable: ['create', 'delete'],
});
