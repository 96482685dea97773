import type { EngineDeps } from '../engine/deps';
import type { LoadedGraph } from '../engine/graph-memory';
import { type LockedExecution, readExecution } from '../store/executions.sql';
import { deleteStates, pendingStates } from '../store/instance-states.sql';
import type { ExecutionRow, InstanceStateRow } from '../store/rows';

const BATCH = 500;

type Deps = Pick<EngineDeps, 'db' | 'deployments' | 'memory' | 'wake'>;

/**
 * Hands decided states that this process knows of to deployments, in order, beside the steps that go on. Their rows are
 * forgotten by the next step, or a moment later when there is none. After a crash loops/engine.loops.ts delivers them
 * again; deployments ignores what it applied before.
 * @throws AppError of the rpc when deployments does not answer; the rows stay.
 */
export async function deliverStates(deps: Deps, executionId: string): Promise<void> {
  const loaded = deps.memory.any(executionId);
  if (!loaded) return await deliverStored(deps, executionId);
  while (loaded.states.length > 0) {
    await apply(deps, loaded.execution, loaded.states.slice(0, BATCH), loaded);
  }
  if (loaded.deliveredSeq > 0) deps.wake.settle(executionId);
}

/** Delivers all that is stored, whoever decided it. @throws AppError of the rpc; the rows stay. */
export async function deliverStored(deps: Deps, executionId: string): Promise<void> {
  const execution = await readExecution(deps.db.query, executionId);
  if (execution) await deliverAll(deps, execution);
}

/**
 * Delivers every state that was decided up to this row of the execution, and removes their rows: what follows must see
 * them.
 * @throws AppError of the rpc; the rows stay.
 */
export async function deliverAll(deps: Deps, execution: ExecutionRow): Promise<void> {
  await deliverDecided(deps, execution);
  if (execution.last_state_seq > 0) await forgetDelivered(deps, execution.id);
}

/** The same; rows that memory knows as delivered stay for a step. @throws AppError of the rpc; the rows stay. */
export async function deliverDecided(deps: Deps, execution: ExecutionRow): Promise<void> {
  if (execution.deployment_id === null || execution.last_state_seq === 0) return;
  const loaded = deps.memory.known(execution.id);
  const isKnown = loaded?.version === execution.version;
  for (;;) {
    const states = isKnown
      ? loaded.states.slice(0, BATCH)
      : await pendingStates(deps.db.query, execution.id, { after: loaded?.deliveredSeq, limit: BATCH });
    if (states.length === 0) break;
    await apply(deps, execution, states, loaded);
    if (!loaded) await deleteStates(deps.db, execution.id, states.at(-1)!.seq);
  }
}

/** Removes the rows of states that were delivered, where no step has done so. */
export async function forgetDelivered(deps: Pick<Deps, 'db' | 'memory'>, executionId: string): Promise<void> {
  const loaded = deps.memory.any(executionId);
  const seq = loaded?.deliveredSeq ?? 0;
  if (!loaded || seq === 0) return;
  await deleteStates(deps.db, executionId, seq);
  if (loaded.deliveredSeq === seq) loaded.deliveredSeq = 0;
}

async function apply(
  deps: Deps,
  execution: Pick<LockedExecution, 'id' | 'tenant' | 'deployment_id'>,
  states: readonly InstanceStateRow[],
  loaded: LoadedGraph | null,
): Promise<void> {
  const last = states.at(-1)!.seq;
  if (execution.deployment_id !== null)
    await deps.deployments.applyStates(execution.tenant, execution.deployment_id, execution.id, states);
  if (!loaded) return;
  loaded.states = loaded.states.filter(({ seq }) => seq > last);
  loaded.deliveredSeq = Math.max(loaded.deliveredSeq, last);
}
