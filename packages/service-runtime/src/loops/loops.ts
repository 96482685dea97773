/** Periodic work: interval with jitter, never two ticks at once, back-off while it fails. */
import { backoffMs, isAppError, type Log, systemClock } from '@baton/kernel';

export interface Loop {
  name: string;
  intervalMs: number;
  /**
   * Runs one tick. Returns `{ again: true }` when a full batch was done and more is likely: the next tick follows at once. Returns
   * `{ againInMs }` when something falls due then: the next tick comes after that time, if it is shorter than the interval.
   */
  tickOnce: () => Promise<unknown>;
}

export interface RunningLoop {
  /** Ends the wait before the next tick. */
  wake(): void;
  /** Waits for a tick under way. */
  stop(): Promise<void>;
}

export interface LoopDeps {
  log: Log;
  observe?: (loop: string, durationMs: number, isFailed: boolean) => void;
  random?: () => number;
}

const JITTER = 0.2;
const MAX_FIRST_WAIT_MS = 5_000;
const MAX_FAILED_WAIT_MS = 60_000;

/** Delay in ms that the result of a tick asks for; Infinity: the interval. */
function dueInMs(result: unknown): number {
  if (typeof result !== 'object' || result === null) return Number.POSITIVE_INFINITY;
  const { again, againInMs } = result as { again?: unknown; againInMs?: unknown };
  if (again === true) return 0;
  return typeof againInMs === 'number' ? againInMs : Number.POSITIVE_INFINITY;
}

function logFailure(deps: LoopDeps, loop: Loop, error: unknown, failures: number): void {
  const fields = { loop: loop.name, failures };
  if (isAppError(error) && error.entry.retryable)
    deps.log.warn({ ...fields, reason: error.message }, 'loop failed');
  else deps.log.error({ ...fields, err: error }, 'loop failed');
}

/** Starts `loop`; the first tick comes after a random share of the interval, so that the ticks of replicas are spread. */
export function startLoop(loop: Loop, deps: LoopDeps): RunningLoop {
  const random = deps.random ?? Math.random;
  let isStopped = false;
  let failures = 0;
  let wakeUp: (() => void) | null = null;

  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        wakeUp = null;
        resolve();
      };
      const timer = setTimeout(done, ms);
      wakeUp = done;
    });

  const tick = async (): Promise<number> => {
    const startedMs = systemClock.monotonic();
    const measured = (isFailed: boolean): void =>
      deps.observe?.(loop.name, systemClock.monotonic() - startedMs, isFailed);
    try {
      const result = await loop.tickOnce();
      failures = 0;
      measured(false);
      return Math.min(dueInMs(result), loop.intervalMs * (1 - JITTER / 2 + JITTER * random()));
    } catch (error) {
      failures++;
      measured(true);
      logFailure(deps, loop, error, failures);
      const maxMs = Math.max(MAX_FAILED_WAIT_MS, loop.intervalMs);
      return backoffMs(failures, { firstMs: loop.intervalMs, maxMs, factor: 2, jitter: JITTER }, random());
    }
  };

  const run = async (): Promise<void> => {
    let waitMs = Math.min(loop.intervalMs, MAX_FIRST_WAIT_MS) * random();
    while (!isStopped) {
      await wait(waitMs);
      if (!isStopped) waitMs = await tick();
    }
  };
  const running = run();
  return {
    wake: () => wakeUp?.(),
    async stop() {
      isStopped = true;
      wakeUp?.();
      await running;
    },
  };
}
