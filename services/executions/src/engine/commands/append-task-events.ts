import { type executionsRpc, taskEvent } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { OperationTask } from '@baton/task-graph';
import { z } from 'zod';
import { appendEvents, purgeBatches, rememberBatch } from '../../events/store/events.sql';
import { lockExecution, updateExecution } from '../../executions/store/executions.sql';
import type { Ports } from '../../ports';
import type { NewEvent, StoredTask } from '../../store/rows';
import { readTasksById } from '../store/tasks.sql';

type AppendTaskEventsDeps = Pick<Ports, 'db' | 'turns' | 'wake'>;

const batch = z.array(taskEvent);

/**
 * Stores log lines and plugin events of running operations, once per batch id: the worker repeats a batch until it gets an answer.
 * @throws AppError not_found_error when the execution is gone: the worker drops the batch.
 */
export async function appendTaskEvents(
  deps: AppendTaskEventsDeps,
  request: executionsRpc.AppendEventsRequest,
): Promise<void> {
  const events = batch.parse(JSON.parse(request.eventsJson));
  if (events.length === 0) return;
  const done = await deps.turns.take(request.executionId, () =>
    deps.db.tx(async (tx) => {
      const execution = await lockExecution(tx, request.executionId);
      if (!execution)
        throw new AppError('not_found_error', `Execution ${request.executionId} does not exist`);
      if (!(await rememberBatch(tx, request.batchId))) return null;
      const tasks = await readTasksById(tx, [...new Set(events.map((event) => event.taskId))]);
      const byId = new Map(tasks.map((task) => [task.id, task]));
      const rows = events.map((event): NewEvent => {
        const isLog = event.kind === 'log';
        return {
          ...placeOf(byId.get(event.taskId)),
          isLog,
          eventType: isLog ? null : 'plugin_event',
          level: isLog ? event.level : null,
          logger: isLog ? event.logger : null,
          message: event.message,
          errorCauses: null,
          worker: request.workerId,
          reportedAt: event.reportedAt,
        };
      });
      const lastSeq = await appendEvents(tx, execution, rows);
      await updateExecution(tx, execution.id, { last_event_seq: lastSeq });
      return execution;
    }),
  );
  if (done) deps.wake.events(done.id);
}

function placeOf(task: StoredTask | undefined) {
  const payload = task && (task.spec as OperationTask).payload;
  return {
    // Workflow code is no operation: these fields are empty for it.
    operation: payload?.operation || null,
    nodeInstanceId: payload?.nodeInstanceId || null,
    nodeName: payload?.nodeId || null,
    sourceId: payload?.relationship?.sourceId ?? null,
    targetId: payload?.relationship?.targetId ?? null,
  };
}

/** How long batch ids are kept, so that a repeated batch is recognised, s. */
const BATCH_MEMORY_S = 24 * 3600;

/** Deletes ids of batches that no worker sends again. */
export async function forgetBatches({ db }: Pick<Ports, 'db'>): Promise<void> {
  await db.tx((tx) => purgeBatches(tx, BATCH_MEMORY_S));
}
