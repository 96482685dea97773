import { AppError } from '@baton/kernel';

export interface FairQueueOptions {
  /** Jobs that run at the same time. */
  atOnce: number;
  /** Most jobs that run or wait: of all names together, and of one name. */
  maxPending: number;
  maxPendingOfName: number;
}

export interface FairQueue {
  /** Runs `work` when its turn comes. @throws AppError too_many_requests_error, at once, when too many jobs wait. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Runs CPU-heavy jobs, taking the names in turn: a name with many jobs waits behind its own jobs and does not delay other names.
 * The processors beyond `atOnce` stay free for other work.
 */
export function createFairQueue({ atOnce, maxPending, maxPendingOfName }: FairQueueOptions): FairQueue {
  /** Waiting jobs by name; the name whose turn is next comes first. */
  const waiting = new Map<string, (() => void)[]>();
  const pendingOf = new Map<string, number>();
  let pending = 0;
  let running = 0;

  const next = (): void => {
    const first = waiting.entries().next();
    if (first.done) return;
    const [name, starts] = first.value;
    const start = starts.shift()!;
    // The name goes to the end of the line with its remaining jobs.
    waiting.delete(name);
    if (starts.length > 0) waiting.set(name, starts);
    start();
  };
  const turn = (name: string): Promise<void> | undefined => {
    if (running < atOnce) {
      running += 1;
      return undefined;
    }
    return new Promise((resolve) => {
      const starts = waiting.get(name) ?? [];
      starts.push(resolve);
      waiting.set(name, starts);
    });
  };
  const leave = (name: string): void => {
    pending -= 1;
    const left = pendingOf.get(name)! - 1;
    if (left > 0) pendingOf.set(name, left);
    else pendingOf.delete(name);
    // The slot goes to the next waiting job, if there is one.
    if (waiting.size > 0) next();
    else running -= 1;
  };
  return {
    async run(name, work) {
      const ofName = pendingOf.get(name) ?? 0;
      if (pending >= maxPending || ofName >= maxPendingOfName) throw tooManyLogins();
      pending += 1;
      pendingOf.set(name, ofName + 1);
      await turn(name);
      try {
        return await work();
      } finally {
        leave(name);
      }
    },
  };
}

const tooManyLogins = (): AppError =>
  new AppError('too_many_requests_error', 'Too many logins at once; try again in a second', {
    what: 'logins at once',
    retry_after: 1,
  });
