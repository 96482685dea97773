import { addressOfWorker } from '@baton/contracts';
import { newId } from '@baton/kernel';
import type { Decision, GraphState } from '@baton/task-graph';
import type { LockedExecution } from '../../executions/store/executions.sql';
import type { AgentLimits } from '../../ports';
import type { StepWrite, TaskWrite } from '../store/step-write';
import type { TaskMarks } from '../store/task-document';
import type { LoadedGraph } from './graph-memory';

/** How long a worker of the manager holds an operation without renewing its lease. */
export const leaseMs = 15_000;

/** Returns how long a lease of this worker lasts, ms: an agent goes on with its operations while it cannot reach the manager. */
export const leaseMsOf = (agents: AgentLimits, workerId: string): number =>
  addressOfWorker(workerId) === null ? leaseMs : agents.leaseMs;

/**
 * Returns the task rows and marks that a step writes. A task of the graph's document gets its row when a mark cannot express its
 * change. Tasks that came later (retries, work of code) have no id yet, and get their row at once.
 */
export function taskWrites(
  agents: AgentLimits,
  execution: LockedExecution,
  loaded: LoadedGraph,
  decisions: readonly Decision[],
): Pick<StepWrite, 'newTasks' | 'tasks' | 'marks'> {
  const known = loaded.ids.length;
  for (let idx = known; idx < loaded.graph.nodes.length; idx++) {
    const id = newId(execution.now_ms);
    loaded.ids.push(id);
    loaded.idxById.set(id, idx);
  }
  const marks: TaskMarks = { started: [], succeeded: [] };
  const newTasks: TaskWrite[] = [];
  const tasks: TaskWrite[] = [];
  for (const idx of new Set(decisions.flatMap((d) => d.changes.map((change) => change.idx)))) {
    if (idx >= known) continue;
    if (!loaded.rowless.has(idx)) {
      tasks.push(writeOf(agents, loaded, idx));
      continue;
    }
    const node = loaded.graph.nodes[idx]!;
    if (isMark(node)) marks[node.state].push(idx);
    else {
      loaded.rowless.delete(idx);
      newTasks.push(writeOf(agents, loaded, idx));
    }
  }
  for (let idx = known; idx < loaded.graph.nodes.length; idx++) newTasks.push(writeOf(agents, loaded, idx));
  return { newTasks, tasks, marks: marks.started.length + marks.succeeded.length > 0 ? marks : null };
}

type TaskNode = GraphState['nodes'][number];

/** Returns whether a mark can express the change. Most changes are tasks without a worker that start or succeed. */
function isMark(node: TaskNode): node is TaskNode & { state: 'started' | 'succeeded' } {
  return (
    (node.state === 'started' || node.state === 'succeeded') &&
    node.spec.kind !== 'operation' &&
    node.attempt + node.losses + node.retries === 0 &&
    node.notBefore === null &&
    node.error === null &&
    node.result === null
  );
}

function writeOf(agents: AgentLimits, loaded: LoadedGraph, idx: number): TaskWrite {
  const holder = loaded.holders.get(idx) ?? null;
  const node = loaded.graph.nodes[idx]!;
  return {
    id: loaded.ids[idx]!,
    spec: node.spec,
    status: {
      state: node.state,
      attempt: node.attempt,
      losses: node.losses,
      retries: node.retries,
      notBefore: node.notBefore,
      error: node.error,
      result: node.result,
      deferral: node.deferral,
    },
    workerId: holder,
    leaseMs: holder === null ? null : leaseMsOf(agents, holder),
  };
}
