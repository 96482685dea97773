import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Confinement } from '@baton/isolation';
import { RetryableError } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import { endOfThrown, type OperationEnd } from '../operation-end';
import { type LineSink, type ProcessEnd, type ProcessSpec, type RunEvents, runProcess } from './run-process';
import type { ScriptResult } from './script-result';
import type { RunDir, ScriptSettings } from './settings';

const WAIT_NOTICE_MS = 20_000;
/** `bin/ctx` names /bin/bash itself: a search for bash would cost another process in each call. */
const HAS_BASH = existsSync('/bin/bash');

/** A process that runs an operation, or the code of a workflow. */
export interface ProcessRun {
  session: OperationSession;
  settings: ScriptSettings;
  runDir: RunDir;
  confinement: Confinement;
  ctxUrl: string;
  isWorkflow: boolean;
  /** Log level of the lines that the process prints. */
  outputLevel: 'info' | 'debug';
}

export interface Ended extends ProcessEnd {
  command: string;
}

type EnvOf = Pick<ProcessRun, 'settings' | 'runDir' | 'ctxUrl'>;

/** Returns the environment that all processes of operations get. */
export function commonEnv({ settings, runDir, ctxUrl }: EnvOf): Record<string, string> {
  const bin = join(settings.assetsDir, 'bin');
  const portable = HAS_BASH ? [] : [join(bin, 'portable')];
  const path = [settings.baseEnv.PATH, ...portable, bin].filter(Boolean).join(':');
  return {
    ...settings.baseEnv,
    ...managerEnv(settings.managerUrl),
    PATH: path,
    // In bash ctx is a function, so that a call starts no program: ADR 0040.
    BASH_ENV: join(bin, 'ctx-function'),
    TMPDIR: runDir.tmp,
    CTX_SOCKET_URL: ctxUrl,
  };
}

/** Address of the API, in the variables that operations know. The execution's token decides about their rights there. */
export function managerEnv(url: string): Record<string, string> {
  const { protocol, hostname, port } = new URL(url);
  return {
    REST_PROTOCOL: protocol.slice(0, -1),
    REST_HOST: hostname.replace(/^\[|\]$/g, ''),
    REST_PORT: port || (protocol === 'https:' ? '443' : '80'),
  };
}

/** Returns the environment of Python: our runner and its package `cloudify` come before all installed packages. */
export function pythonEnv(run: EnvOf): Record<string, string> {
  return {
    ...commonEnv(run),
    PYTHONPATH: join(run.settings.assetsDir, 'python'),
    PYTHONIOENCODING: 'utf-8',
  };
}

/** Runs the process and writes its output, its begin and its end into the operation's log. */
export async function loggedProcess(
  run: ProcessRun,
  command: string,
  isQuiet: boolean,
  spec: ProcessSpec,
): Promise<Ended> {
  const { signal } = run.session;
  const start = (events: RunEvents): Promise<ProcessEnd> => runProcess(spec, run.settings, signal, events);
  return loggedEnd(run, command, isQuiet, await logged(run, isQuiet, start));
}

/** Writes the end of a process into the operation's log unless `isQuiet`. */
export async function loggedEnd(
  { session }: ProcessRun,
  command: string,
  isQuiet: boolean,
  end: ProcessEnd,
): Promise<Ended> {
  if (!isQuiet)
    await session.host.emit(
      'log',
      'info',
      `Execution done (PID=${end.pid}, return_code=${end.code}): ${command}`,
    );
  return { ...end, command };
}

/** Writes the output of what `start` starts into the operation's log, and its begin unless `isQuiet`. */
export async function logged<End>(
  { session, isWorkflow, outputLevel }: ProcessRun,
  isQuiet: boolean,
  start: (events: RunEvents) => Promise<End>,
): Promise<End> {
  const { host } = session;
  const line: LineSink = (stream, text) => host.emit('log', outputLevel, `<${stream}> ${text}`);
  let notice: NodeJS.Timeout | undefined;
  const started = (pid: number): void | Promise<void> => {
    notice = setInterval(
      () => !isWorkflow && void host.emit('log', 'info', `Waiting for process ${pid} to end...`),
      WAIT_NOTICE_MS,
    );
    if (!isQuiet) return host.emit('log', 'info', `Process created, PID: ${pid}`);
  };
  try {
    return await start({ started, line, cut: host.cutText });
  } finally {
    clearInterval(notice);
  }
}

/** The end that the script set through ctx, else the end from its exit code. */
export function endOfProcess(ended: Ended, result: ScriptResult): OperationEnd {
  const decided = result.end();
  if (decided) return decided;
  if (ended.code === 0) return { kind: 'succeeded', result: result.returned };
  const parts = [`command: ${ended.command}`, `exit_code: ${ended.code}`];
  if (ended.stdout.trim()) parts.push(`stdout: ${ended.stdout.trimEnd()}`);
  if (ended.stderr.trim()) parts.push(`stderr: ${ended.stderr.trimEnd()}`);
  return endOfThrown(new RetryableError(parts.join(', '), { exceptionType: 'ProcessException' }));
}
