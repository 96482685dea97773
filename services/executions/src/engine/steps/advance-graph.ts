import { type Clock, type Pieces, systemClock, whole } from '@baton/kernel';
import { advance, advanceInPieces, type Decision, type Happening } from '@baton/task-graph';
import { newEventOf } from '../../events/domain/graph-events';
import type { AgentLimits } from '../../ports';
import type { InstanceStateRow } from '../../store/rows';
import { emptyWrite, type StepChanges, type StepWrite } from '../store/step-write';
import type { LoadedGraph } from './graph-memory';
import { taskWrites } from './task-writes';
import { noteClaimed, noteUnclaimed, openTo } from './unclaimed';
import { markAhead, type Step, type StepContext, type Uncommitted, uncommitted } from './uncommitted';
import { wakeUpsOf } from './wake-ups';

/** A worker that takes ready operations in the same step, and how many it takes. */
export interface ClaimRequest {
  workerId: string;
  room: number;
  /** Operation that is taken first when it is free; one that the worker holds already takes a place of the room. */
  preferred: number | null;
}

/** Returns whether the worker of a claim already holds the operation that the claim names. */
export const holdsPreferred = (loaded: LoadedGraph, { workerId, preferred }: ClaimRequest): boolean =>
  preferred !== null && loaded.holders.get(preferred) === workerId;

/** What deciding a step needs besides the graph. */
export interface DecideDeps {
  memory: Parameters<typeof uncommitted>[0];
  agents: AgentLimits;
}

/** Decides one step of an execution's graph in memory; returns the step with its write. */
export function decideStep(
  deps: DecideDeps,
  context: StepContext,
  happenings: readonly Happening[],
  claims: readonly ClaimRequest[] = [],
  clock: Pick<Clock, 'monotonic'> = systemClock,
): Uncommitted {
  return whole(decideInPieces(deps, context, happenings, claims, clock));
}

/** As `decideStep`, in pieces, for a graph that no other code can see yet. */
export function* decideInPieces(
  deps: DecideDeps,
  context: StepContext,
  happenings: readonly Happening[],
  claims: readonly ClaimRequest[] = [],
  clock: Pick<Clock, 'monotonic'> = systemClock,
): Pieces<Uncommitted> {
  const { execution, loaded } = context;
  const flagsBefore = JSON.stringify(loaded.graph.flags);
  markAhead(loaded);
  const first = yield* advanceInPieces(loaded.graph, happenings, execution.now_ms);
  noteDispatch(loaded, first);
  const claimed = claims.map((claim) => (first.outcome ? [] : pick(loaded, claim)));
  const starts = claimed
    .flat()
    .map((idx): Happening => ({ kind: 'started', idx, attempt: loaded.graph.nodes[idx]!.attempt }));
  const second = starts.length > 0 ? advance(loaded.graph, starts, execution.now_ms) : null;
  const decisions = second ? [first, second] : [first];
  for (const happening of happenings)
    if (happening.kind === 'due' || happening.kind === 'wake') loaded.timers.delete(happening.idx);
  for (const decision of decisions) noteTimers(loaded, decision);

  yield;
  const areFlagsChanged = JSON.stringify(loaded.graph.flags) !== flagsBefore;
  const { step, write } = describe(deps, context, decisions, areFlagsChanged, clock.monotonic());
  yield;
  return uncommitted(deps.memory, context, { ...step, claimed }, write);
}

/** Returns the changes that decisions bring to the graph, and the resulting changes of the execution's row. */
export function describe(
  { agents }: Pick<DecideDeps, 'agents'>,
  { execution, loaded }: StepContext,
  decisions: readonly Decision[],
  areFlagsChanged: boolean,
  nowMs: number,
): { step: Step; write: StepWrite } {
  const outcome = decisions.find((decision) => decision.outcome)?.outcome ?? null;
  const states = decisions.flatMap(statesOf);
  const counters = decisions.at(-1)!.counters;
  const changes: StepChanges = {};
  // Late answers to a stopped graph do not change the counters: its operations are counted already.
  if (execution.phase === 'running') {
    changes.total_operations = execution.earlier_total + counters.total;
    changes.finished_operations = execution.earlier_finished + counters.finished;
  }
  const write: StepWrite = {
    ...emptyWrite(execution),
    changes,
    // A late answer to an ended execution keeps its `wake_at`, which marks an owed end (engine/commands/tell-owed-ends.ts).
    wakeAt: execution.phase === 'ended' ? execution.wake_at : nextWake(loaded),
    flags: areFlagsChanged ? loaded.graph.flags : null,
    ...taskWrites(agents, execution, loaded, decisions),
    events: decisions.flatMap((decision) => decision.events.map(newEventOf)),
    states,
    deliveredSeq: loaded.deliveredSeq,
    outbox: outcome ? [] : wakeUpsOf(execution, loaded, nowMs),
  };
  const step: Step = {
    claimed: [],
    outcome,
    refused: decisions.flatMap((d) => d.refused),
    hasStates: states.length > 0,
    hasTimers: loaded.graph.flags.deadline !== null || decisions.some((d) => d.timers.length > 0),
  };
  return { step, write };
}

export function noteDispatch(loaded: LoadedGraph, decision: Decision): void {
  for (const change of decision.changes) {
    // The previous holder does not run the task any more: it ended, or it was lost and gets a new attempt.
    loaded.holders.delete(change.idx);
    noteClaimed(loaded, change.idx);
  }
  for (const idx of decision.dispatch) noteUnclaimed(loaded, idx);
}

/** Returns the operations that the worker takes, the preferred one first, and removes them from the unclaimed ones. */
function pick(loaded: LoadedGraph, claim: ClaimRequest): number[] {
  const taken: number[] = [];
  const room = holdsPreferred(loaded, claim) ? claim.room - 1 : claim.room;
  const take = (idx: number) => {
    noteClaimed(loaded, idx);
    loaded.holders.set(idx, claim.workerId);
    taken.push(idx);
  };
  const open = openTo(loaded, claim.workerId);
  if (room > 0 && claim.preferred !== null && open.has(claim.preferred)) take(claim.preferred);
  for (const idx of open) {
    if (taken.length >= room) break;
    take(idx);
  }
  return taken;
}

export function noteTimers(loaded: LoadedGraph, decision: Decision): void {
  for (const timer of decision.timers) loaded.timers.set(timer.idx, timer.at);
  if (decision.outcome) loaded.timers.clear();
}

function nextWake(loaded: LoadedGraph): string | null {
  if (loaded.timers.size === 0) return null;
  return new Date(Math.min(...loaded.timers.values())).toISOString();
}

function statesOf(decision: Decision): Omit<InstanceStateRow, 'seq'>[] {
  return [
    ...decision.instanceStates.map(({ nodeInstanceId, state }) => ({
      node_instance_id: nodeInstanceId,
      state,
      edits: null,
    })),
    ...decision.systemProperties.map(({ nodeInstanceId, edits }) => ({
      node_instance_id: nodeInstanceId,
      state: null,
      edits,
    })),
  ];
}
