import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format } from 'node:util';
import type { Json } from '@baton/kernel';
import type { OperationLogger, PluginOperation } from '@baton/plugin-sdk';
import { RunContext } from '../../context/run-context';
import { OperationSession } from '../../context/session';
import { settled } from '../../context/settled';
import type { OperationEnd } from '../../operation-end';
import type { OperationTask } from '../../task';
import { type Say, Waiting, wireHost } from './wire-host';

/** The programs that scripts call, beside the folder of this program. */
const bin = join(__dirname, '../bin');
export const running = new AsyncLocalStorage<OperationLogger>();

/** Passes what operations print with `console` on to the log of the operation that prints it. */
export function logConsole(): void {
  const levels = { debug: 'debug', log: 'info', info: 'info', warn: 'warning', error: 'error' } as const;
  for (const [name, level] of Object.entries(levels) as [keyof typeof levels, keyof OperationLogger][]) {
    const print = console[name].bind(console);
    console[name] = (...parts: unknown[]) => {
      const logger = running.getStore();
      if (logger) logger[level](format(...parts));
      else print(...parts);
    };
  }
}

/** An operation, or the code of a workflow, that runs in this process. */
export interface RunningOperation {
  waiting: Waiting;
  stop: AbortController;
  end: Promise<OperationEnd>;
}

/** Starts an operation. Its temporary folder is removed at its end. */
export function startOperation(
  { op, task }: { op: number; task: OperationTask },
  operation: PluginOperation,
  say: Say,
): RunningOperation {
  const stop = new AbortController();
  const waiting = new Waiting(op, say);
  let folder: Promise<string> | null = null;
  const tempDir = (): Promise<string> => (folder ??= mkdtemp(join(tmpdir(), 'operation-')));
  const session = new OperationSession(task, wireHost(op, waiting, say, tempDir), stop.signal);
  const ctx = new RunContext(session, tempDir, bin);
  const work = async (): Promise<OperationEnd> => {
    const inputs = await session.inputs();
    const result = await running.run(ctx.logger, () => operation(ctx, inputs as Record<string, Json>));
    return { kind: 'succeeded', result };
  };
  const end = settled(session, 'with-frames', work).finally(async () => {
    if (folder) await rm(await folder, { recursive: true, force: true }).catch(() => undefined);
  });
  return { waiting, stop, end };
}
