import type { Json } from '@baton/kernel';
import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

/** Answers of calls that stages of workflows made: a repetition finds them. */
export interface NamedCall {
  executionId: string;
  callName: string;
}

/** What the call was answered; null: it was not made, or its transaction did not commit. */
export async function readCallResult(db: AnyQuery, call: NamedCall): Promise<{ result: Json } | null> {
  const { rows } = await sql<{ result: Json }>`
    select result from model_calls where execution_id = ${call.executionId} and call_name = ${call.callName}`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** @throws unique violation when a twin of the call was first. */
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
