import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterDelay } from '@baton/kernel';
import type { Client, ClientChannel } from 'ssh2';
import { FatalError, RetryableError } from '../errors';
import { outputReader } from './lines';
import type { RunOptions, RunResult } from './options';
import { commandLine, endOfGroup, passwordLine, wrapperLine } from './wrapper';

/** Output before the command has started: greetings of the login shell. */
const MAX_GREETING = 64 * 1024;
const START_MS = 30_000;
/** How long the end of a command on the host may take. Below the time that the process of a plugin has after a cancel. */
const END_MS = 4_000;
/** Programs that a command left behind may hold its output open. What comes later than this is theirs. */
const DRAIN_MS = 500;
const SHOWN_CHARACTERS = 2_000;

export interface RunInput extends Omit<RunOptions, 'stdin'> {
  stdin?: string | Uint8Array | Readable;
}

interface Place {
  client: Client;
  /** `user@host` for messages. */
  name: string;
}

/**
 * Runs a command on the host and waits for its end. Lines come while it runs.
 * @throws RetryableError for a lost connection, a stopped operation, the time limit, and exit codes that are not named otherwise
 * @throws FatalError when the host starts no command (for instance: sudo refuses), and for exit codes that are named so
 */
export async function runCommand(place: Place, command: string, options: RunInput = {}): Promise<RunResult> {
  if (options.signal?.aborted)
    throw new RetryableError(`no command was started at ${place.name}: the operation is stopped`);
  const mark = `baton${randomBytes(12).toString('hex')}`;
  const input = { password: passwordLine(options.sudo), line: commandLine(mark, command, options) };
  const channel = await openChannel(place, wrapperLine(mark, options), options);
  return await new RunningCommand(place, channel, mark, input, options).ended();
}

/** Sends a line to the login shell. @throws RetryableError when the host opens no channel */
export function openChannel(
  { client, name }: Place,
  line: string,
  { pty }: RunInput,
): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.exec(line, { pty: pty ?? false }, (error, channel) => {
      if (error === undefined) resolve(channel);
      else
        reject(
          new RetryableError(`${name} opens no channel for a command: ${error.message}`, { cause: error }),
        );
    });
  });
}

interface StartInput {
  password: string;
  line: string;
}

/** States: greeting (the wrapper has not said its id), starting (sudo decides), running. */
class RunningCommand {
  readonly #place: Place;
  readonly #channel: ClientChannel;
  readonly #mark: string;
  readonly #options: RunInput;
  readonly #stdout;
  readonly #stderr;
  #state: 'greeting' | 'starting' | 'running' = 'greeting';
  #early = Buffer.alloc(0);
  #isPasswordTold = false;
  #isReady = false;
  #pid: number | null = null;
  readonly #input: StartInput;
  #exit: { code: number | null; signal: string | null } | null = null;
  #stopped: Error | null = null;
  #stopDrain: () => void = () => undefined;
  #resolve!: () => void;
  readonly #closed = new Promise<void>((resolve) => {
    this.#resolve = resolve;
  });

  constructor(place: Place, channel: ClientChannel, mark: string, input: StartInput, options: RunInput) {
    const { onLine } = options;
    this.#place = place;
    this.#channel = channel;
    this.#mark = mark;
    this.#options = options;
    this.#input = input;
    this.#stdout = outputReader(onLine && ((line) => onLine(line, 'stdout')));
    this.#stderr = outputReader(onLine && ((line) => this.#state === 'running' && onLine(line, 'stderr')));
    channel.on('data', (piece: Buffer) => this.#take(piece));
    channel.stderr.on('data', (piece: Buffer) => this.#takeError(piece));
    channel.on('exit', (code: number | null, signal?: string) => {
      this.#exit = { code, signal: signal ?? null };
      this.#drain();
    });
    channel.on('close', () => this.#resolve());
    channel.on('error', () => undefined);
  }

  async ended(): Promise<RunResult> {
    const { signal, timeoutMs } = this.#options;
    const { name } = this.#place;
    const stop = (why: string) => (): void =>
      void this.#stop(new RetryableError(`the command at ${name} was ended: ${why}`));
    const onAbort = stop('the operation is stopped');
    signal?.addEventListener('abort', onAbort, { once: true });
    const cancelStart = afterDelay(START_MS, () => {
      if (this.#state !== 'running')
        void this.#stop(new RetryableError(`${name} did not start the command within ${START_MS / 1000} s`));
    });
    const cancelLimit =
      timeoutMs === undefined
        ? () => undefined
        : afterDelay(timeoutMs, stop(`it ran longer than ${timeoutMs / 1000} s`));
    try {
      await this.#closed;
    } finally {
      cancelStart();
      cancelLimit();
      this.#stopDrain();
      signal?.removeEventListener('abort', onAbort);
    }
    this.#stdout.end();
    this.#stderr.end();
    return this.#result();
  }

  #take(piece: Buffer): void {
    if (this.#exit !== null) this.#drain();
    if (this.#state === 'running') return this.#output(piece);
    this.#early = Buffer.concat([this.#early, piece]);
    this.#hear();
    if (this.#early.length > MAX_GREETING)
      void this.#stop(new FatalError(`${this.#place.name} answers without end, and starts no command`));
  }

  /** Reads the messages of the wrapper, in their order. */
  #hear(): void {
    if (this.#state === 'greeting') {
      const told = this.#after(':(\\d+)\\r?\\n');
      if (told === null) return;
      this.#pid = Number(told);
      this.#state = 'starting';
    }
    while (this.#after(':(pw)') !== null) this.#tellPassword();
    if (!this.#isReady && this.#after(':(ready)\\r?\\n') !== null) {
      this.#isReady = true;
      this.#send();
    }
    if (this.#after(':(go)\\r?\\n') === null) return;
    this.#state = 'running';
    if (this.#early.length > 0) this.#output(this.#early);
    this.#early = Buffer.alloc(0);
  }

  /** Removes the early output up to a message, and returns what it says; null: it is not there yet. */
  #after(pattern: string): string | null {
    const found = new RegExp(`${this.#mark}${pattern}`).exec(this.#early.toString('latin1'));
    if (found === null) return null;
    this.#early = this.#early.subarray(found.index + found[0].length);
    return found[1]!;
  }

  /** A second question means that the answer was wrong: another try could lock the account. */
  #tellPassword(): void {
    if (this.#isPasswordTold) {
      // sudo ends with its input. To end it as root would take the same password again.
      this.#pid = null;
      void this.#stop(new FatalError(`sudo at ${this.#place.name} refuses the password`));
      return;
    }
    this.#isPasswordTold = true;
    this.#channel.write(this.#input.password);
  }

  #send(): void {
    const { stdin, pty } = this.#options;
    this.#channel.write(this.#input.line);
    if (stdin instanceof Readable) {
      stdin.on(
        'error',
        (cause) =>
          void this.#stop(
            new FatalError(`the input of a command cannot be read: ${cause.message}`, { cause }),
          ),
      );
      stdin.pipe(this.#channel);
    } else if (stdin !== undefined) this.#channel.end(stdin);
    // The end of the input would end the terminal.
    else if (!pty) this.#channel.end();
  }

  #output(piece: Buffer): void {
    const { onData } = this.#options;
    if (onData === undefined) this.#stdout.push(piece);
    else onData(piece);
  }

  #takeError(piece: Buffer): void {
    if (this.#exit !== null) this.#drain();
    const question = `${this.#mark}:pw`;
    const text = this.#state === 'starting' ? piece.toString('latin1') : '';
    if (!text.includes(question)) return this.#stderr.push(piece);
    for (let n = text.split(question).length; n > 1; n--) this.#tellPassword();
    this.#stderr.push(Buffer.from(text.replaceAll(question, ''), 'latin1'));
  }

  #drain(): void {
    this.#stopDrain();
    this.#stopDrain = afterDelay(DRAIN_MS, () => {
      this.#channel.close();
      this.#resolve();
    });
  }

  /** Ends the process group at the host, then the channel. Whatever the host does, this ends. */
  async #stop(reason: Error): Promise<void> {
    if (this.#stopped !== null) return;
    this.#stopped = reason;
    const cancel = afterDelay(END_MS, this.#resolve);
    if (this.#pid !== null && this.#exit === null) await this.#endGroup(this.#pid);
    this.#channel.close();
    cancel();
    this.#resolve();
  }

  async #endGroup(pid: number): Promise<void> {
    const { sudo } = this.#options;
    const ending = runCommand(this.#place, endOfGroup(pid), { sudo: isRoot(sudo), timeoutMs: END_MS }).catch(
      () => undefined,
    );
    await Promise.race([ending, this.#closed]);
    await ending;
  }

  #result(): RunResult {
    const { name } = this.#place;
    if (this.#stopped !== null) throw this.#stopped;
    const stdout = this.#stdout.text();
    const stderr = this.#stderr.text();
    if (this.#exit === null)
      throw new RetryableError(
        `the connection to ${name} was lost: whether the command has ended is not known`,
      );
    const { code, signal } = this.#exit;
    const said = (stderr.trim() || stdout.trim()).slice(-SHOWN_CHARACTERS);
    const because = said === '' ? '' : `: ${said}`;
    if (this.#state !== 'running')
      throw new FatalError(`${name} does not start the command (exit code ${code ?? signal})${because}`);
    if (code === null)
      throw new RetryableError(`the command at ${name} was ended by ${signal ?? 'a signal'}${because}`);
    const meaning = this.#options.exitCodes?.[code] ?? (code === 0 ? 'ok' : 'retryable');
    if (meaning === 'ok') return { exitCode: code, stdout, stderr };
    const message = `the command at ${name} ended with ${code}${because}`;
    throw meaning === 'fatal' ? new FatalError(message) : new RetryableError(message);
  }
}

/** Who may end the processes of another user: root, by the same password. */
const isRoot = (sudo: RunOptions['sudo']): RunOptions['sudo'] =>
  typeof sudo === 'object' ? { password: sudo.password } : sudo;
