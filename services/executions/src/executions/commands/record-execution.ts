import { newId } from '@baton/kernel';
import { workflowEvent, workflowLog } from '../../events/domain/graph-events';
import { appendEvents } from '../../events/store/events.sql';
import type { Ports } from '../../ports';
import type { ExecutionRow, Outcome } from '../../store/rows';
import { payloadHash, type StartRequest } from '../domain/start-request';
import { insertExecution, lockExecution, NOW, twinOf, updateExecution } from '../store/executions.sql';
import { requestedRow } from './request-execution';

export type RecordExecutionDeps = Pick<Ports, 'db' | 'tokenKey'>;

/** Work that another service has done by itself, and that clients expect as an execution. */
export interface RecordedExecution extends StartRequest {
  /** Id that the other service has promised; without it, a new one is made. */
  id?: string;
  blueprintId: string | null;
  displayName: string | null;
  visibility: string;
  /** Id of the execution that made its deployment, if known. */
  madeBy?: string | null;
  outcome: Outcome;
  /** ISO time of its end; default: now. */
  at?: string;
  /** ISO time of its begin, if known; default: `at`. */
  createdAt?: string | undefined;
  /** Log lines about the work, stored between the first and the last event. */
  log?: readonly string[];
}

/** Stores an execution that has ended already, with its events and log lines. A repeated request id returns the first one. */
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
