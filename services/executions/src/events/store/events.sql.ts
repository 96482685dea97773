import { storableJson } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ExecutionGroupRow } from '../../groups/store/execution-groups.sql';
import type { ExecutionRow, NewEvent } from '../../store/rows';
import type { DB } from '../../store/tables.gen';

/**
 * Stores events of a locked execution after its last sequence number, in one statement.
 * @returns the new last sequence number; the caller writes it to the execution.
 */
export async function appendEvents(
  tx: Tx<DB>,
  execution: ExecutionRow,
  events: readonly NewEvent[],
): Promise<number> {
  if (events.length === 0) return execution.last_event_seq;
  await insertEvents(tx, execution, execution.last_event_seq + 1, events);
  return execution.last_event_seq + events.length;
}

/** Stores events of an execution group itself: they belong to no execution and have no numbers. */
export async function appendGroupEvents(
  tx: Tx<DB>,
  group: Pick<ExecutionGroupRow, 'tenant' | 'id' | 'visibility' | 'created_by'>,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const { tenant, id, visibility, created_by } = group;
  await insertEvents(
    tx,
    { ...NO_EXECUTION, tenant, visibility, created_by, id: null, group: id },
    null,
    events,
  );
}

type EventOwner = Pick<
  ExecutionRow,
  'tenant' | 'blueprint_id' | 'deployment_id' | 'deployment_display_name' | 'visibility' | 'created_by'
> & { id: string | null; workflow_id: string | null; group?: string };

const NO_EXECUTION = {
  blueprint_id: null,
  deployment_id: null,
  deployment_display_name: null,
  workflow_id: null,
};

/** Inserts events; `firstSeq` null: all get the number 0. */
async function insertEvents(
  tx: Tx<DB>,
  of: EventOwner,
  firstSeq: number | null,
  events: readonly NewEvent[],
): Promise<void> {
  const rows = events.map((event, i) => ({
    n: i,
    seq: firstSeq === null ? 0 : firstSeq + i,
    ...eventRow(event),
  }));
  await sql`
    insert into events (tenant, execution_id, execution_group_id, seq, is_log, event_type, level, logger, message, error_causes, operation,
      node_instance_id, node_name, source_id, target_id, worker, blueprint_id, deployment_id, deployment_display_name,
      workflow_id, visibility, created_by, reported_at)
    select ${of.tenant}, ${of.id}::uuid, ${of.group ?? null}::text, seq, coalesce(is_log, false), event_type, level, logger, message, error_causes,
      operation, node_instance_id, node_name, source_id, target_id, worker, ${of.blueprint_id}::text,
      ${of.deployment_id}::text, ${of.deployment_display_name}::text, ${of.workflow_id}::text,
      ${of.visibility}::text, ${of.created_by}::text, coalesce(reported_at, app_now())
    from jsonb_to_recordset(${storableJson(JSON.stringify(rows))}::jsonb) as e(n int, seq bigint, is_log boolean, event_type text,
      level text, logger text, message text, error_causes jsonb, operation text, node_instance_id text, node_name text,
      source_id text, target_id text, worker text, reported_at timestamptz)
    order by n`.execute(tx);
}

/** Returns an event as a JSON object for SQL; undefined fields are left out and become null. */
export function eventRow(event: NewEvent): Record<string, unknown> {
  return {
    is_log: event.isLog || undefined,
    event_type: event.eventType ?? undefined,
    level: event.level ?? undefined,
    logger: event.logger ?? undefined,
    message: event.message,
    error_causes: event.errorCauses ?? undefined,
    operation: event.operation ?? undefined,
    node_instance_id: event.nodeInstanceId ?? undefined,
    node_name: event.nodeName ?? undefined,
    source_id: event.sourceId ?? undefined,
    target_id: event.targetId ?? undefined,
    worker: event.worker ?? undefined,
    reported_at: event.reportedAt ?? undefined,
  };
}

/** Stores the id of a batch; false when the batch was stored before. */
export async function rememberBatch(tx: Tx<DB>, batchId: string): Promise<boolean> {
  const { rows } =
    await sql`insert into event_batches (batch_id) values (${batchId}) on conflict do nothing returning 1`.execute(
      tx,
    );
  return rows.length > 0;
}

export async function purgeBatches(tx: Tx<DB>, olderThanS: number): Promise<void> {
  await sql`delete from event_batches where received_at < app_now() - make_interval(secs => ${olderThanS})`.execute(
    tx,
  );
}

/**
 * Deletes events of the deployments that meet all conditions of `where` (over `events v`), log lines only `withLogs`; returns
 * their number.
 */
export async function deleteWhere(
  tx: Tx<DB>,
  where: readonly RawBuilder<SqlBool>[],
  { deployments, withLogs }: { deployments: readonly string[]; withLogs: boolean },
): Promise<number> {
  const all = [
    ...where,
    sql<SqlBool>`v.deployment_id = any(${[...deployments]}::text[])`,
    ...(withLogs ? [] : [sql<SqlBool>`not v.is_log`]),
  ];
  const { numAffectedRows } = await sql`delete from events v where ${sql.join(all, sql` and `)}`.execute(tx);
  return Number(numAffectedRows ?? 0);
}
