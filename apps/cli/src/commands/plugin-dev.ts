import { createInterface } from 'node:readline';
import { newId } from '@baton/kernel';
import type { Command } from 'commander';
import { CommandFailure } from '../failure';
import { followExecution } from '../follow';
import { type Cli, command, number, option, type Run } from '../layer/define';
import { readAuthorFolder } from '../plugin-package/author-folder';
import { type DevBuild, startDevLoop } from '../plugin-package/dev-loop';

const USES = ['uploadPlugin', 'listExecutions', 'startExecution', 'streamEvents'] as const;
type DevRun = Run<(typeof USES)[number]>;

/** Executions of the manager itself: nobody wants to see them again. */
const OWN = /^(csys_|create_deployment_environment$|delete_deployment_environment$|upload_blueprint$)/;
const MOST_LOOKED_AT = 20;

/** `baton plugins dev`: an author at work sees each change run (docs/plugins-dev.md). */
export function pluginDevCommand(cli: Cli, plugins: Command): void {
  command(cli, plugins, {
    name: 'dev [folder]',
    about: 'build a plugin after each change and swap it on a manager that allows it',
    uses: USES,
    options: [
      option('-d, --deployment <id>', 'deployment whose last execution `r` runs again'),
      option('--replay', 'run it again after each change, without `r`'),
      option('--once', 'build and swap once, then end'),
      number('--inspect <port>', 'port of the debugger of the process, on the machine of the worker'),
    ],
    examples: ['plugins dev', 'plugins dev my-plugin -d notes --replay', 'plugins dev --inspect 9229'],
    run: develop,
  });
}

async function develop(run: DevRun): Promise<void> {
  const { args, options, out, io } = run;
  const [folder = '.'] = args;
  // A folder that is none is an error of the command, not of a build.
  readAuthorFolder(folder);
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort());
  const ended = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()));
  let failure: Error | null = null;
  const loop = startDevLoop(folder, options.inspect ?? null, {
    take: async (build) => {
      await swap(run, build);
      if (options.replay || (options.once && options.deployment)) await replay(run);
      if (options.once) stop.abort();
      else out.say('Waiting for changes; r runs the last execution again, q ends.');
    },
    refuse: (error) => {
      failure = error;
      if (options.once) stop.abort();
      else io.err(`${error.message}\n`);
    },
  });
  const lines = createInterface({ input: io.input });
  lines.on('line', (line) => {
    if (line.trim() === 'q') stop.abort();
    if (line.trim() === 'r') void replay(run).catch((error: Error) => io.err(`${error.message}\n`));
  });
  try {
    loop.request();
    await ended;
  } finally {
    stopListening();
    lines.close();
    await loop.close();
  }
  if (options.once && failure) throw failure;
}

async function swap(
  { client, out }: DevRun,
  { archive, buildMs, isSchemaChanged, ...about }: DevBuild,
): Promise<void> {
  const startedMs = performance.now();
  const plugin = await client.upload('uploadPlugin', {
    query: { development: true } as never,
    content: archive as Uint8Array<ArrayBuffer>,
  });
  const swapMs = Math.round(performance.now() - startedMs);
  out.line(`${about.name} ${about.version}: built in ${buildMs} ms, swapped in ${swapMs} ms`, {
    ...about,
    id: plugin.id,
    build_ms: buildMs,
    swap_ms: swapMs,
    is_schema_changed: isSchemaChanged,
  });
  if (isSchemaChanged)
    out.say('Types, inputs or workflows have changed: blueprints see that when they are uploaded again.');
}

/** Runs the last execution of the deployment again, with its parameters, and shows its events. */
async function replay(run: DevRun): Promise<void> {
  const { client, options, out } = run;
  const deployment = options.deployment as string | undefined;
  if (deployment === undefined) throw new CommandFailure('there is nothing to run again: give --deployment');
  const { items } = await client.call('listExecutions', {
    query: { deployment_id: deployment, _sort: '-created_at', _size: MOST_LOOKED_AT } as never,
  });
  const last = items.find(({ workflow_id }) => !OWN.test(workflow_id ?? ''));
  if (last === undefined)
    throw new CommandFailure(`deployment ${deployment} has no execution yet that could run again`);
  const execution = await client.call('startExecution', {
    idempotencyKey: newId(),
    body: {
      workflow_id: last.workflow_id!,
      deployment_id: deployment,
      parameters: last.parameters as Record<string, never>,
      allow_custom_parameters: true,
    },
  });
  out.say(`Execution ${execution.id} of ${last.workflow_id} on ${deployment}, again`);
  await followExecution(run, execution.id!, { isVerbose: false, timeoutS: 0 });
}
