import { newId } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import { advance, type Decision, type GraphOutcome, type Happening, type TaskRow } from '@baton/task-graph';
import { appendEvents } from '../store/events.sql';
import { type LockedExecution, updateExecution } from '../store/executions.sql';
import { appendStates } from '../store/instance-states.sql';
import type { InstanceStateRow } from '../store/rows';
import type { DB } from '../store/tables.gen';
import { insertTasks, type TaskWrite, updateDeps, updateGraphFlags, updateTasks } from '../store/tasks.sql';
import { newEventOf } from './graph-events';
import type { LoadedGraph } from './graph-memory';

/** Which worker takes ready operations in the same step, and how many. */
export interface ClaimRequest {
  workerId: string;
  room: number;
  /** Taken first when it is free. */
  preferred: number | null;
}

export interface Step {
  /** Operations that the claiming worker now holds. */
  claimed: number[];
  /** Operations that became ready and nobody holds. */
  ready: number[];
  outcome: GraphOutcome | null;
  refused: { idx: number; attempt: number }[];
  hasStates: boolean;
  lastEventSeq: number;
}

const LEASE_MS = 15_000;
export const leaseMs = LEASE_MS;

/**
 * One step of a locked execution's graph: decide, then write the delta, all in the caller's transaction. The caller
 * keeps the graph in memory after the commit and forgets it when the transaction fails.
 */
export async function stepGraph(
  tx: Tx<DB>,
  execution: LockedExecution,
  loaded: LoadedGraph,
  happenings: readonly Happening[],
  claim: ClaimRequest | null = null,
  isNewGraph = false,
): Promise<Step> {
  const flagsBefore = JSON.stringify(loaded.graph.flags);
  // Until the delta is written the graph in memory fits no version: a failed or repeated transaction reads it anew.
  loaded.version = -1;
  const first = advance(loaded.graph, happenings, execution.now_ms);
  noteDispatch(loaded, first);
  const claimed = claim && !first.outcome ? pick(loaded, claim) : [];
  const starts = claimed.map(
    (idx): Happening => ({ kind: 'started', idx, attempt: loaded.graph.nodes[idx]!.attempt }),
  );
  const second = starts.length > 0 ? advance(loaded.graph, starts, execution.now_ms) : null;
  const decisions = second ? [first, second] : [first];
  for (const decision of decisions) noteTimers(loaded, decision);
  for (const happening of happenings) if (happening.kind === 'due') loaded.timers.delete(happening.idx);

  const areFlagsChanged = JSON.stringify(loaded.graph.flags) !== flagsBefore;
  return {
    claimed,
    ...(await writeDecisions(tx, execution, loaded, decisions, { isNewGraph, areFlagsChanged })),
  };
}

/** Writes the delta of decisions and what follows from it for the execution's row; the graph fits its rows again. */
export async function writeDecisions(
  tx: Tx<DB>,
  execution: LockedExecution,
  loaded: LoadedGraph,
  decisions: readonly Decision[],
  options: { isNewGraph: boolean; areFlagsChanged: boolean },
): Promise<Omit<Step, 'claimed'>> {
  await writeTasks(tx, execution, loaded, decisions, options.isNewGraph);
  if (options.areFlagsChanged) await updateGraphFlags(tx, loaded.graphId, loaded.graph.flags);
  const events = decisions.flatMap((decision) => decision.events.map(newEventOf));
  const lastEventSeq = await appendEvents(tx, execution, events);
  const states = decisions.flatMap(statesOf);
  const lastStateSeq = await appendStates(tx, execution, states);
  const counters = decisions.at(-1)!.counters;
  loaded.version = execution.version + 1;
  await updateExecution(tx, execution.id, {
    version: loaded.version,
    // Late answers to a stopped graph: it is counted already.
    ...(execution.phase === 'running' && {
      total_operations: execution.earlier_total + counters.total,
      finished_operations: execution.earlier_finished + counters.finished,
    }),
    last_event_seq: lastEventSeq,
    last_state_seq: lastStateSeq,
    wake_at: nextWake(loaded),
  });
  execution.version = loaded.version;
  execution.last_event_seq = lastEventSeq;
  execution.last_state_seq = lastStateSeq;
  return {
    ready: decisions.flatMap((d) => d.dispatch).filter((idx) => loaded.unclaimed.has(idx)),
    outcome: decisions.find((decision) => decision.outcome)?.outcome ?? null,
    refused: decisions.flatMap((d) => d.refused),
    hasStates: states.length > 0,
    lastEventSeq,
  };
}

export function noteDispatch(loaded: LoadedGraph, decision: Decision): void {
  for (const change of decision.changes) {
    // Whoever held it is through with it: it ended, or it was lost and gets a new attempt.
    loaded.holders.delete(change.idx);
    loaded.unclaimed.delete(change.idx);
  }
  for (const idx of decision.dispatch) loaded.unclaimed.add(idx);
}

/** The operations that the worker takes, the preferred one first; they leave the unclaimed ones. */
function pick(loaded: LoadedGraph, claim: ClaimRequest): number[] {
  const taken: number[] = [];
  const take = (idx: number) => {
    loaded.unclaimed.delete(idx);
    loaded.holders.set(idx, claim.workerId);
    taken.push(idx);
  };
  if (claim.room > 0 && claim.preferred !== null && loaded.unclaimed.has(claim.preferred))
    take(claim.preferred);
  for (const idx of loaded.unclaimed) {
    if (taken.length >= claim.room) break;
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

async function writeTasks(
  tx: Tx<DB>,
  execution: LockedExecution,
  loaded: LoadedGraph,
  decisions: readonly Decision[],
  isNewGraph: boolean,
): Promise<void> {
  const version = execution.version + 1;
  const before = loaded.ids.length;
  const count = loaded.graph.nodes.length;
  for (let idx = before; idx < count; idx++) {
    const id = newId(execution.now_ms);
    loaded.ids.push(id);
    loaded.idxById.set(id, idx);
  }
  const written = (idx: number): TaskWrite => ({
    id: loaded.ids[idx]!,
    task: rowOfNode(loaded, idx),
    workerId: loaded.holders.get(idx) ?? null,
    leaseMs: loaded.holders.has(idx) ? LEASE_MS : null,
  });
  const range = (from: number) => Array.from({ length: count - from }, (_, i) => written(from + i));
  if (isNewGraph) {
    await insertTasks(tx, { graphId: loaded.graphId, executionId: execution.id, version }, range(0));
    return;
  }
  const changed = new Set(decisions.flatMap((d) => d.changes.map((change) => change.idx)));
  await insertTasks(tx, { graphId: loaded.graphId, executionId: execution.id, version }, range(before));
  await updateTasks(tx, version, [...changed].filter((idx) => idx < before).map(written));
  const rewired = decisions.flatMap((d) => d.changes.filter((change) => change.deps !== undefined));
  for (const { idx, deps } of rewired) if (idx < before) await updateDeps(tx, loaded.ids[idx]!, deps!);
}

function rowOfNode(loaded: LoadedGraph, idx: number): TaskRow {
  const node = loaded.graph.nodes[idx]!;
  return {
    ...node.spec,
    state: node.state,
    attempt: node.attempt,
    losses: node.losses,
    retries: node.retries,
    notBefore: node.notBefore,
    error: node.error,
    result: node.result,
  } as TaskRow;
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
