import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import {
  type Confinement,
  findProgram,
  type Isolation,
  type OperationGroup,
  startLaunch,
} from '@baton/isolation';
import { FatalError, RetryableError } from '@baton/plugin-sdk';
import type { TextCut } from '../host';
import { watchDisk } from './disk-watch';
import type { ScriptSettings } from './settings';

export interface ProcessSpec {
  /** Command line for /bin/sh, or a program with its arguments. */
  command: string | { program: string; args: string[] };
  cwd: string;
  env: Record<string, string>;
  /** Whether the worker writes to the process; otherwise its standard input is empty. */
  hasStdin?: boolean;
  logStdout: boolean;
  logStderr: boolean;
  stderrToStdout: boolean;
  /** Confinement of the process; null: a process of the worker itself, which runs with the worker's rights. */
  confinement: Confinement | null;
}

export interface ProcessEnd {
  pid: number;
  /** Exit code; -N for a death by signal N. */
  code: number;
  /** The last part of the output. */
  stdout: string;
  stderr: string;
}

/** Receives a line of output. A returned promise pauses the reading, so that the process waits with its next output. */
export type LineSink = (stream: 'out' | 'err', line: string) => void | Promise<void>;

const TERMINATE_GRACE_MS = 5_000;
const POLL_MS = 100;
/**
 * A background process may keep the pipes open after the script has ended. Its output is read for this time. The count
 * pauses while the receiver of lines is busy: output of the script itself is never cut off.
 */
const PIPES_GRACE_MS = 1_000;
const MAX_LINE_CHARS = 64 * 1024;
/** A line longer than this is cut even where it consists only of secrets. */
const MAX_HELD_CHARS = 1024 * 1024;
const KEPT_OUTPUT_CHARS = 64 * 1024;
const SIGNALS: Record<string, number> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

/** A process that has started, or an operation in a process that serves several, as its supervisor sees it. */
export interface Running {
  /** Its process group. */
  pid: number;
  exited: Promise<number>;
  stdout: Readable | null;
  stderr: Readable | null;
  group: OperationGroup | null;
}

export interface RunEvents {
  started(pid: number): void | Promise<void>;
  line: LineSink;
  cut: TextCut;
}

type RunSettings = Pick<ScriptSettings, 'guard' | 'isolation'>;

/**
 * Runs a process in its own process group. When `signal` is aborted the whole group gets SIGTERM and, after five
 * seconds, SIGKILL (at once when the lease is lost). Otherwise background processes of the script stay alive.
 * @throws Error when the process cannot be started.
 */
export async function runProcess(
  spec: ProcessSpec,
  settings: RunSettings,
  signal: AbortSignal,
  events: RunEvents,
): Promise<ProcessEnd> {
  const { running } = await startProcess(spec, settings);
  try {
    return await supervise(running, spec.confinement, settings, signal, events);
  } finally {
    running.group?.end();
    settings.guard.remove(running.pid);
  }
}

/** Starts the process and gives its group to the guard. @throws Error when it cannot be started */
export async function startProcess(
  spec: ProcessSpec,
  settings: RunSettings,
): Promise<{ child: ChildProcess; running: Running }> {
  const { child, group } = start(spec, settings);
  const exited = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, name) => resolve(code ?? -(SIGNALS[name ?? ''] ?? 1)));
  });
  exited.catch(() => undefined);
  const { pid, stdout, stderr } = child;
  if (pid === undefined) {
    group?.end();
    throw await exited.then(
      () => new Error('process did not start'),
      (error: Error) => notStarted(error, spec),
    );
  }
  settings.guard.add(pid);
  return { child, running: { pid, exited, stdout, stderr, group } };
}

/**
 * Passes the output on until the process has ended, and stops its group when `signal` is aborted or its files take too
 * much.
 */
export async function supervise(
  running: Running,
  confinement: Confinement | null,
  { isolation }: Pick<ScriptSettings, 'isolation'>,
  signal: AbortSignal,
  events: RunEvents,
): Promise<ProcessEnd> {
  const { pid, group } = running;
  let stopping: Promise<void> | null = null;
  const onAbort = (): void => {
    stopping = stopGroup(pid, signal.reason === 'lease-lost' ? 0 : TERMINATE_GRACE_MS, group);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  let tooMuch: number | null = null;
  const endWatch = watchOf(confinement, isolation, (found) => {
    tooMuch = found;
    stopping = stopGroup(pid, 0, group);
  });
  try {
    await events.started(pid);
    const { code, printed } = await readToEnd(running, events);
    if (stopping) await stopping;
    if (tooMuch !== null) throw overQuota(tooMuch, isolation.diskBytes ?? 0);
    if (code !== 0 && group?.isOutOfMemory()) throw outOfMemory();
    return { pid, code, stdout: printed[0], stderr: printed[1] };
  } finally {
    endWatch();
    signal.removeEventListener('abort', onAbort);
  }
}

/** Reads the output line by line until the process has ended; see PIPES_GRACE_MS. */
async function readToEnd(
  { exited, stdout, stderr }: Running,
  events: { line: LineSink; cut: TextCut },
): Promise<{ code: number; printed: [string, string] }> {
  let heldLines = 0;
  const read = (name: 'out' | 'err', stream: Readable | null): Promise<string> =>
    stream === null
      ? Promise.resolve('')
      : readLines(
          stream,
          (line) => {
            const waiting = events.line(name, line);
            if (!waiting) return;
            heldLines++;
            return waiting.finally(() => heldLines--);
          },
          events.cut,
        );
  const output = Promise.all([read('out', stdout), read('err', stderr)]);
  output.catch(() => undefined);
  const code = await exited;
  let graceMs = PIPES_GRACE_MS;
  const pipes = setInterval(() => {
    if (heldLines === 0) graceMs -= POLL_MS;
    if (graceMs > 0) return;
    stdout?.destroy();
    stderr?.destroy();
  }, POLL_MS);
  const printed = await output.finally(() => clearInterval(pipes));
  return { code, printed };
}

interface Started {
  child: ChildProcess;
  group: OperationGroup | null;
}

function start(spec: ProcessSpec, settings: RunSettings): Started {
  const { command, cwd, env, confinement } = spec;
  const { program, args } =
    typeof command === 'string'
      ? { program: '/bin/sh', args: ['-c', spec.stderrToStdout ? `exec 2>&1\n${command}` : command] }
      : command;
  let group: OperationGroup | null = null;
  try {
    if (confinement === null) {
      const launch = { program, args, cwd, env, account: null, descriptors: [], group };
      return { child: startLaunch(launch, streamsOf(spec)), group };
    }
    checkFound(settings.isolation, spec, program);
    const launch = settings.isolation.launch({ program, args, cwd, env }, confinement);
    group = launch.group;
    return { child: startLaunch(launch, streamsOf(spec)), group };
  } catch (error) {
    group?.end();
    throw notStarted(error as Error, spec);
  }
}

function watchOf(
  confinement: Confinement | null,
  isolation: Isolation,
  over: (found: number) => void,
): () => void {
  if (confinement === null || isolation.diskBytes === null) return () => undefined;
  return watchDisk(confinement.writable, isolation.diskBytes, over);
}

/** A retry may have room: the files of the operation are removed with it. */
function overQuota(found: number, most: number): RetryableError {
  return new RetryableError(
    `the files of the operation and its deployment take ${found} bytes on this worker; at most ${most} may lie there (BATON_WORKER_LIMIT_DISK), so it was stopped`,
  );
}

/** Error of an operation whose processes the kernel has killed. */
function outOfMemory(): RetryableError {
  return new RetryableError(
    'the processes of the operation took more memory than they may take together (BATON_WORKER_LIMIT_MEMORY), so they were stopped',
  );
}

function streamsOf({ hasStdin, logStdout, logStderr }: ProcessSpec): Parameters<typeof startLaunch>[1] {
  return [hasStdin ? 'pipe' : 'ignore', logStdout ? 'pipe' : 'ignore', logStderr ? 'pipe' : 'ignore'];
}

/** Fails as a start without isolation would fail when the folder or the program does not exist. */
function checkFound(isolation: Isolation, { cwd, env }: ProcessSpec, program: string): void {
  if (isolation.name === 'none') return;
  const found = program.includes('/') ? existsSync(program) : findProgram(program, env.PATH ?? '') !== null;
  if (found && isFolder(cwd)) return;
  throw Object.assign(new Error(`spawn ${program} ENOENT`), { code: 'ENOENT' });
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Explains the start errors that the author of the script can fix; other errors stay as they are. */
function notStarted(error: NodeJS.ErrnoException, { cwd, env }: ProcessSpec): Error {
  if (error.code === 'E2BIG') {
    const [name = '', value = ''] = Object.entries(env).sort((a, b) => b[1].length - a[1].length)[0] ?? [];
    return new FatalError(
      `the inputs are more than a process can be given as variables: the largest, ${name}, has ${value.length} characters; ` +
        'one may have about 131,000 and all together 2 million (large ones can be read from a file of the blueprint)',
      { cause: error },
    );
  }
  if ((error.code === 'ENOENT' || error.code === 'ENOTDIR') && !isFolder(cwd))
    return new RetryableError(`process.cwd: there is no folder ${cwd} on this worker`, { cause: error });
  return error;
}

/**
 * Passes complete lines (without CR and LF, bad UTF-8 replaced) to `take`, one at a time, and returns the tail of the
 * output. Long lines are passed in pieces. `cut` finds the positions at which lines and the tail may be cut.
 */
async function readLines(
  stream: Readable,
  take: (line: string) => void | Promise<void>,
  cut: TextCut,
): Promise<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let kept = '';
  const feed = async (text: string, isLast: boolean): Promise<void> => {
    kept = tailOf(kept + text, cut);
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    const isWhole = isLast || rest.length > MAX_HELD_CHARS;
    const end = isWhole ? rest.length : rest.length > MAX_LINE_CHARS ? cut(rest, rest.length, 'before') : 0;
    if (end > 0) lines.push(rest.slice(0, end));
    rest = rest.slice(end);
    for (const line of lines) {
      const waiting = take(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (waiting) await waiting;
    }
  };
  try {
    for await (const chunk of stream) await feed(decoder.write(chunk as Buffer), false);
  } catch {
    // Destroyed on purpose after the end of the script; the output read so far counts.
  }
  await feed(decoder.end(), true);
  return kept;
}

function tailOf(text: string, cut: TextCut): string {
  const from = text.length - KEPT_OUTPUT_CHARS;
  return from > 0 ? text.slice(cut(text, from, 'after')) : text;
}

/** Whether any process of the group is left. */
function isGroupAlive(groupId: number): boolean {
  return signalGroup(groupId, 0);
}

function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * Ends a process group and everything inside its isolation: SIGTERM, and SIGKILL after `graceMs`. The second begins at once for 0.
 */
export async function stopGroup(
  groupId: number,
  graceMs: number,
  group: Pick<OperationGroup, 'kill'> | null,
): Promise<void> {
  // The direct child of an isolating program is the first process inside: all processes inside end with it, in any
  // process group.
  const inside = childrenOf(groupId);
  if (graceMs > 0 && signalGroup(groupId, 'SIGTERM')) {
    for (let waited = 0; waited < graceMs && isGroupAlive(groupId); waited += POLL_MS) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
  signalGroup(groupId, 'SIGKILL');
  group?.kill();
  for (const { pid, startedAt } of inside) if (startOf(pid) === startedAt) signalOne(pid, 'SIGKILL');
}

function childrenOf(pid: number): { pid: number; startedAt: string }[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text
      .split(' ')
      .filter(Boolean)
      .map((child) => ({ pid: Number(child), startedAt: startOf(Number(child)) }));
  } catch {
    // The process has ended, or the system is not Linux.
    return [];
  }
}

/** Start time in ticks since the boot: with the pid it identifies a process. Empty: there is no such process. */
function startOf(pid: number): string {
  try {
    return (
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')[19] ?? ''
    );
  } catch {
    return '';
  }
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended meanwhile.
  }
}
