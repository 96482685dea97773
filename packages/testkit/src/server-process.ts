import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { systemClock } from '@baton/kernel';
import { letTimePass } from './let-time-pass';

export interface ServerProcess {
  start(): Promise<void>;
  /** Starts the server when it ended by itself; waits until it answers. */
  revive(): Promise<void>;
  /** Ends the server with `signal` and waits until it is gone. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

/** A server as a child process in its own process group, so that its own children end with it. */
export function serverProcess(options: {
  command: string;
  args: string[];
  env?: Record<string, string>;
  isReady: () => Promise<void>;
  startTimeoutMs: number;
}): ServerProcess {
  let child: ChildProcess | null = null;
  let output = '';
  const isRunning = (): boolean => child !== null && child.exitCode === null && child.signalCode === null;
  const self: ServerProcess = {
    revive: async () => {
      if (!isRunning()) return await self.start();
      const end = systemClock.monotonic() + options.startTimeoutMs;
      for (;;) {
        const isUp = await options.isReady().then(
          () => true,
          () => false,
        );
        if (isUp) return;
        if (!isRunning()) return await self.start();
        if (systemClock.monotonic() > end) throw new Error(`${options.command} does not answer:\n${output}`);
        await letTimePass(100, 'between two looks');
      }
    },
    start: async () => {
      output = '';
      child = spawn(options.command, options.args, {
        detached: true,
        env: { ...process.env, ...options.env },
      });
      const keep = (chunk: Buffer): void => {
        output = (output + chunk.toString()).slice(-4_000);
      };
      child.stdout?.on('data', keep);
      child.stderr?.on('data', keep);
      const end = systemClock.monotonic() + options.startTimeoutMs;
      for (;;) {
        try {
          await options.isReady();
          return;
        } catch (error) {
          if (child.exitCode !== null) throw new Error(`${options.command} ended at once:\n${output}`);
          if (systemClock.monotonic() > end)
            throw new Error(`${options.command} is not ready: ${(error as Error).message}\n${output}`);
        }
        await letTimePass(50, 'between two looks');
      }
    },
    stop: async (signal) => {
      const running = child;
      child = null;
      if (!running?.pid || running.exitCode !== null || running.signalCode !== null) return;
      const ended = once(running, 'exit');
      process.kill(-running.pid, signal);
      await ended;
    },
  };
  return self;
}
