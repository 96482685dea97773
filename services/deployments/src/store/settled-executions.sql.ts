import type { AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

/** From now on, states of the execution with numbers up to `stateSeq` count as repeats, whatever was applied since. */
export async function settleExecution(tx: AnyTx, executionId: string, stateSeq: number): Promise<void> {
  await sql`insert into settled_executions (execution_id, state_seq) values (${executionId}, ${stateSeq})
    on conflict (execution_id) do update
    set state_seq = greatest(settled_executions.state_seq, excluded.state_seq), settled_at = excluded.settled_at`.execute(
    tx,
  );
}

/** Deletes rows older than `keepMs`; `again`: a full batch was deleted, so there may be more. */
export async function purgeSettledExecutions(
  tx: AnyTx,
  keepMs: number,
  limit: number,
): Promise<{ again: boolean }> {
  const { rows } = await sql`delete from settled_executions where execution_id in (
      select execution_id from settled_executions where settled_at < app_now() - make_interval(secs => ${keepMs / 1000})
      limit ${limit} for update skip locked)
    returning 1`.execute(tx);
  return { again: rows.length === limit };
}
