/**
 * Memory for log lines that are not stored yet, in characters, shared by the executions with lines in it. `use` returns a promise
 * to an execution that holds more than its share. So an execution with endless output holds back only itself, and its lines are
 * stored soon after it ends. The more executions there are, the smaller the shares. An execution that held more before others
 * came keeps it until it is stored, so executions that wait hold at most twice the limit.
 */
export interface LineRoom {
  /** Adds characters. Returns a promise when the caller must wait before adding more. Aborting `signal` ends the wait. */
  use(owner: string, chars: number, signal: AbortSignal): void | Promise<void>;
  free(owner: string, chars: number): void;
}

/** A share is at most the limit divided by this, even for a single execution, which would gain nothing from more. */
const LEAST_SHARES = 4;

interface Share {
  held: number;
  waiting: (() => void)[];
}

export function createLineRoom(limit: number): LineRoom {
  const shares = new Map<string, Share>();
  const shareOf = (): number => limit / Math.max(LEAST_SHARES, shares.size);
  // Half of the share, so that an execution that waited can write more than one line before it waits again.
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
        // The listener is removed with the wait: an operation that waits often would otherwise collect listeners.
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
