import { type BaseScope, FatalError, RetryableError } from '@baton/plugin-sdk';

export interface RunOptions {
  /** Exit codes that are no failure. Default: 0. */
  ok?: readonly number[];
  /** Log the output line by line. */
  isLogged?: boolean;
  /** Take the whole standard output: it is one document. */
  isDocument?: boolean;
}

export interface Ran {
  exitCode: number;
  /** The last million characters; with `isDocument` everything. */
  stdout: string;
}

/** A program with the commands of terraform, in the folder of a module. */
export interface Terraform {
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Runs a command that prints a JSON document. */
  json(args: readonly string[]): Promise<unknown>;
}

export interface TerraformOptions {
  binary: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  silenceLimitMs: number;
  /** Ends the program: a cancel, or the loss of the lock of the state. */
  signal: AbortSignal;
}

/** Time between the request to end and the kill: less than the time that the process of the plugin has. */
const GRACE_MS = 4_000;
const MAX_LOGGED_LINES = 5_000;
const MAX_DOCUMENT = 256 * 1024 * 1024;
const SHOWN_CHARACTERS = 2_000;

type Scope = Pick<BaseScope, 'exec' | 'log'>;

/** Makes the runner. A cancel asks terraform to end: it writes its state then, and gives its locks back. */
export function terraformIn(scope: Scope, options: TerraformOptions): Terraform {
  const run = async (args: readonly string[], how: RunOptions = {}): Promise<Ran> => {
    const { ok = [0], isLogged = false, isDocument = false } = how;
    const document = isDocument ? new Gathered() : null;
    const say = logLines(scope.log, isLogged);
    const result = await scope.exec(options.binary, args, {
      cwd: options.cwd,
      env: options.env,
      silenceLimitMs: options.silenceLimitMs,
      signal: options.signal,
      endSignal: 'SIGINT',
      graceMs: GRACE_MS,
      // Every code is judged here, with the words of terraform.
      exitCodes: EVERY_CODE,
      onLine: (line, stream) => {
        if (document !== null && stream === 'stdout') document.add(line);
        else say(line);
      },
    });
    if (!ok.includes(result.exitCode)) throw failure(args[0] ?? '', result);
    return { exitCode: result.exitCode, stdout: document?.text() ?? result.stdout };
  };
  return {
    run,
    json: async (args) => {
      const { stdout } = await run(args, { isDocument: true });
      try {
        return JSON.parse(stdout) as unknown;
      } catch (cause) {
        throw new FatalError(`terraform ${args[0]} printed no JSON document`, { cause });
      }
    },
  };
}

const EVERY_CODE = Object.fromEntries(Array.from({ length: 256 }, (_, code) => [code, 'ok' as const]));

/** The document of a command, which may come in pieces. */
class Gathered {
  readonly #pieces: string[] = [];
  #length = 0;
  add(piece: string): void {
    this.#length += piece.length;
    if (this.#length <= MAX_DOCUMENT) this.#pieces.push(piece);
  }
  text(): string {
    if (this.#length > MAX_DOCUMENT)
      throw new FatalError(`terraform printed more than ${MAX_DOCUMENT} characters`);
    return this.#pieces.join('');
  }
}

/** Logs lines; of a program that writes without end only the first ones. */
function logLines(log: Scope['log'], isLogged: boolean): (line: string) => void {
  let lines = 0;
  return (line) => {
    lines += 1;
    if (!isLogged || line.trim() === '' || lines > MAX_LOGGED_LINES) return;
    log.info(lines === MAX_LOGGED_LINES ? 'Further lines of the program are not logged' : line);
  };
}

/** The code of a panic of Go: the program is broken, perhaps only this time. */
const PANIC = 2;

function failure(
  command: string,
  { exitCode, stdout, stderr }: { exitCode: number; stdout: string; stderr: string },
): Error {
  const said = withoutFrame(stderr.trim() === '' ? stdout : stderr).slice(-SHOWN_CHARACTERS);
  const message = `terraform ${command} ended with ${exitCode}: ${said}`;
  if (/Saved plan is stale|does not match the given plan|plan file can no longer be applied/i.test(said))
    return new FatalError(
      'the saved plan does not fit any more: the state has changed since it was made. Run terraform_plan again, or give force: true',
    );
  if (exitCode === PANIC && /panic:/.test(stderr)) return new RetryableError(message);
  if (/Error acquiring the state lock/i.test(said)) return new RetryableError(message, { retryAfter: 15 });
  return new FatalError(message);
}

/** Terraform draws a frame around its errors. */
const withoutFrame = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replace(/^[│╷╵|]\s?/, '').trimEnd())
    .filter((line) => line !== '' && !/^[╷╵]/.test(line))
    .join('\n');
