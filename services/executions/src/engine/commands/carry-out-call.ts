import { isJsonObject } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import type { StageResult } from '@baton/task-graph';
import { lockExecution, updateExecution } from '../../executions/store/executions.sql';
import type { Ports } from '../../ports';
import { updateDefaultSchedules } from '../../schedules/commands/make-default-schedules';
import type { ExecutionRow, StoredStage } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { isNestedCall } from '../domain/nested';
import { callResult } from '../steps/call-result';
import { type StartNestedDeps, startNested } from './start-nested';

export type CarryOutCallDeps = Pick<Ports, 'db' | 'log' | 'turns'> & StartNestedDeps;

/**
 * Calls another service for the change that a workflow stage needs, and stores the answer as the stage's result. The call is
 * idempotent by (execution, stage name), so a crash after it only repeats it. A stage that starts executions waits for them
 * afterwards. Returns false when another process has stored a result.
 * @throws AppError of the rpc when it may succeed later; the loop tries again.
 */
export async function carryOutCall(deps: CarryOutCallDeps, execution: ExecutionRow): Promise<boolean> {
  const stage = execution.stage as Extract<StoredStage, { kind: 'call' }>;
  if (isNestedCall(stage)) return await startNested(deps, execution);
  const result = await callResult(deps, execution, stage);
  return await deps.turns.take(execution.id, () =>
    deps.db.tx(async (tx) => {
      const locked = await lockExecution(tx, execution.id);
      if (!locked || locked.phase !== 'calling' || locked.stage?.name !== stage.name) return false;
      await updateExecution(tx, locked.id, {
        // With the next version: a process that plans on the old row must not be able to write its plan.
        version: locked.version + 1,
        phase: 'planning',
        stage: null,
        history: [...locked.history, result],
      });
      await setSchedules(tx, deps, execution, result);
      return true;
    }),
  );
}

/** Stores the default schedules of the blueprint, which the last call of a deployment update returns. */
async function setSchedules(
  tx: Tx<DB>,
  deps: CarryOutCallDeps,
  { tenant, deployment_id, deployment_made_by: madeBy, visibility, created_by }: ExecutionRow,
  result: StageResult,
): Promise<void> {
  const response = result.kind === 'call' && !result.error ? result.response : null;
  const defaults = isJsonObject(response) ? response.default_schedules : undefined;
  if (!isJsonObject(defaults) || deployment_id === null) return;
  const owner = { tenant, deploymentId: deployment_id, madeBy, visibility, createdBy: created_by };
  await updateDefaultSchedules(tx, deps, owner, defaults);
}
