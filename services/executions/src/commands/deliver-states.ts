import type { EngineDeps } from '../engine/deps';
import { readExecution } from '../store/executions.sql';
import { deleteStates, pendingStates } from '../store/instance-states.sql';

const BATCH = 500;

/**
 * Hands the states that the engine decided to deployments, in order. Deployments ignores what it applied before, so a
 * crash between its answer and our delete only repeats the call (loops/engine.loops.ts).
 * @throws AppError of the rpc when deployments does not answer; the rows stay.
 */
export async function deliverStates(
  deps: Pick<EngineDeps, 'db' | 'deployments'>,
  executionId: string,
): Promise<void> {
  const execution = await readExecution(deps.db.query, executionId);
  if (!execution?.deployment_id) return;
  for (;;) {
    const states = await pendingStates(deps.db.query, executionId, BATCH);
    if (states.length === 0) return;
    await deps.deployments.applyStates(execution.tenant, execution.deployment_id, executionId, states);
    await deps.db.tx((tx) =>
      deleteStates(
        tx,
        executionId,
        states.map((state) => state.seq),
      ),
    );
    if (states.length < BATCH) return;
  }
}
