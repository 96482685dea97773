import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';

/** The most lines of one query. */
export const BATCH = 2_000;

/** A line of a log bundle, with its sort key in its file. */
export interface BundleLine {
  line: object;
  key: [string, string];
}

/** Returns executions of every tenant after `after`, by id; without parameters, which may hold secrets. */
export async function executionsAfter(db: AnyQuery, after: [string, string] | null): Promise<BundleLine[]> {
  const { rows } = await sql<BundleLine>`
    select json_build_object('id', e.id, 'tenant_name', e.tenant, 'workflow_id', e.workflow_id, 'deployment_id', e.deployment_id,
        'status', e.status, 'error', e.error, 'created_by', e.created_by, 'created_at', e.created_at, 'started_at', e.started_at,
        'ended_at', e.ended_at, 'total_operations', e.total_operations, 'finished_operations', e.finished_operations) as line,
      array[e.id::text, ''] as key
    from executions e where ${after === null} or e.id > ${after?.[0] ?? null}::uuid order by e.id limit ${BATCH}`.execute(
    db,
  );
  return rows;
}

/** Returns events and log lines of every tenant after `after`, by time. */
export async function eventsAfter(db: AnyQuery, after: [string, string] | null): Promise<BundleLine[]> {
  const { rows } = await sql<BundleLine>`
    select json_build_object('tenant_name', v.tenant, 'timestamp', v.created_at, 'reported_timestamp', v.reported_at,
        'execution_id', v.execution_id, 'execution_group_id', v.execution_group_id, 'workflow_id', v.workflow_id,
        'deployment_id', v.deployment_id, 'node_instance_id', v.node_instance_id, 'operation', v.operation,
        'event_type', v.event_type, 'level', v.level, 'logger', v.logger, 'worker', v.worker, 'message', v.message,
        'error_causes', v.error_causes) as line,
      array[v.created_at::text, v.storage_id::text] as key
    from events v
    where ${after === null} or (v.created_at, v.storage_id) > (${after?.[0] ?? null}::text::timestamptz, ${after?.[1] ?? null}::text::bigint)
    order by v.created_at, v.storage_id limit ${BATCH}`.execute(db);
  return rows;
}
