import type { executionsRpc } from '@baton/contracts';
import { isOn } from '@baton/kernel';
import type { EnginePorts } from '../ports';
import { type ClaimRequest, holdsPreferred } from './advance-graph';
import type { GraphMemory, LoadedGraph } from './graph-memory';
import { type RunStepDeps, runStep, type StepDone } from './run-step';
import { openTo } from './unclaimed';
import { noteAnswered } from './wake-ups';

export type ClaimBatchDeps = Pick<EnginePorts, 'memory'> & RunStepDeps;

/** Claims of one execution that share a step; null: there was nothing to do. */
export interface ClaimBatch {
  requests: executionsRpc.ClaimTaskRequest[];
  done: Promise<StepDone | null>;
}

/** Waiting claims by execution, for each engine in this process. */
const waitingOf = new WeakMap<GraphMemory, Map<string, ClaimBatch>>();

/** Returns the claims of an execution that wait for its next step; no claim joins once the step is being decided. */
export function openBatch(deps: ClaimBatchDeps, executionId: string): ClaimBatch {
  let claims = waitingOf.get(deps.memory);
  if (!claims) waitingOf.set(deps.memory, (claims = new Map()));
  const waiting = isOn('claim-batches') && claims.get(executionId);
  if (waiting) return waiting;
  const requests: ClaimBatch['requests'] = [];
  const close = (): void => {
    if (claims.get(executionId) === batch) claims.delete(executionId);
  };
  const done = runStep(deps, executionId, ({ loaded }) => {
    close();
    const asked = requests.map((request) => claimOf(loaded, request));
    for (const { preferred } of asked) noteAnswered(loaded, preferred);
    const isVain = asked.every(
      (claim) => openTo(loaded, claim.workerId).size === 0 && !holdsPreferred(loaded, claim),
    );
    return isVain ? null : { happenings: [], claims: asked };
  }).finally(close);
  const batch: ClaimBatch = { requests, done };
  claims.set(executionId, batch);
  return batch;
}

/** Converts a request to a claim. `room` is at least one: the worker has a place for the operation that it names. */
export const claimOf = (
  loaded: LoadedGraph,
  { workerId, taskId, room }: executionsRpc.ClaimTaskRequest,
): ClaimRequest => ({
  workerId,
  room: Math.max(1, room),
  preferred: loaded.idxById.get(taskId) ?? null,
});
