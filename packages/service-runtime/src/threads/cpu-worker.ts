/** The thread side of a CPU pool: a `*.worker.ts` file only calls `serveCpuTasks(parse)`. */
import { parentPort } from 'node:worker_threads';
import { isAppError } from '@baton/kernel';

export interface CpuReply {
  value?: unknown;
  error?: { code: string | null; message: string; details: unknown; stack: string | undefined };
}

/** Runs `run` for each task that the pool sends, one at a time. Values are structured clones. */
export function serveCpuTasks<Task, Value>(run: (task: Task) => Value | Promise<Value>): void {
  const port = parentPort;
  if (!port) throw new Error('serveCpuTasks runs in a worker thread only');
  port.on('message', async (task: Task) => {
    try {
      port.postMessage({ value: await run(task) } satisfies CpuReply);
    } catch (error) {
      const known = isAppError(error);
      const { message, stack } = error as Error;
      port.postMessage({
        error: { code: known ? error.code : null, message, details: known ? error.details : {}, stack },
      } satisfies CpuReply);
    }
  });
}
