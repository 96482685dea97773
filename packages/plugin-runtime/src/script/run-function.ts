import { join } from 'node:path';
import { RetryableError } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import { serveCtx } from '../ctx/ctx-server';
import type { PythonPlugin } from '../host';
import type { OperationEnd } from '../operation-end';
import type { WorkflowCall } from '../workflow/workflow-calls';
import { confinementOf, ctxWorkOf } from './operation-places';
import { endOfProcess, loggedProcess, type ProcessRun, pythonEnv } from './process-run';
import { ScriptResult } from './script-result';
import { makeRunDir, type ScriptSettings } from './settings';

/**
 * Runs a function of a Python plugin in its own process: an operation, or with `calls` the code of a workflow. Its
 * arguments are the inputs and `ctx` (reference/workflows.md ch. 6). Its output becomes debug lines of the operation's
 * log.
 */
export async function runFunction(
  session: OperationSession,
  settings: ScriptSettings,
  plugin: PythonPlugin,
  calls: ReadonlyMap<string, WorkflowCall> | null = null,
): Promise<OperationEnd> {
  const runDir = await makeRunDir(settings.workRoot, settings.isolation.accountOf(session.task.tenant));
  const confinement = await confinementOf(session, settings, runDir, [plugin.prefix]);
  const work = { settings, runDir, confinement, signal: session.signal };
  const result = new ScriptResult();
  const proxy = await serveCtx(session, result, ctxWorkOf(work), calls ?? undefined, settings.ctxHost);
  const { mapping, isResumed } = session.task;
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
    const ended = await loggedProcess(run, mapping, true, {
      command: {
        program: join(plugin.prefix, 'bin/python'),
        args: [
          '-u',
          '-B',
          join(settings.assetsDir, 'python/baton_runner.py'),
          mapping,
          calls ? 'workflow-function' : 'function',
        ],
      },
      env: functionEnv(run, plugin, isResumed),
      cwd: runDir.cwd,
      confinement,
      logStdout: true,
      logStderr: true,
      stderrToStdout: false,
    });
    await proxy.settled();
    return endOfProcess(ended, result);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new RetryableError(`plugin ${session.task.plugin.name} is not there any more`, { cause: error });
  } finally {
    proxy.close();
    await runDir.remove();
  }
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
