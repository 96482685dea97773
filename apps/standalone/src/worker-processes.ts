import { type ChildProcess, fork } from 'node:child_process';
import { type Broker, type RelayAccess, relayBroker } from '@baton/broker';
import { taskReady, tasksCancelled } from '@baton/contracts';
import { backoffMs, type Log, systemClock } from '@baton/kernel';
import { processChannel, type RpcRelay } from '@baton/rpc';

export interface WorkerProcesses {
  /** Process ids of the workers that run now. */
  pids(): number[];
  /** Stops them: they finish or give back what they hold. */
  stop(): Promise<void>;
}

const STABLE_MS = 30_000;
/** Longer than a worker waits for operations (BATON_WORKER_STOP_AFTER) and then tells how they ended. */
const KILL_AFTER_MS = 60_000;

/** Keeps `count` worker processes running; one that dies is started again, ever later while it keeps dying. */
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
    pids: () => slots.flatMap((slot) => slot.pid() ?? []),
    stop: async () => void (await Promise.all(slots.map((slot) => slot.stop()))),
  };
}

/** What a worker may do at the broker. */
const ACCESS: RelayAccess = {
  consumes: [{ message: taskReady, queue: 'worker' }],
  subscribes: [tasksCancelled],
  publishes: [taskReady],
};

function startSlot(
  index: number,
  o: { main: string; env: NodeJS.ProcessEnv; log: Log; relay: RpcRelay; broker: Broker },
) {
  let child: ChildProcess | null = null;
  let isStopping = false;
  let crashes = 0;
  let restart: NodeJS.Timeout | null = null;
  const start = () => {
    const startedAt = systemClock.monotonic();
    child = fork(o.main, [], {
      env: { ...o.env, BATON_RPC_PARENT: 'true' },
      execArgv: o.main.endsWith('.ts') ? ['--import', 'tsx'] : [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    o.relay.attach(processChannel(child));
    relayBroker(o.broker, processChannel(child), ACCESS);
    child.once('exit', (code, signal) => {
      child = null;
      if (isStopping) return;
      crashes = systemClock.monotonic() - startedAt > STABLE_MS ? 1 : crashes + 1;
      o.log.warn({ worker: index, code, signal, crashes }, 'a worker ended; it is started again');
      restart = setTimeout(start, backoffMs(crashes));
    });
  };
  start();
  return {
    pid: () => child?.pid ?? null,
    async stop() {
      isStopping = true;
      if (restart) clearTimeout(restart);
      const running = child;
      if (!running) return;
      const ended = new Promise<void>((resolve) => running.once('exit', () => resolve()));
      running.kill('SIGTERM');
      const late = setTimeout(() => running.kill('SIGKILL'), KILL_AFTER_MS);
      await ended;
      clearTimeout(late);
    },
  };
}
