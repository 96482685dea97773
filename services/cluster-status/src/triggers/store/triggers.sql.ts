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
/** What a change of a trigger writes. */
export type TriggerSettings = Pick<
  TriggerRow,
  'deployment_id' | 'workflow_id' | 'parameters' | 'fixed_parameters' | 'is_enabled'
>;
/** A trigger that answers requests; `former_sealed`: the secret before the last rotation while it is valid. */
export type CalledTrigger = TriggerRow & { former_sealed: Buffer | null };

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

const COLUMNS = sql.raw(
  'tenant, id, address, deployment_id, workflow_id, parameters, fixed_parameters, scheme, is_enabled, sealed, created_by',
);

export async function findByAddress(reader: Reader, address: string): Promise<CalledTrigger | null> {
  const { rows } = await sql<CalledTrigger>`
    select ${COLUMNS}, case when former_until > app_now() then former_sealed end as former_sealed
    from triggers where address = ${address} and is_enabled`.execute(reader);
  return rows[0] ?? null;
}

/** Reads a trigger by its id. */
export async function findTrigger(
  reader: Reader,
  of: { tenant: string; id: string },
): Promise<TriggerRow | null> {
  const { rows } = await sql<TriggerRow>`
    select ${COLUMNS} from triggers where tenant = ${of.tenant} and id = ${of.id}`.execute(reader);
  return rows[0] ?? null;
}

/** The same, and locks the row until the end of the transaction. */
export async function lockTrigger(
  tx: Tx<DB>,
  of: { tenant: string; id: string },
): Promise<TriggerRow | null> {
  const { rows } = await sql<TriggerRow>`
    select ${COLUMNS} from triggers where tenant = ${of.tenant} and id = ${of.id} for update`.execute(tx);
  return rows[0] ?? null;
}

/** Writes the settings of a trigger that is locked. */
export async function writeSettings(tx: Tx<DB>, address: string, to: TriggerSettings): Promise<void> {
  await sql`update triggers set deployment_id = ${to.deployment_id}, workflow_id = ${to.workflow_id},
      parameters = ${JSON.stringify(to.parameters)}::jsonb,
      fixed_parameters = ${JSON.stringify(to.fixed_parameters)}::jsonb,
      is_enabled = ${to.is_enabled}, updated_at = app_now()
    where address = ${address}`.execute(tx);
}

/**
 * Writes a new secret; the one in `row` stays valid for `overlapS` seconds. False when the trigger has another secret than `row` by
 * now, or is deleted.
 */
export async function writeSecret(
  tx: Tx<DB>,
  row: Pick<TriggerRow, 'address' | 'sealed'>,
  sealed: Buffer,
  overlapS: number,
): Promise<boolean> {
  const isKept = overlapS > 0;
  const done = await sql`update triggers set sealed = ${sealed}, updated_at = app_now(),
      former_sealed = ${isKept ? row.sealed : null}::bytea,
      former_until = case when ${isKept} then app_now() + ${overlapS}::float8 * interval '1 second' end
    where address = ${row.address} and sealed = ${row.sealed}`.execute(tx);
  return done.numAffectedRows === 1n;
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
