import { AppError } from '@baton/kernel';

export interface FairQueueOptions {
  /** Works at the same time. */
  atOnce: number;
  /** Works under way or waiting, of all names and of one. */
  maxPending: number;
  maxPendingOfName: number;
}

export interface FairQueue {
  /** Runs `work` when it is its turn. @throws AppError too_many_requests_error, at once, when too many wait. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Work that takes a processor, for names in turn: who has much of it waits behind himself and not before others, and the
 * processors that it does not get stay free for everything else.
 */
export function createFairQueue({ atOnce, maxPending, maxPendingOfName }: FairQueueOptions): FairQueue {
  /** Waiting works by name, the name whose turn is next first. */
  const waiting = new Map<string, (() => void)[]>();
  const pendingOf = new Map<string, number>();
  let pending = 0;
  let running = 0;

  const next = (): void => {
    const first = waiting.entries().next();
    if (first.done) return;
    const [name, starts] = first.value;
    const start = starts.shift()!;
    // To the end of the line with what the name has left.
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
    // The place goes to the next one, if there is one.
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
