import type { ExecutionGraph, Task, TaskGraph } from '../api/answers';

/**
 * Merges changes into a known graph. `delta` contains all graphs, but only their changed tasks. Unchanged tasks, and lists
 * without changes, keep their object identity.
 */
export function mergeGraph(known: ExecutionGraph, delta: ExecutionGraph): ExecutionGraph {
  if (delta.is_whole) return delta;
  const before = new Map(known.graphs.map((graph) => [graph.id, graph]));
  return { ...delta, graphs: delta.graphs.map((graph) => mergeTasks(before.get(graph.id), graph)) };
}

function mergeTasks(known: TaskGraph | undefined, delta: TaskGraph): TaskGraph {
  if (!known) return delta;
  if (delta.operations.length === 0) return { ...delta, operations: known.operations };
  const changed = new Map<string, Task>(delta.operations.map((task) => [task.id, task]));
  const operations = known.operations.map((task) => {
    const now = changed.get(task.id);
    changed.delete(task.id);
    return now ?? task;
  });
  // The remaining tasks are new; they keep the order of the manager.
  operations.push(...changed.values());
  return { ...delta, operations };
}
