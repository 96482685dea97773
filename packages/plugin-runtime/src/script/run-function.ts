import { join } from 'node:path';
import type { Confinement } from '@baton/isolation';
import { RetryableError } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import { serveCtx } from '../ctx/ctx-server';
import type { PythonPlugin } from '../host';
import type { OperationEnd } from '../operation-end';
import type { WorkflowCall } from '../workflow/workflow-calls';
import { confinementOf, ctxWorkOf, deploymentFolders } from './operation-places';
import { type Ended, endOfProcess, logged, loggedProcess, type ProcessRun, pythonEnv } from './process-run';
import { ScriptResult } from './script-result';
import { makeRunDir, type RunDir, type ScriptSettings } from './settings';
import type { WarmPython } from './warm-python';
import { startWarmServer, type WarmServer } from './warm-server';

/**
 * Runs a function of a Python plugin: an operation, or with `calls` the code of a workflow. Its arguments are the inputs
 * and `ctx` (reference/workflows.md ch. 6). An operation runs in a fork of a server that has imported the plugin, where
 * there is one, else in a process of its own. Its output becomes debug lines of the operation's log.
 */
export async function runFunction(
  session: OperationSession,
  settings: ScriptSettings,
  plugin: PythonPlugin,
  { calls = null, warm: servers = null }: FunctionWay,
): Promise<OperationEnd> {
  const warm = servers && (await warmHome(session, settings, plugin, servers));
  const { runDir, confinement, leave } = warm ?? (await freshHome(session, settings, plugin));
  const work = { settings, runDir, confinement, signal: session.signal };
  const result = new ScriptResult();
  const proxy = await serveCtx(session, result, ctxWorkOf(work), calls ?? undefined, settings.ctxHost);
  session.plugin = plugin;
  const run: ProcessRun = {
    session,
    settings,
    runDir,
    confinement,
    ctxUrl: proxy.url,
    isWorkflow: calls !== null,
    outputLevel: 'debug',
  };
  try {
    const ended = (await warm?.run(run)) ?? (await runCold(run, plugin));
    await proxy.settled();
    return endOfProcess(ended, result);
  } finally {
    proxy.close();
    await leave();
  }
}

/** `calls`: those of the code of a workflow, which never runs in a fork. `warm`: servers for forks; absent: there are none. */
type FunctionWay =
  | { calls: ReadonlyMap<string, WorkflowCall>; warm?: null }
  | { calls?: null; warm: WarmPython | null };

/** Where a function runs. */
interface Home {
  runDir: RunDir;
  confinement: Confinement;
  leave(): Promise<void>;
}

interface WarmHome extends Home {
  /** Null: the function needs a process of its own, and nothing of it has begun. */
  run(run: ProcessRun): Promise<Ended | null>;
}

async function freshHome(
  session: OperationSession,
  settings: ScriptSettings,
  plugin: PythonPlugin,
): Promise<Home> {
  const runDir = await makeRunDir(settings.workRoot, settings.isolation.accountOf(session.task.tenant));
  const confinement = await confinementOf(session, settings, runDir, [plugin.prefix]);
  return { runDir, confinement, leave: runDir.remove };
}

async function warmHome(
  session: OperationSession,
  settings: ScriptSettings,
  plugin: PythonPlugin,
  warm: WarmPython,
): Promise<WarmHome | null> {
  const { tenant, deploymentId, mapping, isResumed } = session.task;
  const folders = await deploymentFolders(session, settings.isolation);
  const module = mapping.slice(0, Math.max(0, mapping.lastIndexOf('.')));
  const place = { tenant, deploymentId, prefix: plugin.prefix, folders, module };
  const server = await warm.take(place, () => startServer(session, settings, plugin));
  if (!server) return null;
  return {
    runDir: server.runDir,
    confinement: server.confinement,
    leave: () => warm.leave(server),
    run: async (run) => {
      const streams = { out: true, err: 'err' } as const;
      const { ctxUrl } = run;
      const job = { kind: 'fork', target: mapping, mode: 'function', ctxUrl, isResumed, streams } as const;
      const end = await logged(run, true, (events) => server.run(job, session.signal, events));
      if (end === null && !session.signal.aborted) warm.refuse(place);
      return end && { ...end, command: mapping };
    },
  };
}

async function startServer(
  session: OperationSession,
  settings: ScriptSettings,
  plugin: PythonPlugin,
): Promise<WarmServer | null> {
  const { runDir, confinement } = await freshHome(session, settings, plugin);
  const run: ProcessRun = {
    session,
    settings,
    runDir,
    confinement,
    ctxUrl: '',
    isWorkflow: false,
    outputLevel: 'debug',
  };
  const spec = {
    command: pythonCommand(settings, plugin, ['baton_server.py']),
    env: functionEnv(run, plugin, false),
  };
  return startWarmServer(spec, confinement, runDir, settings);
}

/** @throws RetryableError when the environment of the plugin is not there any more */
async function runCold(run: ProcessRun, plugin: PythonPlugin): Promise<Ended> {
  const { session, settings, runDir, confinement, isWorkflow } = run;
  const { mapping, isResumed } = session.task;
  try {
    return await loggedProcess(run, mapping, true, {
      command: pythonCommand(settings, plugin, [
        'baton_runner.py',
        mapping,
        isWorkflow ? 'workflow-function' : 'function',
      ]),
      env: functionEnv(run, plugin, isResumed),
      cwd: runDir.cwd,
      confinement,
      logStdout: true,
      logStderr: true,
      stderrToStdout: false,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new RetryableError(`plugin ${session.task.plugin.name} is not there any more`, { cause: error });
  }
}

/** Python of the plugin's environment with a program of ours. */
function pythonCommand(
  { assetsDir }: ScriptSettings,
  { prefix }: PythonPlugin,
  [file = '', ...args]: readonly string[],
): { program: string; args: string[] } {
  return {
    program: join(prefix, 'bin/python'),
    args: ['-u', '-B', join(assetsDir, 'python', file), ...args],
  };
}

function functionEnv(run: ProcessRun, { prefix }: PythonPlugin, isResumed: boolean): Record<string, string> {
  const env = pythonEnv(run);
  return {
    ...env,
    PATH: `${join(prefix, 'bin')}:${env.PATH}`,
    VIRTUAL_ENV: prefix,
    CLOUDIFY_DISPATCH: 'true',
    ...(isResumed && { BATON_IS_RESUMED: '1' }),
  };
}
