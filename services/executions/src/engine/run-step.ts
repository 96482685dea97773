import { taskReady } from '@baton/contracts';
import { outbox, type Tx } from '@baton/postgres';
import type { GraphOutcome, Happening } from '@baton/task-graph';
import {
  type ExecutionChanges,
  type LockedExecution,
  lockExecution,
  updateExecution,
} from '../store/executions.sql';
import type { DB } from '../store/tables.gen';
import { type ClaimRequest, type Step, stepGraph } from './advance-graph';
import type { EngineDeps } from './deps';
import type { LoadedGraph } from './graph-memory';

/** Wake-ups for ready operations per step; workers with room take further ones with their claims and reports. */
const MAX_WAKE_UPS = 32;

export interface StepContext {
  execution: LockedExecution;
  loaded: LoadedGraph;
}

export interface StepPlan<T> {
  happenings: readonly Happening[];
  claim?: ClaimRequest | null;
  /** Runs in the same transaction after the step. */
  after?: (tx: Tx<DB>, context: StepContext, step: Step) => Promise<T>;
}

/**
 * Locks a running execution, lets `plan` say what happened, steps its graph and commits; then keeps the graph and wakes
 * whoever waits. Answers null when the execution is not running any more or `plan` finds nothing to do. With
 * `alsoEnded` the graph of a stopped execution takes late answers, for the case that it is resumed.
 */
export async function runStep<T = void>(
  deps: EngineDeps,
  executionId: string,
  plan: (context: StepContext, tx: Tx<DB>) => StepPlan<T> | null | Promise<StepPlan<T> | null>,
  options: { alsoEnded?: boolean } = {},
): Promise<{ step: Step; context: StepContext; value: T | undefined } | null> {
  return await deps.memory.serially(executionId, async () => {
    let graphId: string | null = null;
    try {
      const done = await deps.db.tx(async (tx) => {
        const execution = await lockExecution(tx, executionId);
        if (!execution?.graph_id || (execution.phase !== 'running' && !options.alsoEnded)) return null;
        graphId = execution.graph_id;
        const loaded = await deps.memory.load(tx, execution);
        const context = { execution, loaded };
        const planned = await plan(context, tx);
        if (!planned) return null;
        const step = await stepGraph(tx, execution, loaded, planned.happenings, planned.claim ?? null);
        await announce(tx, context, step.ready);
        if (step.outcome) await endGraph(tx, context, step.outcome);
        const value = planned.after ? await planned.after(tx, context, step) : undefined;
        return { step, context, value };
      });
      if (done) afterStep(deps, done.context, done.step);
      return done;
    } catch (error) {
      // The graph in memory is ahead of its rows: read it again next time.
      if (graphId) deps.memory.forget(graphId);
      throw error;
    }
  });
}

/** Wakes workers for operations that nobody holds. */
export async function announce(
  tx: Tx<DB>,
  { execution, loaded }: StepContext,
  ready: readonly number[],
): Promise<void> {
  for (const idx of ready.slice(0, MAX_WAKE_UPS)) {
    await outbox.append(
      tx,
      taskReady,
      { tenant: execution.tenant, key: execution.id },
      { executionId: execution.id, taskId: loaded.ids[idx]! },
    );
  }
}

/** The graph ended: back to planning, or to the end when it was cancelled. */
async function endGraph(
  tx: Tx<DB>,
  { execution, loaded }: StepContext,
  outcome: GraphOutcome,
): Promise<void> {
  const stage = execution.stage!;
  const counters = { total: loaded.graph.total, finished: loaded.graph.finished };
  const changes: ExecutionChanges = {
    wake_at: null,
    earlier_total: execution.earlier_total + counters.total,
    earlier_finished: execution.earlier_finished + counters.finished,
  };
  if (outcome.kind === 'cancelled') {
    Object.assign(changes, { phase: 'ending', outcome: { status: 'cancelled', error: '' } });
  } else {
    const result = { kind: 'graph' as const, name: stage.name, outcome, memo: stage.memo };
    Object.assign(changes, { phase: 'planning', history: [...execution.history, result] });
  }
  await updateExecution(tx, execution.id, changes);
  Object.assign(execution, changes);
}

export function afterStep(deps: EngineDeps, { execution, loaded }: StepContext, step: Step): void {
  deps.memory.keep(loaded);
  if (step.hasStates) deps.wake.deliver(execution.id);
  deps.wake.events(execution.id, execution.deployment_id, step.lastEventSeq);
  if (step.outcome) deps.wake.drive(execution.id);
  else if (loaded.timers.size > 0) deps.wake.timer(execution.id, Math.min(...loaded.timers.values()));
}
