import { executionFinished } from '@baton/contracts';
import { outgoing, unsent } from '@baton/postgres';
import { isForcedLimitReached } from '../domain/cancel';
import type { EngineDeps } from '../engine/deps';
import { workflowEvent } from '../engine/graph-events';
import type { TimedExecution } from '../store/executions.sql';
import type { Outcome } from '../store/rows';
import { emptyWrite, type StepWrite } from '../store/steps.sql';
import { deliverAll } from './deliver-states';

const EVENT_OF = {
  terminated: 'workflow_succeeded',
  failed: 'workflow_failed',
  cancelled: 'workflow_cancelled',
} as const;

/**
 * Ends an execution whose outcome is decided: its last states reach deployments first, so that whoever sees the end
 * sees its effects; then status, terminal event and message in one transaction. A forced cancel does not wait for
 * deployments longer than its limit: the states follow later (loops/engine.loops.ts). Null: the row has moved on.
 */
export async function endExecution(
  deps: EngineDeps,
  execution: TimedExecution,
): Promise<TimedExecution | null> {
  const outcome = execution.outcome!;
  try {
    await deliverAll(deps, execution);
    if (execution.deployment_id) {
      await deps.deployments.executionEnded({
        tenant: execution.tenant,
        deploymentId: execution.deployment_id,
        executionId: execution.id,
        workflowId: execution.workflow_id,
        status: outcome.status,
        totalOperations: execution.total_operations ?? 0,
        finishedOperations: execution.finished_operations ?? 0,
      });
    }
  } catch (error) {
    if (!isForcedLimitReached(execution, execution.now_ms)) throw error;
    deps.log.warn(
      { executionId: execution.id, err: error },
      'a cancelled execution ends before its states are delivered',
    );
  }
  const write: StepWrite = {
    ...emptyWrite(execution),
    changes: { status: outcome.status, phase: 'ended', error: outcome.error },
    isEnd: true,
    wakeAt: null,
    events: [workflowEvent(execution, EVENT_OF[outcome.status], outcome.error)],
    outbox: [finishedMessage(execution, outcome.status)],
  };
  const row = await deps.memory.serially(execution.id, () => deps.steps.write(write));
  if (!row) return null;
  deps.wake.events(execution.id, execution.deployment_id, row.last_event_seq);
  deps.wake.dequeue();
  return { ...execution, ...write.changes } as TimedExecution;
}

function finishedMessage(execution: TimedExecution, status: Outcome['status']) {
  const about = { tenant: execution.tenant, key: execution.id };
  return unsent(
    outgoing(executionFinished, about, {
      executionId: execution.id,
      deploymentId: execution.deployment_id ?? '',
      workflowId: execution.workflow_id,
      status,
    }),
  );
}
