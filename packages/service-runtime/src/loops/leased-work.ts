import type { Log } from '@baton/kernel';
import type { Loop } from './loops';

/** Finds what other processes left; this one looks when it is asked to and when a pause is over. */
const INTERVAL_MS = 10_000;
/** The database's clock decides what is due; ours only wakes. */
const DUE_MARGIN_MS = 20;
/** Steps that one round may take. */
const MAX_STEPS = 200;

export interface LeasedWork {
  loop: Loop;
  /** Looks for work now; resolves when there is none left that can go on. Rejects never. */
  work(): Promise<void>;
  /** Breaks off what runs: another replica, or the next start, goes on. */
  stop(): Promise<void>;
}

/**
 * Work that stands in rows which replicas lease, one piece at a time in a process. `takeStep` leases a piece, takes it on
 * and gives it back; it answers after how many ms that piece can go on (0: at once), null when it found none. A crash in it
 * leaves a lease that ends, and the loop of any replica finds the piece.
 */
export function leasedWork(o: {
  /** Of the loop, also for the log. */
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
        // Asked while it looked: what is new may have come behind the look.
        if (pauseMs === null && !isAsked) return;
        if (pauseMs) setTimeout(() => void work(), pauseMs + DUE_MARGIN_MS).unref();
      }
    } finally {
      working = null;
    }
  };
  const work = (): Promise<void> => {
    isAsked = true;
    // Not at once: who asks may be a step's own first lines.
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
