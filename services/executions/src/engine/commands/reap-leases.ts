import type { Happening } from '@baton/task-graph';
import { inTurn, newRound } from '../../loops/rounds';
import type { Ports } from '../../ports';
import { type RunStepDeps, runStep, type StepPlanner } from '../steps/run-step';
import { type ExpiredLease, endLeftRuns, expiredLeases, msToExpiry } from '../store/tasks.sql';

export type ReapLeasesDeps = Pick<Ports, 'db' | 'log' | 'wake'> & RunStepDeps;

const BATCH = 200;

/** `runs`: number of runs taken from silent workers. `againInMs`: ms until the next lease expires, if known. */
export interface Reaped {
  runs: number;
  againInMs?: number;
}

/**
 * Opens the runs of silent workers to other workers: the attempt goes up, so that a late result is refused. The runs of a graph
 * that has ended are opened too, for a resume. Safe on every replica: the second replica finds another attempt or holder under
 * the lock.
 */
export async function reapLeases(deps: ReapLeasesDeps, round = newRound()): Promise<Reaped> {
  const ms = await msToExpiry(deps.db.query);
  if (ms === null) return { runs: 0 };
  // + 1: a lease counts as expired only a moment after its end.
  if (ms >= 0) return { runs: 0, againInMs: Math.floor(ms) + 1 };
  for (const id of await deps.db.tx((tx) => endLeftRuns(tx))) deps.wake.events(id);
  const expired = await inTurn(deps, round, {
    limit: BATCH,
    read: (place) => expiredLeases(deps.db.query, BATCH, place),
    keyOf: (lease) => lease.execution_id,
    work: (executionId, runs) => takeBack(deps, executionId, runs),
  });
  return { runs: expired.length };
}

async function takeBack(
  deps: ReapLeasesDeps,
  executionId: string,
  runs: readonly ExpiredLease[],
): Promise<void> {
  deps.log.warn({ executionId, runs: runs.length }, 'leases ran out; their operations are open again');
  const planned: StepPlanner = ({ loaded }) => {
    const lost = runs.filter(
      (run) => loaded.graph.nodes[run.idx]?.attempt === run.attempt && loaded.holders.has(run.idx),
    );
    if (lost.length === 0) return null;
    return {
      happenings: lost.map((run): Happening => ({ kind: 'lost', idx: run.idx, attempt: run.attempt })),
    };
  };
  await runStep(deps, executionId, planned, { alsoEnded: true });
}
