import { isJsonObject, isoInstant, type Json, waitUntil } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import type { StageResult } from '@baton/task-graph';
import {
  awaitingNothing,
  type LockedExecution,
  lockExecution,
  readExecution,
  twinOf,
  unendedChildren,
  updateExecution,
} from '../../executions/store/executions.sql';
import { dropWish, endedBadly } from '../../groups/store/execution-groups.sql';
import { inTurn, newRound } from '../../loops/rounds';
import type { Ports } from '../../ports';
import type { ExecutionRow, StoredStage } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { modeOf } from '../domain/cancel';
import { nestedGroupId, nestedRequestId } from '../domain/nested';
import { type CancelExecutionDeps, cancelExecution, leaveUnfit } from './cancel-execution';

export type AwaitNestedDeps = Pick<Ports, 'db' | 'log' | 'turns' | 'wake'> & CancelExecutionDeps;

const BATCH = 50;

type CallStage = Extract<StoredStage, { kind: 'call' }>;
type StageError = { type: string; message: string };

/**
 * Puts an execution in the phase `awaiting`: it waits for the executions that its stage has started. It is woken by the message of
 * each end (engine/messages/on-execution-finished.ts), by its time limit (`wake_at`), and after a lost wake-up by
 * engine/loops/engine.loops.ts. When all of them have ended already, or `error` prevented their start, the stage ends at once.
 * Returns false when the execution has moved on.
 */
export async function awaitNested(
  deps: AwaitNestedDeps,
  execution: ExecutionRow,
  stage: CallStage,
  error: StageError | null,
): Promise<boolean> {
  const waits = await deps.turns.take(execution.id, () =>
    deps.db.tx(async (tx) => {
      const locked = await lockExecution(tx, execution.id);
      if (!locked || locked.phase !== 'calling' || locked.stage?.name !== stage.name) return null;
      // The end of each child locks this row as well: either that end sees the phase, or the query below sees that end.
      if (error || (await unendedChildren(tx, locked.id)).length === 0) {
        await endStage(tx, locked, stage, error);
        return { until: null };
      }
      const limit = stage.request.call === 'run-execution' ? stage.request.timeoutMs : null;
      const until = limit === null ? null : waitUntil(locked.now_ms, limit);
      await updateExecution(tx, locked.id, {
        version: locked.version + 1,
        phase: 'awaiting',
        wake_at: until === null ? null : isoInstant(until),
      });
      return { until };
    }),
  );
  if (waits?.until) deps.wake.timer(execution.id, waits.until);
  return waits !== null;
}

/**
 * Checks whether an execution still waits for the executions that it started, and continues it when all of them have ended or its
 * time limit is over. It may be called at any time.
 */
export async function settleNested(deps: AwaitNestedDeps, executionId: string): Promise<void> {
  const isSettled = await deps.turns.take(executionId, () =>
    deps.db.tx(async (tx) => {
      const locked = await lockExecution(tx, executionId);
      if (locked?.phase !== 'awaiting') return false;
      const stage = locked.stage as CallStage;
      if ((await unendedChildren(tx, locked.id)).length === 0) {
        await endStage(tx, locked, stage, null);
        return true;
      }
      if (locked.wake_at === null || Date.parse(locked.wake_at) > locked.now_ms) return false;
      await endStage(tx, locked, stage, timeoutError(stage));
      return true;
    }),
  );
  if (isSettled) deps.wake.drive(executionId);
}

/** Continues executions whose wake-up was lost; returns their number. */
export async function settleForgotten(deps: AwaitNestedDeps, round = newRound()): Promise<number> {
  const forgotten = await inTurn(deps, round, {
    limit: BATCH,
    read: (place) => awaitingNothing(deps.db.query, BATCH, place),
    keyOf: ({ id }) => id,
    work: (id) => settleNested(deps, id),
  });
  return forgotten.length;
}

/**
 * Cancels the unended executions that the stages of an execution have started and that nothing waits for any more, in the mode in
 * which the execution itself is cancelled. This is a part of its end, which is driven until it is done
 * (engine/commands/end-execution.ts).
 */
export async function cancelNested(deps: AwaitNestedDeps, executionId: string): Promise<void> {
  const children = await unendedChildren(deps.db.query, executionId);
  if (children.length === 0) return;
  const mode = modeOf((await readExecution(deps.db.query, executionId))?.status ?? 'cancelled');
  // Waiting executions come first, so that none of them starts in the place of one that ends.
  for (const { id, phase, resume_wish } of children) {
    // Once its resume wish is dropped, the execution is not resumed; until then it may have been.
    const now = resume_wish === null ? phase : await deps.db.tx((tx) => dropWish(tx, id));
    if (now !== null && now !== 'ended') await leaveUnfit(cancelExecution(deps, id, mode));
  }
}

function timeoutError(stage: CallStage): StageError {
  const { request } = stage;
  const what = request.call === 'run-execution' ? request.workflowId : stage.name;
  return { type: 'NonRecoverableError', message: `Timeout running ${what}` };
}

async function endStage(
  tx: Tx<DB>,
  execution: LockedExecution,
  stage: CallStage,
  error: StageError | null,
): Promise<void> {
  await updateExecution(tx, execution.id, {
    version: execution.version + 1,
    phase: 'planning',
    stage: null,
    wake_at: null,
    history: [...execution.history, error ? failed(stage, error) : await resultOf(tx, execution, stage)],
  });
}

const failed = (stage: CallStage, error: StageError): StageResult => ({
  kind: 'call',
  name: stage.name,
  error,
  memo: stage.memo,
});

/** Returns the stage's result for the workflow: for one execution, its end; for services, those that failed, as an error. */
async function resultOf(tx: Tx<DB>, execution: ExecutionRow, stage: CallStage): Promise<StageResult> {
  const { request, name, memo } = stage;
  const done = (response: Json): StageResult => ({ kind: 'call', name, response, memo });
  if (request.call === 'run-execution') {
    const child = await twinOf(tx, {
      tenant: execution.tenant,
      requestId: nestedRequestId(execution.id, name),
    });
    return done({ execution_id: child?.id ?? null, status: child?.status ?? null });
  }
  if (request.call !== 'run-on-services') return done(null);
  const groupId = nestedGroupId(request.groupId, execution.id);
  const bad = await endedBadly(tx, execution.tenant, groupId);
  const isIgnoring = isJsonObject(request.parameters) && request.parameters.ignore_failure === true;
  if (bad.length === 0 || isIgnoring)
    return done({ execution_group_id: groupId, failed: bad.map(({ deployment_id }) => deployment_id) });
  const lines = bad.map(
    ({ deployment_id, id, status, error }) =>
      `${deployment_id} (${id}, ${status}${error ? `: ${error}` : ''})`,
  );
  return failed(stage, {
    type: 'WorkflowFailed',
    message: `${request.workflowId} did not succeed on ${bad.length} deployment(s) below ${request.deploymentId}: ${lines.join(', ')}`,
  });
}
