import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { eventually } from '@baton/testkit/eventually';

/** A process of the manager that tests can kill, pause and restart. */
export interface ManagedProcess {
  readonly name: string;
  pid(): number | null;
  /** Starts the process if it is not running. */
  start(): void;
  /** Sends a signal; returns false when the process is not running. */
  signal(signal: NodeJS.Signals): boolean;
  /** Resolves when the process has ended. */
  ended(): Promise<void>;
  /** SIGTERM, then SIGKILL after 15 s. */
  stop(): Promise<void>;
  /** Describes the end of a process that no test stopped; null: it is running, or a test stopped it. */
  unexpectedEnd(): string | null;
}

export const root = join(__dirname, '..', '..');
const KILL_AFTER_MS = 15_000;
const ENDING: ReadonlySet<NodeJS.Signals> = new Set(['SIGTERM', 'SIGKILL', 'SIGINT']);

/** A user other than the one of the tests. */
export interface Account {
  uid: number;
  gid: number;
}

/** Runs a Node.js program of dist/ with its output in a log file. It is not restarted automatically. */
export function nodeProcess(
  name: string,
  main: string,
  env: NodeJS.ProcessEnv,
  logDir: string,
  account?: Account,
): ManagedProcess {
  mkdirSync(logDir, { recursive: true });
  let child: ChildProcess | null = null;
  let end: Promise<void> = Promise.resolve();
  let isAskedToEnd = false;
  let unexpected: string | null = null;
  const log: WriteStream = createWriteStream(join(logDir, `${name}.log`), { flags: 'a' });
  return {
    name,
    pid: () => child?.pid ?? null,
    start() {
      if (child) return;
      const started = spawn(process.execPath, [main], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        ...account,
      });
      started.stdout.pipe(log, { end: false });
      started.stderr.pipe(log, { end: false });
      child = started;
      isAskedToEnd = false;
      unexpected = null;
      end = new Promise((resolve) =>
        started.once('exit', (code, signal) => {
          if (child === started) child = null;
          if (!isAskedToEnd) unexpected = `${name} ended with ${signal ?? `status ${code}`}`;
          resolve();
        }),
      );
    },
    signal(signal) {
      if (ENDING.has(signal)) isAskedToEnd = true;
      return child?.kill(signal) ?? false;
    },
    ended: () => end,
    async stop() {
      const running = child;
      if (!running) return;
      isAskedToEnd = true;
      running.kill('SIGCONT');
      running.kill('SIGTERM');
      const late = setTimeout(() => running.kill('SIGKILL'), KILL_AFTER_MS);
      await end;
      clearTimeout(late);
    },
    unexpectedEnd: () => unexpected,
  };
}

/** Below the range of ports for outgoing connections, which could take a port before its server listens. */
const PORTS = { from: 10_000, to: 32_000 };

/**
 * Returns free TCP ports of the loopback interface. They are random, because several runs may look for ports at the same moment.
 */
export async function freePorts(count: number): Promise<number[]> {
  const taken = new Map<number, Server>();
  while (taken.size < count) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    const server = taken.has(port) ? null : await listening(port);
    if (server) taken.set(port, server);
  }
  await Promise.all([...taken.values()].map((server) => new Promise((resolve) => server.close(resolve))));
  return [...taken.keys()];
}

/** Listens on the port; null: it is in use. */
function listening(port: number): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

/** Resolves when `url` answers with a status below 500. @throws after `limitMs`. */
export async function untilAnswers(url: string, limitMs = 60_000): Promise<void> {
  const answers = async (): Promise<void> => {
    const response = await fetch(url);
    if (response.status >= 500)
      throw new Error(`status ${response.status}: ${(await response.text()).slice(0, 300)}`);
  };
  await eventually(answers, { deadlineMs: limitMs, everyMs: 100 }).catch((error: Error) => {
    throw new Error(`${url} did not answer within ${limitMs / 1000} s (${error.message})`);
  });
}
