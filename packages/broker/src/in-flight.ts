/** The running handlers, for an orderly shutdown. */
export interface InFlight {
  /** Runs `work` with a signal that aborts when this delivery is given up. */
  run(work: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Aborts all running handlers: their connection is gone. */
  abortAll(reason: string): void;
  /** Waits for the running handlers; after `graceMs` it aborts them and stops waiting. */
  drain(graceMs: number): Promise<void>;
}

export function createInFlight(): InFlight {
  const running = new Map<Promise<void>, AbortController>();
  const abortAll = (reason: string): void => {
    for (const controller of running.values()) controller.abort(new Error(reason));
  };
  return {
    run: (work) => {
      const controller = new AbortController();
      const done = work(controller.signal).finally(() => running.delete(done));
      running.set(done, controller);
      return done;
    },
    abortAll,
    drain: async (graceMs) => {
      const all = Promise.allSettled(running.keys());
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([all, late]);
      clearTimeout(timer);
      abortAll('the subscription is closed');
    },
  };
}
