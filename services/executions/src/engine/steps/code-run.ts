import type { executionsRpc } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { GraphState } from '@baton/task-graph';
import type { LoadedGraph } from './graph-memory';

export type WorkflowRun = executionsRpc.WorkflowRun;

/** Returns whether this worker still holds this run of the workflow code. */
export function isCodeRun(loaded: LoadedGraph, run: WorkflowRun): boolean {
  return (
    loaded.graph.hasCode &&
    loaded.ids[0] === run.taskId &&
    loaded.graph.nodes[0]?.attempt === run.attempt &&
    loaded.graph.nodes[0].state === 'started' &&
    loaded.holders.get(0) === run.workerId
  );
}

export function staleRun(): AppError {
  return new AppError('stale_attempt_error', 'This run of the workflow is not the current one any more');
}

const keysOfGraphs = new WeakMap<GraphState, { upTo: number; keys: Map<string, number> }>();

/** Returns the idx of the first task of each key in a graph. */
export function keysOf(graph: GraphState): ReadonlyMap<string, number> {
  let known = keysOfGraphs.get(graph);
  if (!known) keysOfGraphs.set(graph, (known = { upTo: 0, keys: new Map() }));
  for (; known.upTo < graph.nodes.length; known.upTo++) {
    const { key } = graph.nodes[known.upTo]!.spec;
    if (key !== undefined && !known.keys.has(key)) known.keys.set(key, known.upTo);
  }
  return known.keys;
}
