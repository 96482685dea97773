import { type AnyQuery, selectFields } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type EventNames, eventColumns } from './list-events';

/** The most rows in one page of a stream. */
export const PAGE = 500;
/**
 * The most sequence numbers that one statement with filters covers: some 20 ms of one connection. A filter that nothing passes
 * then costs many short statements instead of a long one, and the reader can leave between two of them.
 */
export const SLICE = 20_000;

/** An event with its sequence number. */
export type StreamedEvent = Record<string, unknown> & { seq: number };

/** The events that a stream reads: those of one execution that pass `filter`; null: all. */
export interface Streamed {
  executionId: string;
  filter: RawBuilder<SqlBool> | null;
  names: EventNames;
}

const ofExecution = ({ executionId, filter }: Streamed): RawBuilder<SqlBool> =>
  filter === null
    ? sql<SqlBool>`v.execution_id = ${executionId}`
    : sql<SqlBool>`v.execution_id = ${executionId} and ${filter}`;

/** Returns the first events after `after`, at most PAGE; with `upTo` none after that number. */
export async function eventsAfter(
  db: AnyQuery,
  of: Streamed,
  after: number,
  upTo: number | null = null,
): Promise<StreamedEvent[]> {
  const end = upTo === null ? sql`` : sql`and v.seq <= ${upTo}`;
  const { rows } = await sql<StreamedEvent>`
    select v.seq, ${selectFields(eventColumns(of.names))}
    from events v where ${ofExecution(of)} and v.seq > ${after} ${end} order by v.seq limit ${PAGE}`.execute(
    db,
  );
  return rows;
}

/** Returns the events with these numbers, in their order; events that were deleted meanwhile are left out. */
export async function eventsOf(
  db: AnyQuery,
  { executionId, names }: Streamed,
  seqs: readonly number[],
): Promise<StreamedEvent[]> {
  const { rows } = await sql<StreamedEvent>`
    select v.seq, ${selectFields(eventColumns(names))}
    from events v where v.execution_id = ${executionId} and v.seq = any(${[...seqs]}::bigint[]) order by v.seq`.execute(
    db,
  );
  return rows;
}

/**
 * Returns the numbers of the last `count` events up to `upTo`, in their order. Without a filter it reads just as many entries of
 * the index. With a filter it reads backwards, slice by slice, until enough events have passed.
 */
export async function lastSeqs(
  db: AnyQuery,
  of: Streamed,
  upTo: number,
  count: number,
  signal: AbortSignal,
): Promise<number[]> {
  const found: number[] = [];
  const slice = of.filter === null ? upTo : SLICE;
  for (let end = upTo; end > 0 && found.length < count && !signal.aborted; end -= slice) {
    const { rows } = await sql<{ seq: number }>`
      select v.seq from events v where ${ofExecution(of)} and v.seq > ${Math.max(end - slice, 0)} and v.seq <= ${end}
      order by v.seq desc limit ${count - found.length}`.execute(db);
    for (const { seq } of rows) found.push(seq);
  }
  return found.reverse();
}
