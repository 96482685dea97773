import type { ListQuery } from '@baton/contracts';
import type { StreamEvent } from '@baton/http';
import type { Db } from '@baton/postgres';
import { readExecution } from '../../executions/store/executions.sql';
import type { DB } from '../../store/tables.gen';
import type { StreamStart } from '../domain/stream-start';
import type { StreamHub } from '../stream-hub';
import { type EventNames, filteredEvents } from './list-events';
import {
  eventsAfter,
  eventsOf,
  lastSeqs,
  PAGE,
  SLICE,
  type Streamed,
  type StreamedEvent,
} from './stream-pages';

/** A lost notification delays the stream by at most this long. */
const LOOK_MS = 1_000;

export interface StreamDeps {
  db: Db<DB>;
  hub: StreamHub;
  names: EventNames;
}

export interface StreamRequest {
  executionId: string;
  start: StreamStart;
  /** In the form of a list's filters; empty: all events. */
  filters: ListQuery['filters'];
}

/**
 * Streams the events of an execution as they are stored, then one `end` event when it has ended. The id of an event is its
 * sequence number: a reconnect with Last-Event-ID continues without a gap. A tail begins with an event `window`; its id is the
 * number after which the stream continues, so that a reconnect right after it misses nothing either.
 * @throws AppError bad_parameters_error for a malformed filter, before the first event.
 */
export function streamEvents(
  deps: StreamDeps,
  { executionId, start, filters }: StreamRequest,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const hasFilters = Object.keys(filters).length > 0;
  const of: Streamed = {
    executionId,
    filter: hasFilters ? filteredEvents(filters, deps.names) : null,
    names: deps.names,
  };
  return followed(deps, of, start, signal);
}

async function* followed(
  deps: StreamDeps,
  of: Streamed,
  start: StreamStart,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  let seq = start.kind === 'after' ? start.seq : yield* tailOf(deps, of, start.count, signal);
  while (!signal.aborted && seq !== null) {
    const woken = deps.hub.next(of.executionId, LOOK_MS, signal);
    const execution = await readExecution(deps.db.query, of.executionId);
    if (!execution) return;
    const last = execution.last_event_seq;
    const span = { after: seq, last };
    seq = yield* of.filter === null ? allAfter(deps, of, span) : passingAfter(deps, of, span, signal);
    if (execution.phase === 'ended' && seq >= last) {
      const { status, error } = execution;
      return yield { event: 'end', data: { execution_id: of.executionId, status, error } };
    }
    await woken;
  }
}

interface Span {
  after: number;
  /** The number of the execution's last event at the time of the read: all events up to it are visible. */
  last: number;
}

/** Yields all events after a number; returns the number up to which all events were sent. */
async function* allAfter(
  { db }: StreamDeps,
  of: Streamed,
  { after, last }: Span,
): AsyncGenerator<StreamEvent, number> {
  for (let seq = after; ; ) {
    const rows = await eventsAfter(db.query, of, seq);
    for (const row of rows) yield told(row);
    seq = rows.at(-1)?.seq ?? seq;
    // Missing numbers in between belong to deleted events, which will never come.
    if (rows.length < PAGE) return Math.max(seq, last);
  }
}

/** Does the same for a stream with filters. Events that the filters reject count as read and are not read again. */
async function* passingAfter(
  { db }: StreamDeps,
  of: Streamed,
  { after, last }: Span,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent, number> {
  let seq = after;
  while (seq < last && !signal.aborted) {
    const upTo = Math.min(seq + SLICE, last);
    const rows = await eventsAfter(db.query, of, seq, upTo);
    for (const row of rows) yield told(row);
    seq = rows.length < PAGE ? upTo : rows.at(-1)!.seq;
  }
  return seq;
}

/**
 * Yields the `window` event and its events; returns the number after which the stream continues, null when there is no execution.
 */
async function* tailOf(
  { db }: StreamDeps,
  of: Streamed,
  count: number,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent, number | null> {
  const total = (await readExecution(db.query, of.executionId))?.last_event_seq;
  if (total === undefined) return null;
  const seqs = await lastSeqs(db.query, of, total, count, signal);
  const [first] = seqs;
  yield {
    id: String(first === undefined ? total : first - 1),
    event: 'window',
    data: { first_seq: first ?? null, last_seq: seqs.at(-1) ?? null, total },
  };
  for (let i = 0; i < seqs.length; i += PAGE)
    for (const row of await eventsOf(db.query, of, seqs.slice(i, i + PAGE))) yield told(row);
  return total;
}

const told = ({ seq, ...event }: StreamedEvent): StreamEvent => ({
  id: String(seq),
  event: 'event',
  data: event,
});
