import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';
import type { EngineDeps } from '../../engine/deps';
import type { DoctorPart } from '../adapters/doctor-parts';
import { runDoctor } from './run-doctor';

const BATCH = 2_000;

interface Piece {
  file: string;
  data: Buffer;
}

/**
 * What a log bundle shows of executions (reference/rest-api.md 5.13), a batch in memory at a time: findings of the doctor,
 * executions of every tenant, and their events and log lines. Parameters stay here: they may hold what nobody else is to
 * know.
 */
export async function* exportLogs(
  deps: EngineDeps,
  doctorParts: readonly DoctorPart[] = [],
): AsyncGenerator<Piece> {
  yield { file: 'doctor.jsonl', data: linesOf(await runDoctor(deps, false, doctorParts)) };
  yield* pieces('executions.jsonl', (after) => executionsAfter(deps.db.query, after));
  yield* pieces('events.jsonl', (after) => eventsAfter(deps.db.query, after));
}

interface Keyed {
  line: object;
  key: [string, string];
}

async function* pieces(
  file: string,
  next: (after: [string, string] | null) => Promise<Keyed[]>,
): AsyncGenerator<Piece> {
  let after: [string, string] | null = null;
  for (;;) {
    const rows: Keyed[] = await next(after);
    if (rows.length > 0) yield { file, data: linesOf(rows.map((row) => row.line)) };
    if (rows.length < BATCH) return;
    after = rows.at(-1)!.key;
  }
}

const linesOf = (lines: readonly object[]): Buffer =>
  Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), 'utf8');

async function executionsAfter(db: AnyQuery, after: [string, string] | null): Promise<Keyed[]> {
  const { rows } = await sql<Keyed>`
    select json_build_object('id', e.id, 'tenant_name', e.tenant, 'workflow_id', e.workflow_id, 'deployment_id', e.deployment_id,
        'status', e.status, 'error', e.error, 'created_by', e.created_by, 'created_at', e.created_at, 'started_at', e.started_at,
        'ended_at', e.ended_at, 'total_operations', e.total_operations, 'finished_operations', e.finished_operations) as line,
      array[e.id::text, ''] as key
    from executions e where ${after === null} or e.id > ${after?.[0] ?? null}::uuid order by e.id limit ${BATCH}`.execute(
    db,
  );
  return rows;
}

async function eventsAfter(db: AnyQuery, after: [string, string] | null): Promise<Keyed[]> {
  const { rows } = await sql<Keyed>`
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
