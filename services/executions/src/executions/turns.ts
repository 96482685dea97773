/** A line per execution in this process: work waits in it before it locks the row, so that it holds no connection while waiting. */
export interface Turns {
  /** Runs `work` after all earlier work on the same execution in this process, also after work that failed. */
  take<T>(executionId: string, work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const tails = new Map<string, Promise<unknown>>();
  return {
    take(executionId, work) {
      const before = tails.get(executionId) ?? Promise.resolve();
      const mine = before.then(work, work);
      const tail = mine.then(
        () => undefined,
        () => undefined,
      );
      tails.set(executionId, tail);
      void tail.then(() => {
        if (tails.get(executionId) === tail) tails.delete(executionId);
      });
      return mine;
    },
  };
}
