import type { ChildProcess } from 'node:child_process';
import { PassThrough, type Writable } from 'node:stream';
import type { Confinement } from '@baton/isolation';
import {
  type ProcessEnd,
  type ProcessSpec,
  type RunEvents,
  type Running,
  startProcess,
  stopGroup,
  supervise,
} from './run-process';
import { emptyRunDir, namesIn, type RunDir, type ScriptSettings } from './settings';
import { type Frame, readFrames } from './warm-frames';

/** Work for a server: a fork that does what `baton_runner.py` does, or a program. */
export type WarmJob = ForkJob | ProgramJob;

interface ForkJob {
  kind: 'fork';
  /** A function of the plugin, or the file of a script. */
  target: string;
  mode: 'function' | 'python' | 'guess';
  ctxUrl: string;
  isResumed: boolean;
  streams: WarmStreams;
}

interface ProgramJob {
  kind: 'spawn';
  /** The program. Null, or where the system cannot start it: the command line. */
  path: string | null;
  /** Command line for /bin/sh. */
  shell: string;
  env: Readonly<Record<string, string>>;
  streams: WarmStreams;
}

/** Which output is read: `out`; `err`: errors by themselves, among the output, or not at all. */
export interface WarmStreams {
  out: boolean;
  err: 'err' | 'out' | null;
}

/** A server that starts a process for one operation at a time (docs/adr/0040-warm-python.md, 0043-warm-scripts.md). */
export interface WarmServer {
  readonly runDir: RunDir;
  readonly confinement: Confinement;
  /** Bytes of memory, as the server tells it. */
  memoryBytes(): number;
  /**
   * Runs the function. Returns null when it cannot run here and nothing of it has begun.
   * @throws Error as supervise does
   */
  run(job: WarmJob, signal: AbortSignal, events: RunEvents): Promise<ProcessEnd | null>;
  /**
   * Empties the folders of the operation. False: the server cannot serve another one, because it has ended, or the last
   * operation left something that another one would meet. Never throws.
   */
  isReady(): Promise<boolean>;
  /** Ends the server and removes its folders. Background processes of its last operation go on. Never throws. */
  end(): Promise<void>;
}

interface Job {
  signal: AbortSignal;
  out: PassThrough;
  err: PassThrough;
  hasBegun: boolean;
  /** Whether the operation has begun; false: it runs elsewhere. */
  begin: (hasBegun: boolean) => void;
  finish: (code: number) => void;
}

/** Time for the start of Python, and for the end of a server that was asked to end. */
const START_MS = 10_000;
const END_MS = 2_000;
/** Time for reading what a server sent before its end. */
const LAST_FRAMES_MS = 1_000;

interface State {
  job: Job | null;
  isHealthy: boolean;
  kilobytes: number;
}

/** Starts a server and waits until it can take a job. Null: it did not start. */
export async function startWarmServer(
  { command, env }: Pick<ProcessSpec, 'command' | 'env'>,
  confinement: Confinement,
  runDir: RunDir,
  settings: ScriptSettings,
): Promise<WarmServer | null> {
  const streams = { hasStdin: true, logStdout: true, logStderr: false, stderrToStdout: false };
  const spec = { command, env, cwd: runDir.cwd, ...streams, confinement };
  const started = await startProcess(spec, settings).catch(() => null);
  if (!started) {
    await runDir.remove();
    return null;
  }
  const { child, running } = started;
  const state: State = { job: null, isHealthy: true, kilobytes: 0 };
  let endServer: Promise<void> | null = null;
  const end = (): Promise<void> => (endServer ??= ended(child, running, runDir, settings));
  const isUp = await isGreeted(child, running, state);
  if (!isUp) {
    await end();
    return null;
  }
  const first = { tmp: await namesIn(runDir.tmp), cwd: await namesIn(runDir.cwd) };
  return {
    runDir,
    confinement,
    memoryBytes: () => state.kilobytes * 1024,
    run: (job, signal, events) =>
      runJob(job, { child, running, state, confinement, settings }, signal, events),
    isReady: async () =>
      state.isHealthy && (await emptyRunDir(runDir, first, settings.isolation.accountOf(confinement.tenant))),
    end,
  };
}

/** Reads the frames of the server from now on. Returns whether it has said that it is up. */
function isGreeted(child: ChildProcess, running: Running, state: State): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, START_MS, false);
    const lost = (): void => {
      state.isHealthy = false;
      clearTimeout(timer);
      resolve(false);
      void failJob(running, state);
    };
    const read = async (): Promise<void> => {
      for await (const frame of readFrames(child.stdout as AsyncIterable<Buffer>)) {
        if (frame.kind === 'h') {
          clearTimeout(timer);
          resolve(true);
        } else await take(frame, state);
      }
    };
    child.stdin?.on('error', () => undefined);
    void read().then(lost, lost);
    // The pipe stays open as long as any process holds it. What was sent before the end is read.
    const exited = (): void => {
      state.isHealthy = false;
      setTimeout(lost, LAST_FRAMES_MS);
    };
    void running.exited.then(exited, exited);
  });
}

/** Ends the operation of a lost server: nothing could say any more how it ends. */
async function failJob({ pid, group, exited }: Running, state: State): Promise<void> {
  const { job } = state;
  if (!job) return;
  state.job = null;
  job.begin(false);
  // Whoever stops an operation kills its group after a while.
  if (!job.signal.aborted) await stopGroup(pid, 0, group);
  job.finish((await exited.catch(() => 1)) || 1);
}

/** @throws Error for a frame that does not belong here */
async function take({ kind, content }: Frame, state: State): Promise<void> {
  const { job } = state;
  if (!job) throw new Error('a Python server answers without a job');
  if (kind === 's') {
    job.hasBegun = true;
    job.begin(true);
  } else if (kind === 'c') {
    state.isHealthy = false;
    job.begin(false);
  } else if (!job.hasBegun) {
    // Code that is imported can write to the pipe of the server. Nobody would wait for such an end, or read such output.
    throw new Error('a Python server tells of an operation that has not begun');
  } else if (kind === 'x') {
    const { code, left, kilobytes } = JSON.parse(content.toString('utf8')) as Record<string, unknown>;
    if (left !== null) state.isHealthy = false;
    state.kilobytes = Number(kilobytes);
    state.job = null;
    job.finish(typeof code === 'number' ? code : 1);
  } else await written(kind === 'o' ? job.out : job.err, Buffer.from(content));
}

/** Waits when the reader of the stream is slow, so that the operation waits too. A reader that has gone reads nothing. */
function written(stream: Writable, content: Buffer): Promise<void> | undefined {
  if (stream.destroyed || stream.write(content)) return undefined;
  return new Promise((resolve) => {
    const goOn = (): void => {
      stream.off('drain', goOn).off('close', goOn);
      resolve();
    };
    stream.on('drain', goOn).on('close', goOn);
  });
}

function jobLine(job: WarmJob): string {
  const { streams } = job;
  const what =
    job.kind === 'fork'
      ? { target: job.target, mode: job.mode, ctx_url: job.ctxUrl, is_resumed: job.isResumed }
      : { path: job.path, shell: job.shell, env: job.env };
  return `${JSON.stringify({ kind: job.kind, ...what, ...streams })}\n`;
}

async function runJob(
  job: WarmJob,
  server: {
    child: ChildProcess;
    running: Running;
    state: State;
    confinement: Confinement;
    settings: ScriptSettings;
  },
  signal: AbortSignal,
  events: RunEvents,
): Promise<ProcessEnd | null> {
  const { child, running, state, confinement, settings } = server;
  if (!state.isHealthy) return null;
  const [out, err] = [new PassThrough(), new PassThrough()];
  let begin: Job['begin'] = () => undefined;
  let finish: Job['finish'] = () => undefined;
  const begun = new Promise<boolean>((resolve) => {
    begin = resolve;
  });
  const exited = new Promise<number>((resolve) => {
    finish = (code) => {
      out.end();
      err.end();
      // Whoever stops the operation waits for the end of the whole group.
      if (signal.aborted) child.stdin?.end();
      resolve(code);
    };
  });
  state.job = { signal, out, err, hasBegun: false, begin, finish };
  child.stdin?.write(jobLine(job));
  try {
    // A stop while the module is imported: the server ends by it, and the caller learns that nothing has begun.
    const stop = (): void => void stopGroup(running.pid, 0, running.group);
    signal.addEventListener('abort', stop, { once: true });
    const hasBegun = await begun.finally(() => signal.removeEventListener('abort', stop));
    if (!hasBegun) return null;
    return await supervise(
      { ...running, exited, stdout: out, stderr: err },
      confinement,
      settings,
      signal,
      events,
    );
  } catch (error) {
    state.isHealthy = false;
    throw error;
  } finally {
    if (signal.aborted) state.isHealthy = false;
  }
}

/** The end of its standard input is the end of the server. */
async function ended(
  child: ChildProcess,
  { pid, exited, group }: Running,
  runDir: RunDir,
  { guard }: ScriptSettings,
): Promise<void> {
  child.stdin?.end();
  const timer = setTimeout(() => void stopGroup(pid, 0, group), END_MS);
  await exited.catch(() => undefined);
  clearTimeout(timer);
  child.stdout?.destroy();
  group?.end();
  guard.remove(pid);
  await runDir.remove();
}
