import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { ExecutionRow, InstanceStateRow } from './rows';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

/** Stores decided states behind the execution's last sequence number; answers the new last number. */
export async function appendStates(
  tx: Tx<DB>,
  execution: ExecutionRow,
  states: readonly Omit<InstanceStateRow, 'seq'>[],
): Promise<number> {
  if (states.length === 0) return execution.last_state_seq;
  const rows = states.map((state, i) => ({ ...state, seq: execution.last_state_seq + 1 + i }));
  await sql`
    insert into instance_states (execution_id, seq, node_instance_id, state, edits)
    select ${execution.id}::uuid, seq, node_instance_id, state, edits
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as s(seq bigint, node_instance_id text, state text, edits jsonb)`.execute(
    tx,
  );
  return execution.last_state_seq + states.length;
}

/** What deployments do not know yet, oldest first. */
export async function pendingStates(
  reader: Reader,
  executionId: string,
  limit: number,
): Promise<InstanceStateRow[]> {
  const { rows } = await sql<InstanceStateRow>`
    select seq, node_instance_id, state, edits from instance_states where execution_id = ${executionId}
    order by seq limit ${limit}`.execute(reader);
  return rows;
}

/** The states that operations on these instances must see. */
export async function pendingStatesOf(
  reader: Reader,
  executionId: string,
  instanceIds: string[],
): Promise<InstanceStateRow[]> {
  const { rows } = await sql<InstanceStateRow>`
    select seq, node_instance_id, state, edits from instance_states
    where execution_id = ${executionId} and node_instance_id = any(${instanceIds}::text[]) order by seq`.execute(
    reader,
  );
  return rows;
}

export async function deleteStates(tx: Tx<DB>, executionId: string, seqs: number[]): Promise<void> {
  await sql`delete from instance_states where execution_id = ${executionId} and seq = any(${seqs}::bigint[])`.execute(
    tx,
  );
}

/** Executions whose states were not delivered for a while. */
export async function undeliveredExecutions(
  reader: Reader,
  olderThanMs: number,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ execution_id: string }>`
    select distinct execution_id from instance_states
    where created_at < app_now() - make_interval(secs => ${olderThanMs / 1000}) limit ${limit}`.execute(
    reader,
  );
  return rows.map((row) => row.execution_id);
}
