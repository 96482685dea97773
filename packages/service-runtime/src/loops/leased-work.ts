import type { Log } from '@baton/kernel';
import type { Loop } from './loops';

/** Interval for pieces that other processes left; this process looks when it is asked to and when a pause is over. */
const INTERVAL_MS = 10_000;
/** Extra delay of a wake-up: the database's clock decides what is due, our clock only wakes. */
const DUE_MARGIN_MS = 20;
/** Most steps of one round. */
const MAX_STEPS = 200;

export interface LeasedWork {
  loop: Loop;
  /** Looks for work now; resolves when no piece is left that can go on. Never rejects. */
  work(): Promise<void>;
  /** Aborts the running step: another replica, or the next start, goes on. */
  stop(): Promise<void>;
}

/**
 * Runs work that stands in rows which replicas lease, one piece at a time in a process. `takeStep` leases a piece, works on it and
 * gives it back. It returns after how many ms that piece can go on (0: at once), or null when it found none. A crash in it leaves a
 * lease that ends; then the loop of any replica finds the piece.
 */
export function leasedWork(o: {
  /** Name of the loop, also for the log. */
  name: string;
  log: Log;
  takeStep(stopping: AbortSignal): Promise<number | null>;
}): LeasedWork {
  const stopping = new AbortController();
  let working: Promise<void> | null = null;
  let isAsked = false;
  const takeSteps = async (): Promise<void> => {
    try {
      for (let step = 0; step < MAX_STEPS && !stopping.signal.aborted; step++) {
        isAsked = false;
        const pauseMs = await o.takeStep(stopping.signal);
        // `work` was called during the look: new pieces may have come after it.
        if (pauseMs === null && !isAsked) return;
        if (pauseMs) setTimeout(() => void work(), pauseMs + DUE_MARGIN_MS).unref();
      }
    } finally {
      working = null;
    }
  };
  const work = (): Promise<void> => {
    isAsked = true;
    // Not at once: the caller may be in the first lines of a step.
    working ??= Promise.resolve()
      .then(takeSteps)
      .catch((err: unknown) => o.log.warn({ err, loop: o.name }, 'leased work does not go on'));
    return working;
  };
  return {
    work,
    loop: { name: o.name, intervalMs: INTERVAL_MS, tickOnce: work },
    stop: async () => {
      stopping.abort(new Error('the process stops'));
      await working;
    },
  };
}
