import { FatalError, type NodeScope, nodeType } from '@baton/plugin-sdk';
import { plainLine } from '@baton/plugin-sdk/ssh';
import * as z from 'zod';
import { CLIENT_CONFIG, placeOf } from '../engine/client-config';
import { type Engine, withEngine } from '../engine/engine';
import { outputOf } from '../engine/output';
import { imageId } from '../image/image';
import { type ContainerSettings, readContainerArgs } from './container-args';
import { followed, type Inspected, infoOf, inspect } from './run-to-end';
import { splitWords } from './split-words';

const PROPERTIES = z.object({
  client_config: CLIENT_CONFIG.nullish().describe('Where the engine is'),
  resource_config: z.object({
    image_tag: z.string().default('').describe('Name and tag of the image'),
    container_args: z
      .record(z.string(), z.any())
      .default({})
      .describe('Arguments of the container, by the names of the Docker SDK for Python'),
  }),
});

const RUNTIME = z.object({
  container: z.string().describe('Id of the container'),
  container_info: z.any().describe('What the engine says about the container'),
  container_args: z.record(z.string(), z.unknown()),
  image_id: z.string().describe('Digest of the image that the container runs'),
  run_result: z.string().describe('The last part of the output of a container that is not detached'),
  exit_code: z.number(),
});

const STOP_INPUTS = z.object({
  stop_command: z.string().default('').describe('Command that runs in the container before it is stopped'),
});

type ContainerScope = NodeScope<typeof PROPERTIES, typeof RUNTIME>;

/** Finds the container of an attempt whose worker was lost between the creation and its record. */
const LABEL = 'io.baton.task';

const atEngine = <T>(scope: ContainerScope, work: (engine: Engine) => Promise<T>): Promise<T> => {
  const { client_config: config } = scope.properties;
  scope.hide([config?.ssh?.key, config?.ssh?.password, config?.tls?.key]);
  return withEngine(placeOf(config), scope, work);
};

const settingsOf = ({ properties }: ContainerScope): ContainerSettings => {
  const { image_tag: image, container_args: args } = properties.resource_config;
  if (image === '') throw new FatalError('resource_config.image_tag: the name of the image is missing');
  return readContainerArgs(image, args);
};

/** Creates and starts the container. One that is not detached is followed to its end. */
async function create(scope: ContainerScope): Promise<void> {
  const { runtime, properties } = scope;
  const settings = settingsOf(scope);
  await atEngine(scope, async (engine) => {
    const id = await scope.step('create', async () => await created(scope, engine, settings));
    runtime.container = id;
    runtime.container_args = properties.resource_config.container_args;
    await engine.call('POST', `/containers/${id}/start`);
    if (!settings.isDetached) runtime.run_result = await followed(scope, engine, id, settings.isTerminal);
    const found = await inspect(engine, id);
    if (found === null) return;
    runtime.image_id = found.Image;
    runtime.container_info = infoOf(found);
    if (!settings.isDetached) runtime.exit_code = found.State.ExitCode;
    if (!settings.isDetached && found.State.ExitCode !== 0)
      scope.log.warning(`the container has ended with ${found.State.ExitCode}`);
  });
}

async function created(
  { ctx, log }: ContainerScope,
  engine: Engine,
  { name, body }: Pick<ContainerSettings, 'name' | 'body'>,
): Promise<string> {
  const filters = JSON.stringify({ label: [`${LABEL}=${ctx.taskId}`] });
  const left = await engine.call('GET', '/containers/json', { query: { all: true, filters } });
  const [one] = left.json<{ Id: string }[]>();
  if (one !== undefined) return one.Id;
  const labels = { ...(body.Labels as object | undefined), [LABEL]: ctx.taskId };
  const answer = await engine.call('POST', '/containers/create', {
    query: { name },
    json: { ...body, Labels: labels },
  });
  const { Id: id, Warnings: warnings } = answer.json<{ Id: string; Warnings: string[] | null }>();
  for (const warning of warnings ?? []) log.warning(warning);
  log.info(`created container ${id.slice(0, 12)}`);
  return id;
}

/** Runs the command in the container, and stops it. One that does not run is stopped already. */
async function stop(scope: ContainerScope): Promise<void> {
  const { runtime, inputs, log } = scope;
  const id = runtime.container;
  if (id === undefined) return void log.info('there is no container');
  await atEngine(scope, async (engine) => {
    const found = await inspect(engine, id);
    const command = splitWords((inputs as z.output<typeof STOP_INPUTS>).stop_command ?? '');
    if (found === null || !found.State.Running) {
      log.info('the container does not run');
      if (found !== null && command.length > 0 && !settingsOf(scope).isDetached)
        await runInstead(scope, engine, command);
      return;
    }
    if (command.length > 0) await runInside(scope, engine, id, command);
    await engine.call('POST', `/containers/${id}/stop`, { alsoOk: [404], timeoutMs: 0 });
  });
}

async function runInside({ log }: ContainerScope, engine: Engine, id: string, Cmd: string[]): Promise<void> {
  const json = { AttachStdout: true, AttachStderr: true, Cmd };
  const exec = (await engine.call('POST', `/containers/${id}/exec`, { json })).json<{ Id: string }>().Id;
  const output = outputOf(false);
  await engine.call('POST', `/exec/${exec}/start`, {
    json: { Detach: false, Tty: false },
    onData: output.onData,
    timeoutMs: 0,
  });
  for (const line of output.text().split('\n').slice(-200)) if (line.trim() !== '') log.info(plainLine(line));
  const { ExitCode: code } = (await engine.call('GET', `/exec/${exec}/json`)).json<{
    ExitCode: number | null;
  }>();
  if (code !== 0) throw new FatalError(`stop_command ended with ${code}: the container still runs`);
}

/** Runs the command in a container with the settings of one that has ended: it destroys what that one has made, for instance. */
async function runInstead(scope: ContainerScope, engine: Engine, Cmd: string[]): Promise<void> {
  const { body, isTerminal } = settingsOf(scope);
  // Nobody reaches it, and its name and ports belong to the other one.
  const { PortBindings: _, RestartPolicy: __, ...host } = body.HostConfig as Record<string, unknown>;
  const settings = { name: undefined, body: { ...body, Cmd, HostConfig: host } };
  const id = await scope.step('instead', async () => await created(scope, engine, settings));
  await engine.call('POST', `/containers/${id}/start`);
  await followed(scope, engine, id, isTerminal);
  const code = (await inspect(engine, id))?.State.ExitCode;
  await engine.call('DELETE', `/containers/${id}`, { query: { force: true }, alsoOk: [404] });
  if (code !== 0) throw new FatalError(`stop_command ended with ${code ?? 'an unknown exit code'}`);
}

async function remove(scope: ContainerScope): Promise<void> {
  const { runtime } = scope;
  const id = runtime.container;
  if (id === undefined) return void scope.log.info('there is no container');
  await atEngine(scope, (engine) =>
    engine.call('DELETE', `/containers/${encodeURIComponent(id)}`, { query: { force: true }, alsoOk: [404] }),
  );
  for (const name of Object.keys(RUNTIME.shape) as (keyof typeof RUNTIME.shape)[]) delete runtime[name];
}

/** The container; null: it is gone. A detached one that has ended counts as gone. */
async function running(scope: ContainerScope, engine: Engine): Promise<Inspected | null> {
  const id = scope.runtime.container;
  const found = id === undefined ? null : await inspect(engine, id);
  if (found === null || found.State.Running || !settingsOf(scope).isDetached) return found;
  scope.log.warning(`the container is ${found.State.Status} with ${found.State.ExitCode}: it counts as gone`);
  return null;
}

/** A container of a Docker engine. */
export const container = nodeType({
  description: 'A container of a Docker engine',
  properties: PROPERTIES,
  runtime: RUNTIME,
  inputs: { stop: STOP_INPUTS },
  mappings: {
    create: 'docker.cloudify_docker.tasks.create_container',
    stop: 'docker.cloudify_docker.tasks.stop_container',
    delete: 'docker.cloudify_docker.tasks.remove_container',
  },
  create,
  stop,
  delete: remove,
  async read(scope) {
    const found = await atEngine(scope, (engine) => running(scope, engine));
    return found === null ? null : { container_info: infoOf(found) };
  },
  /** Whether the name of the image leads to another image than the one that runs. */
  async drift(scope) {
    const { image_tag: name } = scope.properties.resource_config;
    return await atEngine(scope, async (engine) => {
      const stored = (await running(scope, engine))?.Image ?? null;
      const present = await imageId(engine, name);
      return stored === null || present === null || stored === present
        ? null
        : [{ path: 'image_id', stored, present }];
    });
  },
  resumable: ['create', 'stop', 'delete'],
});
