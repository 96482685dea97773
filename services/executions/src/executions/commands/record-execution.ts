import { newId } from '@baton/kernel';
import { workflowEvent, workflowLog } from '../../events/domain/graph-events';
import { appendEvents } from '../../events/store/events.sql';
import type { Ports } from '../../ports';
import type { ExecutionRow, Outcome } from '../../store/rows';
import { payloadHash, type StartRequest } from '../domain/start-request';
import { insertExecution, lockExecution, NOW, twinOf, updateExecution } from '../store/executions.sql';
import { requestedRow } from './request-execution';

export type RecordExecutionDeps = Pick<Ports, 'db' | 'tokenKey'>;

/** Work that another service did by itself and that clients look for as an execution. */
export interface RecordedExecution extends StartRequest {
  /** Where the other service promised an id; else one is made. */
  id?: string;
  blueprintId: string | null;
  displayName: string | null;
  visibility: string;
  /** The execution that made its deployment, where that is known. */
  madeBy?: string | null;
  outcome: Outcome;
  /** ISO time when it was done; else now. */
  at?: string;
  /** ISO time when it began, where that is known; else when it was done. */
  createdAt?: string | undefined;
  /** What was done, as log lines between the first and the last event. */
  log?: readonly string[];
}

/** Stores an execution that has ended already, with its events and log lines. The same request id answers the first. */
export async function recordExecution(
  deps: RecordExecutionDeps,
  record: RecordedExecution,
): Promise<ExecutionRow> {
  const earlier = await twinOf(deps.db.query, record);
  if (earlier) return earlier;
  return await deps.db.tx(async (tx) => {
    const id = record.id ?? newId();
    const row = await insertExecution(tx, {
      ...requestedRow(deps, record, { madeBy: null, ...record, program: null }, id),
      payload_hash: payloadHash(record),
      status: 'pending',
      phase: 'planning',
      is_dry_run: false,
      is_forced: false,
      scheduled_for: null,
      wake_at: null,
    });
    const { status, error } = record.outcome;
    const end =
      status === 'terminated'
        ? 'workflow_succeeded'
        : status === 'failed'
          ? 'workflow_failed'
          : 'workflow_cancelled';
    const seq = await appendEvents(tx, row, [
      workflowEvent(row, 'workflow_started'),
      ...(record.log ?? []).map((line) => workflowLog(row, 'info', line)),
      workflowEvent(row, end, error),
    ]);
    const at = record.at ?? NOW;
    const createdAt = record.createdAt ?? at;
    await updateExecution(tx, id, {
      status,
      phase: 'ended',
      error,
      created_at: createdAt,
      started_at: createdAt,
      ended_at: at,
      last_event_seq: seq,
      outcome: record.outcome,
      total_operations: 0,
      finished_operations: 0,
    });
    return (await lockExecution(tx, id))!;
  });
}
