import { addressOfWorker, type executionsRpc } from '@baton/contracts';
import { isUuid } from '@baton/kernel';
import { isAtVersion } from '../../executions/store/executions.sql';
import type { EnginePorts } from '../ports';
import { holdsPreferred } from '../steps/advance-graph';
import { type ClaimBatchDeps, claimOf, openBatch } from '../steps/claim-batch';
import { leasesOf } from '../steps/leases';
import { openTo } from '../steps/unclaimed';
import { noteAnswered } from '../steps/wake-ups';
import { hasOpenTask } from '../store/agent-tasks.sql';

type ClaimTaskDeps = Pick<
  EnginePorts,
  'agents' | 'db' | 'leases' | 'memory' | 'tokenKey' | 'workflowConfig'
> &
  ClaimBatchDeps;

/**
 * Leases ready operations of an execution to a worker, the named one first. A repeated claim returns the same lease; a task that
 * is gone or taken is missing from the result. Claims that wait for the same execution share its next step, because the wake-ups
 * of a wide graph all arrive at once. If the process crashes after the commit, the lease expires (engine/loops/engine.loops.ts).
 */
export async function claimTask(
  deps: ClaimTaskDeps,
  request: executionsRpc.ClaimTaskRequest,
): Promise<executionsRpc.TaskLease[]> {
  if (await isNotForAgent(deps, request)) return [];
  if (await hasNothing(deps, request)) return [];
  const batch = openBatch(deps, request.executionId);
  const place = batch.requests.push(request) - 1;
  const done = await batch.done;
  if (!done) return [];
  const { context, step } = done;
  const claim = claimOf(context.loaded, request);
  const claimed = step.claimed[place]!;
  // The named operation is returned too when the worker held it before this claim.
  const isNamedToo = holdsPreferred(context.loaded, claim) && !claimed.includes(claim.preferred!);
  return leasesOf(deps, context, isNamedToo ? [claim.preferred!, ...claimed] : claimed, request.workerId);
}

/**
 * Returns whether the caller is an agent that has nothing to do with the execution. Agents are not trusted: a call about executions
 * of others must not read their graphs.
 */
async function isNotForAgent(
  { db }: ClaimTaskDeps,
  { workerId, executionId }: executionsRpc.ClaimTaskRequest,
): Promise<boolean> {
  const address = addressOfWorker(workerId);
  if (address === null) return false;
  return !isUuid(executionId) || !(await hasOpenTask(db.query, address, executionId));
}

/** Returns whether the graph in memory has nothing to lease and is at the version of the database: usual for a late wake-up. */
async function hasNothing(deps: ClaimTaskDeps, request: executionsRpc.ClaimTaskRequest): Promise<boolean> {
  const loaded = deps.memory.known(request.executionId);
  if (!loaded || openTo(loaded, request.workerId).size > 0) return false;
  const claim = claimOf(loaded, request);
  if (holdsPreferred(loaded, claim)) return false;
  noteAnswered(loaded, claim.preferred);
  const { version } = loaded;
  return await isAtVersion(deps.db, request.executionId, version);
}
