import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { RetryableError } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import { serveCtx } from '../ctx/ctx-server';
import type { OperationEnd } from '../operation-end';
import type { WorkflowCall } from '../workflow/workflow-calls';
import { ctxWorkOf } from './operation-places';
import { placeScript } from './place-script';
import {
  commonEnv,
  type Ended,
  endOfProcess,
  logged,
  loggedEnd,
  loggedProcess,
  type ProcessRun,
  pythonEnv,
} from './process-run';
import type { ProcessSpec } from './run-process';
import { scriptHome } from './script-home';
import { environmentOf, readScriptInputs, type ScriptInputs } from './script-inputs';
import { ScriptResult } from './script-result';
import type { ScriptSettings } from './settings';
import type { WarmPython } from './warm-python';
import type { WarmJob, WarmServer } from './warm-server';

/** Exit code of the Python runner for a text of unknown kind that is not Python. */
const NOT_PYTHON = 97;

/**
 * Runs the operation of the script plugin (reference/workflows.md ch. 5): by a server of the deployment, where one waits,
 * else in a process of its own.
 * @throws FatalError for inputs that no retry can repair; other errors count as recoverable.
 */
export async function runScript(
  session: OperationSession,
  settings: ScriptSettings,
  { workflow = null, warm = null }: ScriptWay = {},
): Promise<OperationEnd> {
  const inputs = readScriptInputs(await session.inputs());
  const home = await scriptHome(session, settings, warm);
  const { runDir, confinement, server } = home;
  const work = { settings, runDir, confinement, signal: session.signal };
  const result = new ScriptResult();
  const proxy = inputs.process.hasCtxProxy
    ? await serveCtx(session, result, ctxWorkOf(work), workflow?.calls, settings.ctxHost)
    : null;
  try {
    const script = await placeScript(inputs, session, work);
    home.placed = script;
    const run = {
      inputs,
      script,
      session,
      settings,
      runDir,
      confinement,
      server,
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
    await home.leave();
  }
}

/**
 * `workflow`: set when the script is the code of a workflow: such a script is always Python and may make these calls.
 * `warm`: servers that start processes of scripts; absent: there are none.
 */
type ScriptWay =
  | { workflow: { calls: ReadonlyMap<string, WorkflowCall> }; warm?: null }
  | { workflow?: null; warm?: WarmPython | null };

interface ScriptRun extends ProcessRun {
  inputs: ScriptInputs;
  script: string;
  server: WarmServer | null;
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
  const { settings, script, ctxUrl, inputs } = run;
  const mode = run.isWorkflow ? 'workflow' : isGuess ? 'guess' : 'python';
  const isQuiet = isGuess || run.isWorkflow;
  const command = `python ${basename(script)}`;
  const streams = { out: inputs.process.logStdout, err: inputs.process.logStderr ? ('err' as const) : null };
  const job: WarmJob | null =
    mode === 'workflow' ? null : { kind: 'fork', target: script, mode, ctxUrl, isResumed: false, streams };
  const args = ['-u', '-B', join(settings.assetsDir, 'python', 'baton_runner.py'), script, mode];
  try {
    const ended =
      (await runWarm(run, command, isQuiet, job)) ??
      (await loggedProcess(run, command, isQuiet, {
        command: { program: settings.python, args },
        env: pythonEnv(run),
        cwd: run.runDir.cwd,
        confinement: run.confinement,
        ...streamsOf(run),
      }));
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
  const { args, commandPrefix, cwd, env, logStdout, logStderr, stderrToStdout } = inputs.process;
  const prefix = commandPrefix ?? (script.endsWith('.ps1') ? 'powershell' : null);
  const command = [prefix, quoted(script), ...args].filter((part) => part !== null && part !== '').join(' ');
  const paths = commonEnv(run);
  const own = { ...environmentOf(inputs.variables), ...environmentOf(env) };
  const whole = {
    ...paths,
    ...own,
    // The ctx proxy and its client stay reachable whatever the names of the inputs.
    CTX_SOCKET_URL: paths.CTX_SOCKET_URL ?? '',
    PATH: own.PATH ? `${own.PATH}:${paths.PATH}` : (paths.PATH ?? ''),
  };
  const { home } = run.settings.isolation;
  const path = command === script ? script : null;
  const job: WarmJob = {
    kind: 'spawn',
    path,
    shell: path === null ? command : `exec ${command}`,
    // What the isolation, and the shell before a program, would set.
    env: { ...whole, ...(home !== undefined && { HOME: home }), PWD: run.runDir.cwd },
    streams: { out: logStdout, err: stderrToStdout ? 'out' : logStderr ? 'err' : null },
  };
  // A folder of the author may be missing in the isolation, which says so.
  const ended = await runWarm(run, command, false, cwd === null ? job : null);
  if (ended) return ended;
  return loggedProcess(run, command, false, {
    command,
    env: whole,
    cwd: cwd ?? run.runDir.cwd,
    confinement: run.confinement,
    ...streamsOf(run),
  });
}

/** Null: there is no job or no server for it, or the server cannot run it; nothing of it has begun. */
async function runWarm(
  run: ScriptRun,
  command: string,
  isQuiet: boolean,
  job: WarmJob | null,
): Promise<Ended | null> {
  const { server, session } = run;
  if (!server || !job) return null;
  const end = await logged(run, isQuiet, (events) => server.run(job, session.signal, events));
  return end && loggedEnd(run, command, isQuiet, end);
}

function streamsOf({ inputs }: ScriptRun): Pick<ProcessSpec, 'logStdout' | 'logStderr' | 'stderrToStdout'> {
  const { logStdout, logStderr, stderrToStdout } = inputs.process;
  return { logStdout, logStderr, stderrToStdout };
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
