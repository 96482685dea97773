import { executionRequested } from '@baton/contracts';
import { AppError, notFound } from '@baton/kernel';
import { outbox } from '@baton/postgres';
import { sql } from 'kysely';
import type { EngineDeps } from '../engine/deps';
import { lockExecution, lockGuard, readExecution, updateExecution } from '../store/executions.sql';

/**
 * Runs a failed or cancelled execution on from where it stopped (reference/workflows.md 2.9): stages that succeeded are
 * not run again, the last one is planned anew from the present states of the instances.
 * @throws AppError conflict_error in any other state; not_found_error.
 */
export async function resumeExecution(
  deps: EngineDeps,
  executionId: string,
  isForced: boolean,
): Promise<void> {
  const known = await readExecution(deps.db.query, executionId);
  if (!known) throw notFound('Execution', executionId);
  await deps.memory.serially(executionId, () =>
    deps.db.tx(async (tx) => {
      if (known.deployment_id !== null) await lockGuard(tx, known.tenant, known.deployment_id);
      const execution = await lockExecution(tx, executionId);
      if (!execution) throw notFound('Execution', executionId);
      if (execution.status === 'started' && !isForced) return;
      if (execution.status !== 'failed' && execution.status !== 'cancelled') {
        const action = isForced ? 'force-resume' : 'resume';
        throw new AppError(
          'conflict_error',
          `Cannot ${action} execution: \`${executionId}\` in state: \`${execution.status}\``,
          {
            field: 'action',
          },
        );
      }
      await sql`select set_config('baton.is_resuming', 'yes', true)`.execute(tx);
      const history = execution.history.filter((stage) => !isFailed(stage));
      await updateExecution(tx, executionId, {
        status: 'pending',
        phase: 'planning',
        is_resumed: true,
        ended_at: null,
        error: null,
        outcome: null,
        stage: null,
        graph_id: null,
        wake_at: null,
        cancel_requested_at: null,
        history,
      });
      // The stage is planned under its name again: its stopped graph makes room.
      await sql`update tasks_graphs set name = name || ' (stopped ' || id || ')'
        where execution_id = ${executionId} and name <> all(${history.map((stage) => stage.name)}::text[])
          and name not like '%(stopped %'`.execute(tx);
      await outbox.append(
        tx,
        executionRequested,
        { tenant: execution.tenant, key: executionId },
        {
          executionId,
          deploymentId: execution.deployment_id ?? undefined,
          workflowId: execution.workflow_id,
          isResumed: true,
        },
      );
    }),
  );
  deps.wake.drive(executionId);
}

function isFailed(stage: { kind: string; outcome?: { kind: string }; error?: unknown }): boolean {
  return stage.kind === 'graph' ? stage.outcome?.kind === 'failed' : stage.error !== undefined;
}
