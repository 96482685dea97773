/**
 * Memory for log lines that are not stored yet, in characters, shared by the executions that have lines in it: `use`
 * answers a promise to whoever has more than its share. So one that talks without end holds back itself and nobody else,
 * and its lines are soon stored when it ends. The more of them there are, the smaller are the shares; an execution that had
 * more before others came keeps it until it is stored, so that no more than twice the limit is held by those who wait.
 */
export interface LineRoom {
  /** A promise: wait before adding more. Aborting `signal` ends the wait. */
  use(owner: string, chars: number, signal: AbortSignal): void | Promise<void>;
  free(owner: string, chars: number): void;
}

/** Nobody gets more than this part of the limit, also alone: there is nothing to win by more. */
const LEAST_SHARES = 4;

interface Share {
  held: number;
  waiting: (() => void)[];
}

export function createLineRoom(limit: number): LineRoom {
  const shares = new Map<string, Share>();
  const shareOf = (): number => limit / Math.max(LEAST_SHARES, shares.size);
  // Half, so that whoever waited can write more than a line before it waits again.
  const mayGoOn = (share: Share): boolean => share.held <= shareOf() / 2;

  const release = (): void => {
    for (const share of shares.values()) {
      if (share.waiting.length === 0 || !mayGoOn(share)) continue;
      for (const go of share.waiting) go();
      share.waiting = [];
    }
  };

  return {
    use: (owner, chars, signal) => {
      const share = shares.get(owner) ?? { held: 0, waiting: [] };
      shares.set(owner, share);
      share.held += chars;
      if (share.held <= shareOf() || signal.aborted) return;
      return new Promise((resolve) => {
        // Gone with the wait: an operation that is held back often would gather listeners.
        const go = (): void => {
          signal.removeEventListener('abort', go);
          resolve();
        };
        share.waiting.push(go);
        signal.addEventListener('abort', go);
      });
    },
    free: (owner, chars) => {
      const share = shares.get(owner);
      if (!share) return;
      share.held -= chars;
      if (share.held <= 0) {
        shares.delete(owner);
        for (const go of share.waiting) go();
      }
      release();
    },
  };
}
