import { backoffMs, type Log } from '@baton/kernel';

const DELAYS = { firstMs: 100, maxMs: 5_000, factor: 2, jitter: 0.3 };

export interface Reconnect {
  /** The connection is lost or could not be made: opens it again, with a longer delay each time. */
  later(reason: string): void;
  succeeded(): void;
  stop(): void;
}

/** Opens a connection again after each loss, for ever, until it is stopped. */
export function createReconnect(log: Log, open: () => Promise<void>): Reconnect {
  let failures = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  return {
    later: (reason) => {
      if (isStopped) return;
      failures++;
      const delayMs = backoffMs(failures, DELAYS);
      log.warn({ reason, delayMs }, 'broker connection lost');
      timer = setTimeout(() => void open(), delayMs);
    },
    succeeded: () => {
      failures = 0;
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
