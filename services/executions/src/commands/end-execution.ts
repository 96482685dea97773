import { executionFinished } from '@baton/contracts';
import { outbox } from '@baton/postgres';
import { isForcedLimitReached } from '../domain/cancel';
import type { EngineDeps } from '../engine/deps';
import { workflowEvent } from '../engine/graph-events';
import { appendEvents } from '../store/events.sql';
import { lockExecution, NOW, type TimedExecution, updateExecution } from '../store/executions.sql';
import { deliverStates } from './deliver-states';

const EVENT_OF = {
  terminated: 'workflow_succeeded',
  failed: 'workflow_failed',
  cancelled: 'workflow_cancelled',
} as const;

/**
 * Ends an execution whose outcome is decided: its last states reach deployments first, so that whoever sees the end
 * sees its effects; then status, terminal event and message in one transaction. A forced cancel does not wait for
 * deployments longer than its limit: the states follow later (loops/engine.loops.ts).
 */
export async function endExecution(deps: EngineDeps, execution: TimedExecution): Promise<void> {
  const outcome = execution.outcome!;
  try {
    await deliverStates(deps, execution.id);
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
  const ended = await deps.memory.serially(execution.id, () =>
    deps.db.tx(async (tx) => {
      const locked = await lockExecution(tx, execution.id);
      if (!locked || locked.phase !== 'ending') return null;
      const event = workflowEvent(locked, EVENT_OF[outcome.status], outcome.error);
      const seq = await appendEvents(tx, locked, [event]);
      await updateExecution(tx, locked.id, {
        status: outcome.status,
        phase: 'ended',
        error: outcome.error,
        ended_at: NOW,
        wake_at: null,
        last_event_seq: seq,
      });
      await outbox.append(
        tx,
        executionFinished,
        { tenant: locked.tenant, key: locked.id },
        {
          executionId: locked.id,
          deploymentId: locked.deployment_id ?? '',
          workflowId: locked.workflow_id,
          status: outcome.status,
        },
      );
      return seq;
    }),
  );
  if (ended === null) return;
  deps.wake.events(execution.id, execution.deployment_id, ended);
  deps.wake.dequeue();
}
