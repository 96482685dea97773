import { type ChildProcess, spawn } from 'node:child_process';
import { basename } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { afterDelay } from '@baton/kernel';
import { FatalError, RetryableError } from '../errors';
import { environmentWith } from './config';
import { holdGroup, sendToGroup } from './running-groups';

/** The meaning of an exit code: the result is returned, or the operation is tried again, or it fails for good. */
export type ExitMeaning = 'ok' | 'retryable' | 'fatal';

export interface ExecOptions {
  signal?: AbortSignal;
  /** Called for each line of output, without its end. */
  onLine?(line: string, stream: 'stdout' | 'stderr'): void;
  /** The program is ended when it writes nothing for this time. Default: no limit. */
  silenceLimitMs?: number;
  /** Added to the environment of this process. Secrets belong here or into `input`, not into arguments: others can see those. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** The request to end on abort and silence. Default: SIGTERM. */
  endSignal?: NodeJS.Signals;
  /** Time between that request and the kill, at most 4 s: longer than the process of a plugin has itself. Default: 2 s. */
  graceMs?: number;
  /** Text for standard input; without it there is none. */
  input?: string;
  /** Meanings of exit codes. Default: 0 is ok; others are retryable. */
  exitCodes?: Readonly<Record<number, ExitMeaning>>;
  /** Runs the program, whatever its exit code means. Default: on this machine. */
  run?: RunProgram;
}

export type RunProgram = (file: string, args: readonly string[], options: ExecOptions) => Promise<ExecResult>;

export interface ExecResult {
  exitCode: number;
  /** The last million characters of each stream. */
  stdout: string;
  stderr: string;
}

/** Runs a program and waits for its end. */
export type Exec = (file: string, args?: readonly string[], options?: ExecOptions) => Promise<ExecResult>;

const KEPT_CHARACTERS = 1_000_000;
/** Longest line that is handed out in one piece. */
const MAX_LINE = 64 * 1024;
/** Time between the request to end and the kill. */
const GRACE_MS = 2_000;
const MAX_GRACE_MS = 4_000;
const SHOWN_CHARACTERS = 500;

/** Makes `exec` with options that every call has, unless it says otherwise. */
export const execWith =
  (defaults: ExecOptions): Exec =>
  async (file, args = [], options = {}) => {
    const all = { ...defaults, ...options };
    const result = await (all.run ?? runProgram)(file, args, all);
    return judged(basename(file), result, all);
  };

/**
 * Runs a program without a shell: arguments are never interpreted. The program and what it starts are one group of processes,
 * which is ended on abort, on silence, and when the program has ended.
 * @throws FatalError for an exit code with that meaning, or a program that is not there
 * @throws RetryableError for other exit codes, an abort and silence
 */
export const exec: Exec = execWith({});

/**
 * Runs a program of this machine to its end.
 * @throws FatalError for a program that is not there; RetryableError for an abort and silence
 */
export const runProgram: RunProgram = async (file, args, options) => {
  for (const text of [file, ...args])
    if (typeof text !== 'string' || text.includes('\0'))
      throw new FatalError(`exec: the program and its arguments must be texts without the character 0`);
  if (file === '') throw new FatalError('exec: the name of the program is empty');
  const name = basename(file);
  if (options.signal?.aborted) throw new RetryableError(`${name} was not started: the operation is stopped`);
  return await new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: environmentWith(options.env ?? {}),
      shell: false,
      detached: true,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const ending = endingOf(child, options);
    const watch = watchOf(name, options, ending.end);
    const stdout = collect(child.stdout!, 'stdout', options, watch.spoke);
    const stderr = collect(child.stderr!, 'stderr', options, watch.spoke);
    child.stdin?.on('error', () => undefined).end(options.input);
    child.once('error', (cause) => {
      watch.stop();
      reject(new FatalError(`${name} cannot be run: ${cause.message.replace(file, name)}`, { cause }));
    });
    // What the program left behind would hold its output open.
    child.once('exit', ending.killGroup);
    child.once('close', (code, signal) => {
      watch.stop();
      ending.done();
      const result = { exitCode: code ?? -1, stdout: stdout(), stderr: stderr() };
      if (watch.reason() !== null) reject(new RetryableError(watch.reason()!));
      else if (code === null) reject(new RetryableError(`${name} was ended by ${signal}`));
      else resolve(result);
    });
  });
};

/** @throws FatalError, RetryableError as the exit code means */
function judged(name: string, result: ExecResult, { exitCodes = {} }: ExecOptions): ExecResult {
  const meaning = exitCodes[result.exitCode] ?? (result.exitCode === 0 ? 'ok' : 'retryable');
  if (meaning === 'ok') return result;
  const said = (result.stderr.trim() || result.stdout.trim()).slice(-SHOWN_CHARACTERS);
  const message = `${name} ended with ${result.exitCode}${said === '' ? '' : `: ${said}`}`;
  throw meaning === 'fatal' ? new FatalError(message) : new RetryableError(message);
}

/** Ends the group of a child, first by request, then by force. */
function endingOf(
  { pid }: ChildProcess,
  { endSignal = 'SIGTERM', graceMs = GRACE_MS }: ExecOptions,
): { end(): void; killGroup(): void; done(): void } {
  // Without an id there is no child: the program could not be started.
  if (pid === undefined) return { end: nothing, killGroup: nothing, done: nothing };
  const release = holdGroup(pid);
  let cancel = nothing;
  return {
    end: () => {
      sendToGroup(pid, endSignal);
      cancel = afterDelay(Math.min(graceMs, MAX_GRACE_MS), () => sendToGroup(pid, 'SIGKILL'));
    },
    killGroup: () => sendToGroup(pid, 'SIGKILL'),
    done: () => {
      cancel();
      release();
    },
  };
}

const nothing = (): void => undefined;

/** Watches the signal and the silence. `reason`: why the program was ended; null: it was not. */
function watchOf(
  name: string,
  { signal, silenceLimitMs }: ExecOptions,
  end: () => void,
): { spoke(): void; stop(): void; reason(): string | null } {
  let reason: string | null = null;
  let cancelSilence = nothing;
  const stopFor = (why: string): void => {
    if (reason !== null) return;
    reason = why;
    end();
  };
  const onAbort = (): void => stopFor(`${name} was ended: the operation is stopped`);
  signal?.addEventListener('abort', onAbort, { once: true });
  const spoke = (): void => {
    cancelSilence();
    if (silenceLimitMs !== undefined && reason === null)
      cancelSilence = afterDelay(silenceLimitMs, () =>
        stopFor(`${name} was ended: it wrote nothing for ${silenceLimitMs / 1000} s`),
      );
  };
  spoke();
  return {
    spoke,
    stop: () => {
      cancelSilence();
      signal?.removeEventListener('abort', onAbort);
    },
    reason: () => reason,
  };
}

/** Reads a stream to its end. Returns a function that answers the last part of it. */
function collect(
  stream: NodeJS.ReadableStream,
  which: 'stdout' | 'stderr',
  { onLine }: ExecOptions,
  spoke: () => void,
): () => string {
  const decoder = new StringDecoder('utf8');
  let kept = '';
  let line = '';
  stream.on('data', (piece: Buffer) => {
    spoke();
    const text = decoder.write(piece);
    kept = (kept + text).slice(-KEPT_CHARACTERS);
    if (onLine === undefined) return;
    const lines = (line + text).split('\n');
    line = lines.pop()!;
    for (const one of lines) onLine(one.replace(/\r$/, ''), which);
    if (line.length <= MAX_LINE) return;
    onLine(line, which);
    line = '';
  });
  stream.on('end', () => {
    if (line !== '') onLine?.(line, which);
  });
  return () => kept;
}
