import { execFile, execFileSync } from 'node:child_process';

/** The end of a command. */
export interface Ran {
  /** 128 + signal for a command that a signal ended. */
  status: number;
  stdout: string;
  stderr: string;
}

const MOST_BYTES = 64 * 1024 * 1024;

/** Runs a command of this machine. @throws Error with its messages unless it succeeds */
export function mustRun(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Runs a command and returns its end, whatever it is. @throws Error when it cannot be started, or after `limitMs` */
export function run(
  command: string,
  args: readonly string[],
  { stdin = '', limitMs = 60_000 }: { stdin?: string; limitMs?: number } = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const options = { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: MOST_BYTES } as const;
    const child = execFile(command, [...args], options, (error, stdout, stderr) => {
      const { code, killed } = (error ?? {}) as { code?: number | string; killed?: boolean };
      if (typeof code === 'string') return reject(error);
      if (killed)
        return reject(new Error(`not within ${limitMs} ms: ${command} ${args.join(' ')}\n${stderr}`));
      resolve({ status: error ? (code ?? 255) : 0, stdout, stderr });
    });
    // A command that does not read its input may have closed it.
    child.stdin!.on('error', () => undefined);
    child.stdin!.end(stdin);
  });
}
