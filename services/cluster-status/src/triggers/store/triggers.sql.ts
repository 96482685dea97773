import type { JsonObject } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import { model } from '../../store/model';
import type { DB } from '../../store/tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

export interface TriggerRow {
  tenant: string;
  id: string;
  address: string;
  deployment_id: string;
  workflow_id: string;
  parameters: Record<string, string>;
  fixed_parameters: JsonObject;
  scheme: 'standard' | 'github';
  is_enabled: boolean;
  sealed: Buffer;
  created_by: string;
}

/** Inserts a trigger. @throws a unique violation when the id is taken. */
export async function insertTrigger(tx: Tx<DB>, { sealed, ...row }: TriggerRow): Promise<void> {
  await model.over(tx, (p) => p.trigger.create({ data: { ...row, sealed: new Uint8Array(sealed) } }));
}

export async function countTriggers(tx: Tx<DB>, tenant: string): Promise<number> {
  return model.over(tx, (p) => p.trigger.count({ where: { tenant } }));
}

/** Deletes a trigger. `createdBy`: only when this user made it. */
export async function deleteTrigger(
  tx: Tx<DB>,
  of: { tenant: string; id: string },
  createdBy: string | undefined,
): Promise<boolean> {
  const { count } = await model.over(tx, (p) =>
    p.trigger.deleteMany({ where: { ...of, created_by: createdBy } }),
  );
  return count > 0;
}

export async function findByAddress(reader: Reader, address: string): Promise<TriggerRow | null> {
  const { rows } = await sql<TriggerRow>`
    select tenant, id, address, deployment_id, workflow_id, parameters, fixed_parameters, scheme, is_enabled, sealed, created_by
    from triggers where address = ${address} and is_enabled`.execute(reader);
  return rows[0] ?? null;
}

/** Notes a genuine request. False: it was noted before. */
export async function noteCall(
  tx: Tx<DB>,
  call: { address: string; message_id: string; tenant: string; request_id: string },
): Promise<boolean> {
  const done = await sql`insert into trigger_calls (address, message_id, tenant, request_id)
    values (${call.address}, ${call.message_id}, ${call.tenant}, ${call.request_id}) on conflict do nothing`.execute(
    tx,
  );
  return done.numAffectedRows === 1n;
}

/** Whether the trigger was called more than `limit` times in the last `periodMs`. */
export async function isOverRate(
  tx: Tx<DB>,
  address: string,
  limit: number,
  periodMs: number,
): Promise<boolean> {
  const { rows } = await sql`select from trigger_calls where address = ${address}
    and received_at > app_now() - ${periodMs}::float8 * interval '1 millisecond' offset ${limit} limit 1`.execute(
    tx,
  );
  return rows.length > 0;
}

export async function noteExecution(
  reader: Reader,
  of: { address: string; message_id: string },
  executionId: string,
): Promise<void> {
  await sql`update trigger_calls set execution_id = ${executionId}
    where address = ${of.address} and message_id = ${of.message_id}`.execute(reader);
}

/** Deletes at most `limit` calls that are older than `keepMs`; returns their number. */
export async function pruneCalls(reader: Reader, keepMs: number, limit: number): Promise<number> {
  const done = await sql`delete from trigger_calls where ctid = any(array(select ctid from trigger_calls
    where received_at < app_now() - ${keepMs}::float8 * interval '1 millisecond' limit ${limit}))`.execute(
    reader,
  );
  return Number(done.numAffectedRows ?? 0n);
}
