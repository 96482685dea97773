import type { DecidedStates } from '../../adapters/deployments.client';
import { readExecution } from '../../executions/store/executions.sql';
import { inTurn, type Round } from '../../loops/rounds';
import type { Ports } from '../../ports';
import type { ExecutionRow, InstanceStateRow } from '../../store/rows';
import type { EnginePorts } from '../ports';
import type { LoadedGraph } from '../steps/graph-memory';
import { deleteStates, pendingStates, undeliveredExecutions } from '../store/instance-states.sql';

const BATCH = 500;
/** States that are stored for longer than this were not delivered by the process that decided them. */
const UNDELIVERED_MS = 3_000;
/** Executions in one tick of the loop. */
const DELIVERED = 20;

export type DeliverStatesDeps = Pick<EnginePorts, 'db' | 'deployments' | 'memory' | 'wake'>;

/**
 * Delivers decided states of these executions to deployments, states of several executions in one call, in order, while steps go
 * on. The next step deletes their rows; when there is none, they are deleted a moment later. After a crash,
 * engine/loops/engine.loops.ts delivers them again; deployments ignores states that it has applied before.
 * @throws AppError of the rpc when deployments does not answer; the rows stay.
 */
export async function deliverStates(deps: DeliverStatesDeps, executionIds: readonly string[]): Promise<void> {
  const known: LoadedGraph[] = [];
  for (const id of executionIds) {
    const loaded = deps.memory.any(id);
    if (loaded) known.push(loaded);
    else await deliverStored(deps, id);
  }
  for (let batch = nextBatch(known); batch.length > 0; batch = nextBatch(known))
    await applyBatch(deps, batch);
  for (const loaded of known) if (loaded.deliveredSeq > 0) deps.wake.settle(loaded.executionId);
}

interface Delivery {
  loaded: LoadedGraph;
  states: readonly InstanceStateRow[];
}

/** Returns at most BATCH states; for each deployment, those of one execution only. */
function nextBatch(known: readonly LoadedGraph[]): Delivery[] {
  const batch: Delivery[] = [];
  const deployments = new Set<string>();
  let room = BATCH;
  for (const loaded of known) {
    const { tenant, deployment_id: deploymentId } = loaded.execution;
    const key = JSON.stringify([tenant, deploymentId]);
    if (room === 0) break;
    if (loaded.states.length === 0 || deployments.has(key)) continue;
    deployments.add(key);
    const states = loaded.states.slice(0, room);
    room -= states.length;
    batch.push({ loaded, states });
  }
  return batch;
}

/** Delivers states of executions whose process has died, of at most 20 executions at a time. */
export async function deliverForgotten(
  deps: DeliverStatesDeps & Pick<Ports, 'log'>,
  round: Round,
): Promise<void> {
  await inTurn(deps, round, {
    limit: DELIVERED,
    read: (place) => undeliveredExecutions(deps.db.query, UNDELIVERED_MS, DELIVERED, place),
    keyOf: ({ id }) => id,
    work: (id) => deliverStored(deps, id),
  });
}

/** Delivers all stored states, also those of another process. @throws AppError of the rpc; the rows stay. */
async function deliverStored(deps: DeliverStatesDeps, executionId: string): Promise<void> {
  const execution = await readExecution(deps.db.query, executionId);
  if (execution) await deliverAll(deps, execution);
}

/**
 * Delivers every state that was decided up to this row of the execution, and removes the rows: the caller's next call must see
 * these states.
 * @throws AppError of the rpc; the rows stay.
 */
export async function deliverAll(deps: DeliverStatesDeps, execution: ExecutionRow): Promise<void> {
  await deliverDecided(deps, execution);
  if (execution.last_state_seq > 0) await forgetDelivered(deps, execution.id);
}

/** As `deliverAll`; rows that memory knows as delivered stay for a step. @throws AppError of the rpc; the rows stay. */
export async function deliverDecided(deps: DeliverStatesDeps, execution: ExecutionRow): Promise<void> {
  if (execution.deployment_id === null || execution.last_state_seq === 0) return;
  const loaded = deps.memory.known(execution.id);
  const isKnown = loaded?.version === execution.version;
  for (;;) {
    const states = isKnown
      ? loaded.states.slice(0, BATCH)
      : await pendingStates(deps.db.query, execution.id, { after: loaded?.deliveredSeq, limit: BATCH });
    if (states.length === 0) break;
    await deps.deployments.applyStates(decidedStates(execution, states));
    deps.wake.statesApplied(execution.id);
    const last = states.at(-1)!.seq;
    if (loaded) noteDelivered(loaded, last);
    else await deleteStates(deps.db, execution.id, last);
  }
}

/** Removes the rows of delivered states that no step has removed. */
export async function forgetDelivered(
  deps: Pick<DeliverStatesDeps, 'db' | 'memory'>,
  executionId: string,
): Promise<void> {
  const loaded = deps.memory.any(executionId);
  const seq = loaded?.deliveredSeq ?? 0;
  if (!loaded || seq === 0) return;
  await deleteStates(deps.db, executionId, seq);
  if (loaded.deliveredSeq === seq) loaded.deliveredSeq = 0;
}

async function applyBatch(deps: DeliverStatesDeps, batch: readonly Delivery[]): Promise<void> {
  const executions = batch.flatMap(({ loaded: { execution }, states }) => decidedStates(execution, states));
  if (executions.length > 0) await deps.deployments.applyStates(executions);
  for (const { loaded, states } of batch) {
    noteDelivered(loaded, states.at(-1)!.seq);
    deps.wake.statesApplied(loaded.executionId);
  }
}

/** Returns the states as deployments takes them; empty for an execution without a deployment. */
function decidedStates(
  { id, tenant, deployment_id: deploymentId }: Pick<ExecutionRow, 'id' | 'tenant' | 'deployment_id'>,
  states: readonly InstanceStateRow[],
): DecidedStates[] {
  return deploymentId === null ? [] : [{ tenant, deploymentId, executionId: id, states }];
}

function noteDelivered(loaded: LoadedGraph, last: number): void {
  // The states are in order of their numbers.
  const left = loaded.states.findIndex(({ seq }) => seq > last);
  loaded.states = left < 0 ? [] : loaded.states.slice(left);
  loaded.deliveredSeq = Math.max(loaded.deliveredSeq, last);
}
