/** The thread that runs the code of one workflow of a plugin: the registered function, and its calls to the engine. */
import { parentPort, workerData } from 'node:worker_threads';
import { AppError, type ErrorCode } from '@baton/kernel';
import {
  buildRegistry,
  buildWorkflowRegistry,
  endOfThrown,
  invokeWorkflow,
  type OperationHost,
  type WorkPort,
} from '@baton/plugin-runtime';
import {
  type FromThread,
  LINES_AHEAD,
  type ThreadCall,
  type ThreadStart,
  type ToThread,
} from './code-thread-protocol';
import { loadHandlers } from './handlers';

const main = parentPort!;
const stop = new AbortController();
const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
let calls = 0;
const linesTaken = new Int32Array((workerData as ThreadStart).linesTaken);
let linesSaid = 0;
/** A lost notification delays the thread by at most this long. */
const LOOK_MS = 1_000;

const say = (message: FromThread): void => main.postMessage(message);

main.on('message', (message: ToThread) => {
  if (message.kind === 'abort') return stop.abort(message.reason);
  const call = waiting.get(message.id);
  waiting.delete(message.id);
  const { error } = message;
  if (!error) call?.resolve(message.value as never);
  else
    call?.reject(
      error.code === null
        ? new Error(error.message)
        : new AppError(error.code as ErrorCode, error.message, error.details),
    );
});

function ask<Answer>(call: Pick<ThreadCall, 'on' | 'method'>, args: unknown[]): Promise<Answer> {
  const id = ++calls;
  say({ kind: 'call', call: { ...call, id, args } as ThreadCall });
  return new Promise<Answer>((resolve, reject) => waiting.set(id, { resolve, reject }));
}

const elsewhere = (): never => {
  throw new Error('workflow code changes no runtime properties and fetches nothing');
};

const host: OperationHost = {
  open: () => ask({ on: 'host', method: 'open' }, []),
  readDeployment: () => ask({ on: 'host', method: 'readDeployment' }, []),
  readResource: (path) => ask({ on: 'host', method: 'readResource' }, [path]),
  listResources: (path) => ask({ on: 'host', method: 'listResources' }, [path]),
  deploymentDir: () => ask({ on: 'host', method: 'deploymentDir' }, []),
  emit: (...line) => {
    say({ kind: 'line', line });
    linesSaid++;
    for (let taken = Atomics.load(linesTaken, 0); linesSaid - taken > LINES_AHEAD; ) {
      Atomics.wait(linesTaken, 0, taken, LOOK_MS);
      taken = Atomics.load(linesTaken, 0);
    }
  },
  deploymentPlace: elsewhere,
  cutText: elsewhere,
  saveRuntimeProperties: elsewhere,
  fetchUrl: elsewhere,
  installedPlugin: elsewhere,
  secret: elsewhere,
  hide: elsewhere,
};

const port: WorkPort = {
  submit: (work) => ask({ on: 'port', method: 'submit' }, [work]),
  // The main thread passes its own signal, which ends with the run.
  await: (after) => ask({ on: 'port', method: 'await' }, [after]),
  call: (key, request) => ask({ on: 'port', method: 'call' }, [key, request]),
};

async function run({ task, handlers }: ThreadStart): Promise<void> {
  const plugins = [loadHandlers(handlers)];
  const runtime = {
    operations: buildRegistry(plugins),
    workflows: buildWorkflowRegistry(plugins),
    // Functions only: scripts have their own processes.
    scripts: undefined as never,
  };
  const end = await invokeWorkflow(task, host, port, runtime, stop.signal);
  say({ kind: 'end', end: JSON.stringify(end) });
}

run(workerData as ThreadStart).catch((thrown: unknown) =>
  say({ kind: 'end', end: JSON.stringify(endOfThrown(thrown, 'with-frames')) }),
);
