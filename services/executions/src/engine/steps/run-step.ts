import type { Tx } from '@baton/postgres';
import type { GraphOutcome, Happening } from '@baton/task-graph';
import { type LockedExecution, lockExecution } from '../../executions/store/executions.sql';
import type { DB } from '../../store/tables.gen';
import type { EngineDeps } from '../deps';
import type { StepChanges } from '../store/step-write';
import { writeStep } from '../store/steps.sql';
import { type ClaimRequest, type DecidedStep, decideStep, noteWritten, type Step } from './advance-graph';
import type { LoadedGraph } from './graph-memory';
import { endAfter, type StageDeps } from './stage-end';

export interface StepContext {
  execution: LockedExecution;
  loaded: LoadedGraph;
}

export interface StepPlan {
  happenings: readonly Happening[];
  claims?: readonly ClaimRequest[];
}

export interface StepDone {
  step: Step;
  context: StepContext;
}

/** Says what happened, or null when there is nothing to do. May be asked twice for one step, so it must only look. */
export type StepPlanner = (context: StepContext) => StepPlan | null;

export interface StepOptions {
  /** The graph of a stopped execution takes late answers, for the case that it is resumed. */
  alsoEnded?: boolean;
  /** What else is written with the step, in its transaction under the row's lock; such a step is never taken from memory. */
  within?: (tx: Tx<DB>, context: StepContext) => Promise<void>;
  /** Called before it waits for the row's lock; what `plan` said before that was not written. */
  onLock?: () => void;
}

/**
 * Takes one step of a running execution, serialised in this process: `plan` says what happened, the graph decides, and
 * what follows is written. With the graph in memory the step is decided without reading anything and written only if the
 * row still has its version; else, and when time matters, under the row's lock. Answers null when the execution is not
 * running any more or `plan` finds nothing to do.
 */
export async function runStep(
  deps: EngineDeps,
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

/** Null: it must be done under the lock. */
async function stepFromMemory(
  deps: EngineDeps,
  executionId: string,
  plan: StepPlanner,
): Promise<StepDone | null> {
  const loaded = deps.memory.known(executionId);
  if (!loaded || loaded.execution.phase !== 'running') return null;
  if (loaded.graph.flags.deadline !== null || loaded.graph.flags.cancel !== null) return null;
  const context = { execution: { ...loaded.execution }, loaded };
  const planned = plan(context);
  // Without news the memory may be the one that is old; what needs the time asks the database for it.
  if (!planned || !planned.happenings.every(({ kind }) => kind === 'succeeded')) return null;
  if (planned.happenings.length === 0 && !planned.claims?.length) return null;
  const decided = decideStep(context.execution, loaded, planned.happenings, planned.claims);
  if (decided.step.hasTimers || decided.step.refused.length > 0) return forgotten(deps, executionId);
  if (decided.step.outcome) endGraph(deps, context, decided, decided.step.outcome);
  const row = await deps.steps.write(decided.write);
  if (!row) return forgotten(deps, executionId);
  noteWritten(context.execution, loaded, decided.write, row);
  return { step: decided.step, context };
}

function forgotten(deps: EngineDeps, executionId: string): null {
  deps.memory.forget(executionId);
  return null;
}

async function stepUnderLock(
  deps: EngineDeps,
  executionId: string,
  plan: StepPlanner,
  options: StepOptions,
): Promise<StepDone | null> {
  options.onLock?.();
  return await deps.db.tx(async (tx) => {
    const execution = await lockExecution(tx, executionId);
    if (!execution?.graph_id || (execution.phase !== 'running' && !options.alsoEnded)) return null;
    const loaded = await deps.memory.load(tx, execution);
    const context = { execution, loaded };
    const planned = plan(context);
    if (!planned) return null;
    const step = await stepLocked(deps, tx, context, planned.happenings, planned.claims);
    await options.within?.(tx, context);
    return { step, context };
  });
}

/** One step of a locked execution, in the caller's transaction; when that fails the caller forgets the graph. */
export async function stepLocked(
  deps: StageDeps,
  tx: Tx<DB>,
  context: StepContext,
  happenings: readonly Happening[],
  claims: readonly ClaimRequest[] = [],
): Promise<Step> {
  const { execution, loaded } = context;
  const decided = decideStep(execution, loaded, happenings, claims);
  if (decided.step.outcome && execution.phase === 'running')
    endGraph(deps, context, decided, decided.step.outcome);
  else if (execution.has_left_runs && execution.phase !== 'running' && loaded.holders.size === 0)
    decided.write.changes.has_left_runs = false;
  const row = await writeStep(tx, decided.write);
  noteWritten(execution, loaded, decided.write, row);
  return decided.step;
}

/**
 * The graph ended: back to planning, or to the end when it was cancelled or nothing can follow. That it is the last one is
 * said in the same step, for only the model's owner has to be told then.
 */
export function endGraph(
  deps: StageDeps,
  { execution, loaded }: StepContext,
  { write }: DecidedStep,
  outcome: GraphOutcome,
): void {
  const { name, memo } = (write.changes.stage ?? execution.stage)!;
  const changes: StepChanges = {
    earlier_total: execution.earlier_total + loaded.graph.total,
    earlier_finished: execution.earlier_finished + loaded.graph.finished,
  };
  // Nothing else of the deployment begins beside what workers still run of it (executions/store/left-runs.sql.ts).
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

export function afterStep(deps: EngineDeps, { execution, loaded }: StepContext, step: Step): void {
  deps.memory.keep(loaded);
  if (step.hasStates) deps.wake.deliver(execution.id);
  deps.wake.events(execution.id);
  if (step.outcome) deps.wake.drive(execution.id);
  // It has ended, and the last of what it had left has come back: what waited for that may start.
  else if (execution.phase === 'ended' && loaded.holders.size === 0) deps.wake.dequeue();
  else if (loaded.timers.size > 0) deps.wake.timer(execution.id, Math.min(...loaded.timers.values()));
}
