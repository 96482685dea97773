import type { Json } from '@baton/kernel';
import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

/** Results of calls by stages of workflows are stored, so that a repetition finds them. */
export interface NamedCall {
  executionId: string;
  callName: string;
}

/** Returns the result of the call; null: it was not made, or its transaction did not commit. */
export async function readCallResult(db: AnyQuery, call: NamedCall): Promise<{ result: Json } | null> {
  const { rows } = await sql<{ result: Json }>`
    select result from model_calls where execution_id = ${call.executionId} and call_name = ${call.callName}`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** Stores the result. @throws unique violation when a concurrent repetition of the call was first. */
export async function storeCallResult(
  tx: AnyTx,
  call: NamedCall,
  deploymentKey: number,
  result: Json,
): Promise<void> {
  await sql`insert into model_calls (execution_id, call_name, deployment_key, result)
    values (${call.executionId}, ${call.callName}, ${deploymentKey}, ${JSON.stringify(result)}::json)`.execute(
    tx,
  );
}
