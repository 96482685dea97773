/** Notifies open streams of this replica that an execution has new events. */
export interface StreamHub {
  notify(executionId: string): void;
  /** Resolves at the next notification of the execution, or after `maxMs`. */
  next(executionId: string, maxMs: number, signal: AbortSignal): Promise<void>;
}

export function createStreamHub(): StreamHub {
  const waiting = new Map<string, Set<() => void>>();
  return {
    notify(executionId) {
      for (const wake of waiting.get(executionId) ?? []) wake();
    },
    next(executionId, maxMs, signal) {
      return new Promise((resolve) => {
        const set = waiting.get(executionId) ?? new Set();
        waiting.set(executionId, set);
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          set.delete(done);
          if (set.size === 0) waiting.delete(executionId);
          resolve();
        };
        const timer = setTimeout(done, maxMs);
        set.add(done);
        signal.addEventListener('abort', done, { once: true });
      });
    },
  };
}
