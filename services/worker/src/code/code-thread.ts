import { isAppError } from '@baton/kernel';
import {
  endOfKind,
  type OperationEnd,
  type OperationHost,
  type OperationTask,
  stopReason,
  type WorkPort,
} from '@baton/plugin-runtime';
import { resolveWorkerFile, startThread } from '@baton/service-runtime';
import type { FromThread, ThreadCall, ThreadError, ThreadStart, ToThread } from './code-thread-protocol';

const WORKER_FILE = resolveWorkerFile(__dirname, 'workflow-code.worker');
/** Like for scripts: how long code may continue after it was told to stop, before its thread is ended. */
const STOP_GRACE_MS = 5_000;
/** Limit of the old generation of one thread's heap: code that grows beyond it fails alone. */
const HEAP_MB = 512;

/**
 * Runs the workflow code of a plugin in its own thread, so that code that never waits blocks neither the leases nor the other
 * operations of this worker. Aborting `signal` tells the code to stop; after five seconds (at once when the lease is lost) the
 * thread is ended, whatever the code is doing. The thread dies with this process. Never throws.
 */
export function runCodeThread(
  start: Omit<ThreadStart, 'linesTaken'>,
  host: OperationHost,
  port: WorkPort,
  signal: AbortSignal,
): Promise<OperationEnd> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const linesTaken = new SharedArrayBuffer(4);
    const thread = startThread(WORKER_FILE, {
      workerData: { ...start, linesTaken } satisfies ThreadStart,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    const tell = (message: ToThread): void => thread.postMessage(message);
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      tell({ kind: 'abort', reason: stopReason(signal) });
      timer = setTimeout(
        () => settle({ kind: 'stopped', reason: stopReason(signal) }),
        signal.reason === 'lease-lost' ? 0 : STOP_GRACE_MS,
      );
    };
    const settle = (end: OperationEnd): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      over.abort();
      void thread.terminate();
      resolve(end);
    };
    const calls = callsOf(host, port, AbortSignal.any([signal, over.signal]));
    thread.on('message', (message: FromThread) => {
      if (message.kind === 'end') return settle(JSON.parse(message.end) as OperationEnd);
      if (message.kind === 'line') return void take(host, message.line, linesTaken);
      void answer(calls, message.call).then((told) => !over.signal.aborted && tell(told));
    });
    // A thread that is being ended may still emit events; the result is settled by then, and a second end changes nothing.
    thread.on('error', (error: Error) => settle(crashed(`${error.name}: ${error.message}`, error.stack)));
    thread.on('exit', (code) => settle(crashed(`its thread ended with ${code}`)));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Returns the end for an uncaught error or exhausted memory: final, like every error that leaves workflow code. */
function crashed(how: string, stack?: string): OperationEnd {
  const message = `the code of the workflow broke off: ${how}`;
  const traceback = stack?.split('\n').slice(1).join('\n') ?? null;
  return endOfKind('fatal', {
    exceptionType: 'NonRecoverableError',
    message,
    traceback,
    causes: [],
    retryAfter: null,
  });
}

type Calls = Record<ThreadCall['on'], Record<string, (...args: never[]) => unknown>>;

/** The calls that the thread may make; it has no others. */
function callsOf(host: OperationHost, port: WorkPort, signal: AbortSignal): Calls {
  return {
    host: {
      open: () => host.open(),
      readDeployment: () => host.readDeployment(),
      readResource: (path: string) => host.readResource(path),
      listResources: (path: string) => host.listResources(path),
      deploymentDir: () => host.deploymentDir(),
    },
    port: {
      submit: (work: Parameters<WorkPort['submit']>[0]) => port.submit(work),
      await: (after: Parameters<WorkPort['await']>[0]) => port.await(after, signal),
      call: (key: string, request: Parameters<WorkPort['call']>[1]) => port.call(key, request),
    },
  };
}

/** Passes log lines on in their order; then signals the thread that there is room for another line. */
async function take(
  host: OperationHost,
  line: Parameters<OperationHost['emit']>,
  linesTaken: SharedArrayBuffer,
): Promise<void> {
  try {
    await host.emit(...line);
  } catch {
    // Only the refused line itself is lost.
  }
  const count = new Int32Array(linesTaken);
  Atomics.add(count, 0, 1);
  Atomics.notify(count, 0);
}

async function answer(calls: Calls, { id, on, method, args }: ThreadCall): Promise<ToThread> {
  try {
    return { kind: 'answer', id, value: await calls[on][method]!(...(args as never[])) };
  } catch (error) {
    return { kind: 'answer', id, error: describe(error) };
  }
}

function describe(error: unknown): ThreadError {
  const message = error instanceof Error ? error.message : String(error);
  if (!isAppError(error)) return { message, code: null, details: {} };
  return { message, code: error.code, details: JSON.parse(JSON.stringify(error.details)) };
}

/** Returns whether the workflow of this task is a function of a plugin, which runs in a thread. */
export const isFunctionOf = (
  task: Pick<OperationTask, 'mapping'>,
  workflows: ReadonlyMap<string, unknown> | undefined,
): boolean => workflows?.has(task.mapping) ?? false;
