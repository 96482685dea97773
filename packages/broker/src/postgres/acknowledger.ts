import { backoffMs, type Log } from '@baton/kernel';
import type pg from 'pg';
import type { Statements } from './statements';

const RETRY = { firstMs: 50, maxMs: 2_000, factor: 2, jitter: 0.3 };
const MAX_TRIES = 6;

export interface Acknowledger {
  /** Removes the message soon; resolves when it is removed (or another session has it). */
  done(id: string, owner: number): Promise<void>;
  flush(): Promise<void>;
}

/** Collects finished messages while a statement is under way, so that many messages share one statement. */
export function createAcknowledger(pool: pg.Pool, sql: Statements, log: Log): Acknowledger {
  let waiting = new Map<number, { ids: string[]; resolve: (() => void)[] }>();
  let running: Promise<void> | null = null;

  const removeAll = async (owner: number, ids: string[]): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        await pool.query({ ...sql.done, values: [ids, owner] });
        return;
      } catch (error) {
        // Not removed: the messages are handled once more after the session ends; the consumer's inbox recognizes them.
        if (attempt === MAX_TRIES)
          return log.warn({ error: (error as Error).message }, 'messages could not be acknowledged');
        await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, RETRY)));
      }
    }
  };
  const drain = async (): Promise<void> => {
    while (waiting.size > 0) {
      const batch = waiting;
      waiting = new Map();
      for (const [owner, { ids, resolve }] of batch) {
        await removeAll(owner, ids);
        for (const call of resolve) call();
      }
    }
  };
  const start = (): Promise<void> => {
    running ??= drain().finally(() => {
      running = null;
    });
    return running;
  };

  return {
    done: (id, owner) =>
      new Promise((resolve) => {
        const group = waiting.get(owner) ?? { ids: [], resolve: [] };
        group.ids.push(id);
        group.resolve.push(resolve);
        waiting.set(owner, group);
        // After the present turn of the event loop: handlers that end together share a statement.
        setImmediate(start);
      }),
    flush: async () => {
      while (waiting.size > 0 || running) await start();
    },
  };
}
