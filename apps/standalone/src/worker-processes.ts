import { type ChildProcess, fork } from 'node:child_process';
import { type Broker, type RelayAccess, relayBroker } from '@baton/broker';
import { firstTaskReady, taskReady, tasksCancelled } from '@baton/contracts';
import { afterDelay, backoffMs, type Log, systemClock } from '@baton/kernel';
import { processChannel, type RpcRelay } from '@baton/rpc';

/** The isolation that a worker reports when it has started (services/worker/src/service.ts). */
export interface IsolationNote {
  name: string;
  description: string;
  notEnforced: readonly string[];
}

const noteOf = (message: unknown): IsolationNote | undefined =>
  (message as { isolation?: IsolationNote } | null)?.isolation;

export interface WorkerProcesses {
  /** Process ids of the running workers. */
  pids(): number[];
  /** The isolation of operations, once the first worker has reported it; null: none did within that time. */
  isolation(waitMs: number): Promise<IsolationNote | null>;
  /** The reason why no worker works, although one should; null: one does, or there are none. */
  problem(): string | null;
  /** Stops the workers: they finish or give back their operations, for at most `limitMs`. */
  stop(limitMs?: number): Promise<void>;
}

const STABLE_MS = 30_000;
/** From this number of ends in a row, the cause is not an accident. */
const MANY_CRASHES = 3;
const KEEPS_ENDING = 'a worker keeps ending';
/** Longer than a worker waits for operations (BATON_WORKER_STOP_AFTER) and then reports how they ended. */
const KILL_AFTER_MS = 60_000;

/** Keeps `count` worker processes running; one that dies is started again, with growing delays while it keeps dying. */
export function startWorkers(o: {
  count: number;
  main: string;
  env: NodeJS.ProcessEnv;
  log: Log;
  /** Answers the calls that workers send over their channel. */
  relay: RpcRelay;
  /** Carries the messages that a worker gets and sends, over the same channel. */
  broker: Broker;
}): WorkerProcesses {
  const slots = Array.from({ length: o.count }, (_, i) => startSlot(i, o));
  return {
    isolation: (waitMs) =>
      new Promise((resolve) => {
        const leave = afterDelay(waitMs, () => resolve(null));
        void Promise.race(slots.map((slot) => slot.noted)).then((note) => {
          leave();
          resolve(note);
        });
      }),
    pids: () => slots.flatMap((slot) => slot.pid() ?? []),
    problem: () => {
      const problems = slots.map((slot) => slot.problem());
      return problems.length > 0 && problems.every((one) => one !== null) ? problems[0]! : null;
    },
    stop: async (limitMs = KILL_AFTER_MS) =>
      void (await Promise.all(slots.map((slot) => slot.stop(limitMs)))),
  };
}

/** The messages that a worker may consume, subscribe to and publish. */
const ACCESS: RelayAccess = {
  consumes: [
    { message: taskReady, queue: 'worker' },
    { message: firstTaskReady, queue: 'worker' },
  ],
  subscribes: [tasksCancelled],
  publishes: [taskReady, firstTaskReady],
};

type SlotOptions = Omit<Parameters<typeof startWorkers>[0], 'count'>;

/** Starts a worker with a channel, over which it makes all its calls to this process. */
function forkWorker({ main, env }: SlotOptions): ChildProcess {
  return fork(main, [], {
    env: { ...env, BATON_RPC_PARENT: 'true' },
    execArgv: main.endsWith('.ts') ? ['--import', 'tsx'] : [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

function startSlot(index: number, o: SlotOptions) {
  let note: (told: IsolationNote) => void = () => undefined;
  const noted = new Promise<IsolationNote>((resolve) => {
    note = resolve;
  });
  let child: ChildProcess | null = null;
  let isStopping = false;
  let crashes = 0;
  let restart: NodeJS.Timeout | null = null;
  /** The problem that the worker itself reports (services/worker/src/service.ts), or that follows from its ends. */
  let problem: string | null = null;
  let lastEnd = '';
  let recovered: NodeJS.Timeout | undefined;
  const start = () => {
    const startedAt = systemClock.monotonic();
    const started = forkWorker(o);
    child = started;
    const channel = processChannel(started);
    o.relay.attach(channel);
    relayBroker(o.broker, channel, ACCESS);
    channel.onMessage((message) => {
      const told = noteOf(message);
      if (told) note(told);
      const said = (message as { workerProblem?: unknown } | null)?.workerProblem;
      if (typeof said === 'string' && child === started) problem = said;
    });
    started.once('spawn', () => {
      if (crashes < MANY_CRASHES) problem = null;
      recovered = setTimeout(() => {
        crashes = 0;
        lastEnd = '';
        if (problem?.startsWith(KEEPS_ENDING)) problem = null;
      }, STABLE_MS).unref();
    });
    started.once('exit', (code, signal) => {
      child = null;
      clearTimeout(recovered);
      if (isStopping) return;
      crashes = systemClock.monotonic() - startedAt > STABLE_MS ? 1 : crashes + 1;
      const end = `${signal ?? `status ${code}`}`;
      if (crashes >= MANY_CRASHES) problem = `${KEEPS_ENDING} with ${end}; its own words are in the log`;
      // A worker that keeps ending in the same way is logged once.
      const tell = end === lastEnd && crashes > 1 ? o.log.debug : o.log.warn;
      lastEnd = end;
      tell.call(o.log, { worker: index, code, signal, crashes }, 'a worker ended; it is started again');
      restart = setTimeout(start, backoffMs(crashes));
    });
  };
  start();
  return {
    pid: () => child?.pid ?? null,
    noted,
    problem: () => problem,
    async stop(limitMs: number) {
      isStopping = true;
      if (restart) clearTimeout(restart);
      if (child) await endWithin(child, limitMs);
    },
  };
}

async function endWithin(running: ChildProcess, limitMs: number): Promise<void> {
  const ended = new Promise<void>((resolve) => running.once('exit', () => resolve()));
  running.kill('SIGTERM');
  const late = setTimeout(() => running.kill('SIGKILL'), limitMs);
  await ended;
  clearTimeout(late);
}
