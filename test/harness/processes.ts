import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** A process of ours: killed, paused and started again by name. */
export interface ManagedProcess {
  readonly name: string;
  pid(): number | null;
  /** Starts it when it does not run. */
  start(): void;
  /** Sends a signal; answers false when it does not run. */
  signal(signal: NodeJS.Signals): boolean;
  /** Resolves when it has ended. */
  ended(): Promise<void>;
  /** SIGTERM, then SIGKILL after 15 s. */
  stop(): Promise<void>;
}

export const root = join(__dirname, '..', '..');
const KILL_AFTER_MS = 15_000;

/** A Node.js program of dist/ with its output in a log file. It is not started again by itself. */
export function nodeProcess(
  name: string,
  main: string,
  env: NodeJS.ProcessEnv,
  logDir: string,
  args: string[] = [],
): ManagedProcess {
  mkdirSync(logDir, { recursive: true });
  let child: ChildProcess | null = null;
  let end: Promise<void> = Promise.resolve();
  const log: WriteStream = createWriteStream(join(logDir, `${name}.log`), { flags: 'a' });
  return {
    name,
    pid: () => child?.pid ?? null,
    start() {
      if (child) return;
      const started = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      started.stdout.pipe(log, { end: false });
      started.stderr.pipe(log, { end: false });
      child = started;
      end = new Promise((resolve) =>
        started.once('exit', () => {
          if (child === started) child = null;
          resolve();
        }),
      );
    },
    signal: (signal) => child?.kill(signal) ?? false,
    ended: () => end,
    async stop() {
      const running = child;
      if (!running) return;
      running.kill('SIGCONT');
      running.kill('SIGTERM');
      const late = setTimeout(() => running.kill('SIGKILL'), KILL_AFTER_MS);
      await end;
      clearTimeout(late);
    },
  };
}

/** TCP ports of the loopback that nobody uses now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
          const server = createServer();
          server.once('error', reject);
          server.listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Resolves when `url` answers with a status below 500. @throws after `limitMs`. */
export async function untilAnswers(url: string, limitMs = 60_000): Promise<void> {
  const until = Date.now() + limitMs;
  let last = 'no answer';
  while (Date.now() < until) {
    try {
      const response = await fetch(url);
      if (response.status < 500) return;
      last = `status ${response.status}: ${(await response.text()).slice(0, 300)}`;
    } catch (error) {
      last = (error as Error).message;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} did not answer within ${limitMs / 1000} s (${last})`);
}
