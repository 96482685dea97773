import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { RetryableError } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import { serveCtx } from '../ctx/ctx-server';
import type { OperationEnd } from '../operation-end';
import type { WorkflowCall } from '../workflow/workflow-calls';
import { confinementOf, ctxWorkOf } from './operation-places';
import { placeScript } from './place-script';
import {
  commonEnv,
  type Ended,
  endOfProcess,
  loggedProcess,
  type ProcessRun,
  pythonEnv,
} from './process-run';
import type { ProcessSpec } from './run-process';
import { environmentOf, readScriptInputs, type ScriptInputs } from './script-inputs';
import { ScriptResult } from './script-result';
import { makeRunDir, type ScriptSettings } from './settings';

/** Exit code of the Python runner for a text of unknown kind that is not Python. */
const NOT_PYTHON = 97;

/**
 * Runs the operation of the script plugin (reference/workflows.md ch. 5).
 * @throws FatalError for inputs that no retry can repair; other errors count as recoverable.
 */
export async function runScript(
  session: OperationSession,
  settings: ScriptSettings,
  /** Set when the script is the code of a workflow: such a script is always Python and may make these calls. */
  workflow: { calls: ReadonlyMap<string, WorkflowCall> } | null = null,
): Promise<OperationEnd> {
  const inputs = readScriptInputs(await session.inputs());
  const runDir = await makeRunDir(settings.workRoot, settings.isolation.accountOf(session.task.tenant));
  const confinement = await confinementOf(session, settings, runDir);
  const work = { settings, runDir, confinement, signal: session.signal };
  const result = new ScriptResult();
  const proxy = inputs.process.hasCtxProxy
    ? await serveCtx(session, result, ctxWorkOf(work), workflow?.calls, settings.ctxHost)
    : null;
  try {
    const script = await placeScript(inputs, session, work);
    const run = {
      inputs,
      script,
      session,
      settings,
      runDir,
      confinement,
      ctxUrl: proxy?.url ?? '',
      isWorkflow: workflow !== null,
      outputLevel: 'info' as const,
    };
    const kind = workflow ? 'python' : await kindOf(script, inputs);
    let ended = kind === 'program' ? null : await runPython(run, kind === 'maybe-python');
    ended ??= await runProgram(run);
    await proxy?.settled();
    return endOfProcess(ended, result);
  } finally {
    proxy?.close();
    await runDir.remove();
  }
}

interface ScriptRun extends ProcessRun {
  inputs: ScriptInputs;
  script: string;
}

/** Python by option, by name, or by trial (inline text whose first line names no other program). */
async function kindOf(script: string, inputs: ScriptInputs): Promise<'python' | 'maybe-python' | 'program'> {
  const { evalPython } = inputs.process;
  if (evalPython !== null) return evalPython ? 'python' : 'program';
  if (inputs.source.kind === 'path') return script.endsWith('.py') ? 'python' : 'program';
  const first = (await readFile(script, 'utf8')).split('\n', 1)[0] ?? '';
  if (first.startsWith('#!')) return first.includes('python') ? 'python' : 'program';
  return 'maybe-python';
}

/** Runs the script with our Python runner; null when the text is not Python. */
async function runPython(run: ScriptRun, isGuess: boolean): Promise<Ended | null> {
  const { settings } = run;
  const folder = join(settings.assetsDir, 'python');
  const args = [
    '-u',
    '-B',
    join(folder, 'baton_runner.py'),
    run.script,
    run.isWorkflow ? 'workflow' : isGuess ? 'guess' : 'python',
  ];
  try {
    const ended = await loggedProcess(run, `python ${basename(run.script)}`, isGuess || run.isWorkflow, {
      command: { program: settings.python, args },
      env: pythonEnv(run),
      cwd: run.runDir.cwd,
      confinement: run.confinement,
      ...streamsOf(run),
    });
    return isGuess && ended.code === NOT_PYTHON ? null : ended;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    if (isGuess) return null;
    throw new RetryableError(`this worker cannot run Python scripts: there is no ${settings.python}`, {
      cause: error,
    });
  }
}

async function runProgram(run: ScriptRun): Promise<Ended> {
  const { inputs, script } = run;
  const { args, commandPrefix, cwd, env } = inputs.process;
  const prefix = commandPrefix ?? (script.endsWith('.ps1') ? 'powershell' : null);
  const command = [prefix, quoted(script), ...args].filter((part) => part !== null && part !== '').join(' ');
  const paths = commonEnv(run);
  const own = { ...environmentOf(inputs.variables), ...environmentOf(env) };
  return loggedProcess(run, command, false, {
    command,
    // The ctx proxy and its client stay reachable whatever the names of the inputs.
    env: {
      ...paths,
      ...own,
      CTX_SOCKET_URL: paths.CTX_SOCKET_URL ?? '',
      PATH: own.PATH ? `${own.PATH}:${paths.PATH}` : (paths.PATH ?? ''),
    },
    cwd: cwd ?? run.runDir.cwd,
    confinement: run.confinement,
    ...streamsOf(run),
  });
}

function streamsOf({ inputs }: ScriptRun): Pick<ProcessSpec, 'logStdout' | 'logStderr' | 'stderrToStdout'> {
  const { logStdout, logStderr, stderrToStdout } = inputs.process;
  return { logStdout, logStderr, stderrToStdout };
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
