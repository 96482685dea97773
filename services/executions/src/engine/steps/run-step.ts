import type { Tx } from '@baton/postgres';
import type { GraphOutcome, Happening } from '@baton/task-graph';
import { lockExecution } from '../../executions/store/executions.sql';
import type { DB } from '../../store/tables.gen';
import type { EnginePorts } from '../ports';
import type { StepChanges } from '../store/step-write';
import { type SteppedRow, writeStep } from '../store/steps.sql';
import { type ClaimRequest, decideStep } from './advance-graph';
import { endAfter, type StageDeps } from './stage-end';
import { noteRow, type Step, type StepContext, type Uncommitted } from './uncommitted';

export type RunStepDeps = Pick<
  EnginePorts,
  'agents' | 'db' | 'memory' | 'steps' | 'turns' | 'wake' | 'workflowConfig'
>;

export interface StepPlan {
  happenings: readonly Happening[];
  claims?: readonly ClaimRequest[];
}

export interface StepDone {
  step: Step;
  context: StepContext;
}

/** Returns what happened, or null when there is nothing to do. It may be called twice for one step, so it must change nothing. */
export type StepPlanner = (context: StepContext) => StepPlan | null;

export interface StepOptions {
  /** Also takes late answers to the graph of a stopped execution, which may be resumed. */
  alsoEnded?: boolean;
  /** Writes more with the step, in its transaction under the row's lock; such a step is never taken from memory. */
  within?: (tx: Tx<DB>, context: StepContext) => Promise<void>;
  /** Called before the step waits for the row's lock; an earlier result of `plan` was not written. */
  onLock?: () => void;
}

/**
 * Takes one step of a running execution, serialised in this process: `plan` returns what happened, the graph decides, and the
 * decision is written. With the graph in memory, the step is decided without a read, and written only if the row still has its
 * version. Otherwise, and when time matters, the step is taken under the row's lock. Returns null when the execution is not
 * running any more or `plan` finds nothing to do.
 */
export async function runStep(
  deps: RunStepDeps,
  executionId: string,
  plan: StepPlanner,
  options: StepOptions = {},
): Promise<StepDone | null> {
  return await deps.turns.take(executionId, async () => {
    try {
      const quick = await stepFromMemory(deps, executionId, plan);
      const done = quick ?? (await stepUnderLock(deps, executionId, plan, options));
      if (done) afterStep(deps, done.context, done.step);
      return done;
    } catch (error) {
      // The graph in memory is ahead of its rows: read it again next time.
      deps.memory.forget(executionId);
      throw error;
    }
  });
}

/** Takes the step with the graph in memory; null: it must be taken under the lock. */
async function stepFromMemory(
  deps: RunStepDeps,
  executionId: string,
  plan: StepPlanner,
): Promise<StepDone | null> {
  const loaded = deps.memory.known(executionId);
  if (!loaded || loaded.execution.phase !== 'running') return null;
  if (loaded.graph.flags.deadline !== null || loaded.graph.flags.cancel !== null) return null;
  const context = { execution: { ...loaded.execution }, loaded };
  const planned = plan(context);
  // Without a plan, the graph in memory may be old. Happenings other than successes need the time of the database, under the lock.
  if (!planned || !planned.happenings.every(({ kind }) => kind === 'succeeded')) return null;
  if (planned.happenings.length === 0 && !planned.claims?.length) return null;
  const decided = decideStep(deps, context, planned.happenings, planned.claims);
  if (decided.step.hasTimers || decided.step.refused.length > 0) return dropped(decided);
  if (decided.step.outcome) endGraph(deps, decided, decided.step.outcome);
  const row = await deps.steps.write(decided.write);
  if (!row) return dropped(decided);
  decided.commit(row);
  return decided;
}

function dropped(decided: Uncommitted): null {
  decided.drop();
  return null;
}

async function stepUnderLock(
  deps: RunStepDeps,
  executionId: string,
  plan: StepPlanner,
  options: StepOptions,
): Promise<StepDone | null> {
  options.onLock?.();
  const written = await deps.db.tx(async (tx) => {
    const execution = await lockExecution(tx, executionId);
    if (!execution?.graph_id || (execution.phase !== 'running' && !options.alsoEnded)) return null;
    const context = { execution, loaded: await deps.memory.load(tx, execution) };
    const planned = plan(context);
    if (!planned) return null;
    const { happenings, claims } = planned;
    const step = await writeLocked(deps, tx, decideStep(deps, context, happenings, claims));
    await options.within?.(tx, context);
    return step;
  });
  written?.decided.commit(written.row);
  return written?.decided ?? null;
}

/** A step that is written in a transaction that is not committed yet. */
export interface WrittenStep {
  decided: Uncommitted;
  row: SteppedRow;
}

/** Writes one step of a locked execution in the caller's transaction; after it, the caller commits or drops the step. */
export async function writeLocked(deps: StageDeps, tx: Tx<DB>, decided: Uncommitted): Promise<WrittenStep> {
  const { execution, loaded } = decided.context;
  if (decided.step.outcome && execution.phase === 'running') endGraph(deps, decided, decided.step.outcome);
  else if (execution.has_left_runs && execution.phase !== 'running' && loaded.holders.size === 0)
    decided.write.changes.has_left_runs = false;
  const row = await writeStep(tx, decided.write);
  noteRow(execution, decided.write, row);
  return { decided, row };
}

/**
 * Adds the end of the graph to the step: the execution goes back to planning, or to its end when the graph was cancelled or no
 * stage can follow. The end of the workflow is written in the same step, since then only the owner of the model must be told.
 */
export function endGraph(
  deps: StageDeps,
  { context: { execution, loaded }, write }: Uncommitted,
  outcome: GraphOutcome,
): void {
  const { name, memo } = (write.changes.stage ?? execution.stage)!;
  const changes: StepChanges = {
    earlier_total: execution.earlier_total + loaded.graph.total,
    earlier_finished: execution.earlier_finished + loaded.graph.finished,
  };
  // Nothing else of the deployment begins while workers still run operations of this graph (executions/store/left-runs.sql.ts).
  if (loaded.holders.size > 0) changes.has_left_runs = true;
  write.wakeAt = null;
  if (outcome.kind === 'cancelled') {
    const error = execution.cancel_deadline === null ? '' : (execution.error ?? '');
    Object.assign(changes, { phase: 'ending', outcome: { status: 'cancelled', error } });
  } else {
    const history = [...execution.history, { kind: 'graph' as const, name, outcome, memo }];
    const end = endAfter(deps, execution, history);
    write.events.push(...(end?.events ?? []));
    Object.assign(changes, { phase: 'planning', history }, end?.changes);
  }
  Object.assign(write.changes, changes);
}

/** Sends the wake-ups after the commit of a step. If the process crashes before, engine/loops/engine.loops.ts does the same. */
export function afterStep(deps: RunStepDeps, { execution, loaded }: StepContext, step: Step): void {
  if (step.hasStates) deps.wake.deliver(execution.id);
  deps.wake.events(execution.id);
  if (step.outcome) deps.wake.drive(execution.id);
  // The execution has ended and its last left run has come back: executions that waited for that may start.
  else if (execution.phase === 'ended' && loaded.holders.size === 0) deps.wake.dequeue();
  else if (loaded.timers.size > 0) deps.wake.timer(execution.id, Math.min(...loaded.timers.values()));
}
