import type { StreamEvent } from '@baton/http';
import type { Db } from '@baton/postgres';
import { readExecution } from '../../executions/store/executions.sql';
import type { DB } from '../../store/tables.gen';
import type { StreamHub } from '../stream-hub';
import { type EventNames, eventsAfter } from './list-events';

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
