import { type DirectNode, type DirectScope, directOperation } from '@baton/plugin-sdk';
import * as z from 'zod';
import { CLIENT_CONFIG, checked, placeOf } from '../engine/client-config';
import { type Engine, withEngine } from '../engine/engine';
import { readContainerArgs } from './container-args';
import { afterOutput, followed, infoOf, inspect } from './run-to-end';

const PROPERTIES = z.object({
  client_config: CLIENT_CONFIG.nullish(),
  resource_config: z
    .object({ container_args: z.record(z.string(), z.any()).default({}) })
    .default({ container_args: {} }),
});

/**
 * Starts the container of the node once more. One that is not detached is followed to its end. Blueprints name this operation
 * themselves: no type has it.
 */
export const startContainer = directOperation({
  isResumable: true,
  async run(scope) {
    const { node, log } = scope;
    const id = node?.runtime.container;
    if (typeof id !== 'string' || id === '') return void log.info('there is no container');
    const properties = checked(PROPERTIES, node!.properties, 'properties');
    const { container_args: args } = properties.resource_config;
    if (!args.command) return void log.info('container_args has no command: there is nothing to start');
    const { isDetached, isTerminal } = readContainerArgs('', args);
    const { client_config: config } = properties;
    scope.hide([config?.ssh?.key, config?.ssh?.password, config?.tls?.key]);
    await withEngine(placeOf(config), scope, (engine) =>
      started(scope, node!, engine, { id, isDetached, isTerminal }),
    );
  },
});

async function started(
  { log }: Pick<DirectScope, 'log'>,
  { runtime }: DirectNode,
  engine: Engine,
  { id, isDetached, isTerminal }: { id: string; isDetached: boolean; isTerminal: boolean },
): Promise<void> {
  const before = await inspect(engine, id);
  // One that runs was started by an attempt whose worker was lost.
  const since = before?.State.Running === false ? await afterOutput(engine, id, isTerminal) : undefined;
  await engine.call('POST', `/containers/${encodeURIComponent(id)}/start`);
  if (!isDetached) runtime.run_result = await followed({ log }, engine, id, isTerminal, since);
  const found = await inspect(engine, id);
  if (found === null) return;
  runtime.container_info = infoOf(found);
  if (isDetached) return;
  runtime.exit_code = found.State.ExitCode;
  if (found.State.ExitCode !== 0) log.warning(`the container has ended with ${found.State.ExitCode}`);
}
