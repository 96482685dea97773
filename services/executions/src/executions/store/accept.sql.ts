import type { Envelope } from '@baton/contracts';
import { isoInstant } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { parallelSystemWorkflows } from '../domain/system-workflows';
import { NEW_COLUMNS, type NewExecution, type TimedExecution } from './executions.sql';

/**
 * One statement in three steps: it finds the starts that nothing blocks (migration 0200: locks first, then reads), inserts their
 * rows, and inserts their messages into the outbox. The function reads with a snapshot of its own, taken after its locks; the
 * statement itself reads nothing else. The second `order by` has all starts checked before the first row is inserted: a row that
 * the check of the next start saw would count twice in a quota.
 */
const ACCEPT = {
  name: 'engine-accept',
  text: `with asked as materialized (
      select s.place, s.start->'messages' as messages, jsonb_populate_record(null::executions, s.start->'row') as r,
        (s.start->>'maxRunning')::bigint as most
      from jsonb_array_elements($1::jsonb) with ordinality s(start, place) order by s.place),
    free as materialized (
      select a.r, a.messages from asked a where is_start_free((a.r).tenant, (a.r).deployment_id, $2::text[], a.most)
      order by a.place),
    accepted as (
      insert into executions (${NEW_COLUMNS.join(', ')})
      select ${NEW_COLUMNS.map((column) => `(f.r).${column}`).join(', ')} from free f
      returning *),
    sent as (
      insert into outbox (id, envelope)
      select (m->>'id')::uuid,
        m || jsonb_build_object('time', to_char(a.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from free f join accepted a on a.id = (f.r).id cross join lateral jsonb_array_elements(f.messages) m)
    select a.*, (extract(epoch from a.created_at) * 1000)::bigint as now_ms from accepted a`,
};

/** An execution to be accepted, `pending` and of a deployment, with its messages for the outbox. */
export interface AcceptableStart {
  row: NewExecution;
  messages: readonly Omit<Envelope, 'time'>[];
  /** Limit of the executions of its tenant at work; null: none. */
  maxRunning: number | null;
}

/**
 * For each start: locks, checks, inserts the row and appends its messages, all in one statement. Returns the rows of the accepted
 * starts; for the others nothing was written, because admission must decide. Of several starts on the same deployment, only the
 * first is checked. Guards are locked in the order of their deployments.
 * @throws unique violation when the request id of a start is taken; then none is accepted.
 */
export async function acceptExecutions(
  db: Pick<Db<DB>, 'statement'>,
  starts: readonly AcceptableStart[],
): Promise<TimedExecution[]> {
  const inOrder = [...starts].sort((a, b) => (guardOf(a.row) < guardOf(b.row) ? -1 : 1));
  const first = inOrder.filter(({ row }, i) => i === 0 || guardOf(inOrder[i - 1]!.row) !== guardOf(row));
  // No start is checked after the insert of another one, so the starts before it in the batch are counted as at work.
  const given = first.map(({ row, messages, maxRunning }, before) => ({
    row,
    messages,
    maxRunning: maxRunning === null ? null : maxRunning - before,
  }));
  const values = [JSON.stringify(given), [...parallelSystemWorkflows]];
  const messagesOf = new Map(first.map(({ row, messages }) => [row.id, messages]));
  return await db.statement<TimedExecution>(ACCEPT, values, (rows) =>
    rows.flatMap(({ id, now_ms }) =>
      messagesOf.get(id)!.map((message) => ({ ...message, time: isoInstant(now_ms) })),
    ),
  );
}

const guardOf = ({ tenant, deployment_id }: NewExecution): string => `${tenant}\n${deployment_id}`;
