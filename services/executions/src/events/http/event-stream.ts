import type { StreamEvent } from '@baton/http';
import type { Db } from '@baton/postgres';
import { readExecution } from '../../executions/store/executions.sql';
import type { DB } from '../../store/tables.gen';
import { type EventNames, eventsAfter } from '../queries/list-events';

/** Tells open streams of this replica that an execution has new events. */
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

const PAGE = 500;
/** A lost notification costs at most this long. */
const LOOK_MS = 1_000;

/**
 * Events of an execution behind `afterSeq`, as they are stored, then one `end` event when it has ended. The id of an
 * event is its sequence number: a reconnect with Last-Event-ID goes on without a gap.
 */
export async function* streamEvents(
  deps: { db: Db<DB>; hub: StreamHub; names: EventNames },
  executionId: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  let seq = afterSeq;
  while (!signal.aborted) {
    const woken = deps.hub.next(executionId, LOOK_MS, signal);
    const execution = await readExecution(deps.db.query, executionId);
    if (!execution) return;
    for (;;) {
      const rows = await eventsAfter(deps.db.query, executionId, seq, PAGE, deps.names);
      for (const { seq: at, ...event } of rows) {
        seq = at;
        yield { id: String(at), event: 'event', data: event };
      }
      if (rows.length < PAGE) break;
    }
    if (execution.phase === 'ended' && seq >= execution.last_event_seq) {
      yield {
        event: 'end',
        data: { execution_id: executionId, status: execution.status, error: execution.error },
      };
      return;
    }
    await woken;
  }
}
