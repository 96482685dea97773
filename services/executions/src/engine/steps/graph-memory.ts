import type { Tx } from '@baton/postgres';
import { type GraphState, graphFromRows } from '@baton/task-graph';
import { LRUCache } from 'lru-cache';
import type { AcceptedRows } from '../../executions/accepted-rows';
import type { TimedExecution } from '../../executions/store/executions.sql';
import type { InstanceStateRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { pendingStates } from '../store/instance-states.sql';
import { taskOfRow } from '../store/task-document';
import { readGraph, readTasks } from '../store/tasks.sql';
import { noteResult, type ResultSizes } from './result-room';

/**
 * Graphs in memory. The rows are the truth: a cached graph is used only while its version is the one of the locked
 * execution row, else it is read again. A step that changes one is `Uncommitted` until it is stored.
 */
export interface LoadedGraph {
  graphId: string;
  executionId: string;
  /** `executions.version` that this state belongs to. */
  version: number;
  /** A step is decided in it that is not stored: it belongs to no version. Only `Uncommitted` sets and ends that. */
  isAhead: boolean;
  graph: GraphState;
  /** Task ids by idx, and back. */
  ids: string[];
  idxById: Map<string, number>;
  /** Tasks that only the graph's document and its marks know. */
  rowless: Set<number>;
  /** Worker of each claimed run. */
  holders: Map<number, string>;
  /** Dispatched operations that nobody claimed yet, oldest first. */
  unclaimed: Set<number>;
  /** Epoch ms; key null = the deadline after a failure. */
  timers: Map<number | null, number>;
  /** The row that it belongs to, at `version`. */
  execution: TimedExecution;
  /** States in order that deployments may not know yet. */
  states: InstanceStateRow[];
  /** Number of the last state that deployments has applied while its row still is stored; 0: none. */
  deliveredSeq: number;
  /** Operations whose wake-up is on its way, and since when (monotonic ms). */
  announced: Map<number, number>;
  results: ResultSizes;
  /** What operations of the execution may call the API with; null until the first is leased. */
  token: string | null;
}

export interface GraphMemory {
  /** The execution's current graph at the version of its locked row. */
  load(tx: Tx<DB>, execution: TimedExecution): Promise<LoadedGraph>;
  /** What is in memory; its rows may have moved on. Null also while a step of it is being written. */
  known(executionId: string): LoadedGraph | null;
  /** The same, also while a step is being written: for what is only ever added to. */
  any(executionId: string): LoadedGraph | null;
  keep(loaded: LoadedGraph): void;
  /** The row was written without its graph, which fits it as before; one of another version is read anew. */
  moved(before: TimedExecution, after: TimedExecution): void;
  /** The graph, and the row where it was just accepted. */
  forget(executionId: string): void;
}

const MAX_GRAPHS = 500;
/** Bounds the memory of the cache: a task costs about 1 kB, without its result. */
const MAX_TASKS = 200_000;
const TASK_CHARS = 1_024;

export function createGraphMemory(accepted: Pick<AcceptedRows, 'forget'>): GraphMemory {
  const graphs = new LRUCache<string, LoadedGraph>({
    max: MAX_GRAPHS,
    maxSize: MAX_TASKS,
    sizeCalculation: (loaded) =>
      Math.max(1, loaded.ids.length + Math.ceil(loaded.results.total / TASK_CHARS)),
  });
  return {
    async load(tx, execution) {
      const cached = graphs.get(execution.id);
      const isCurrent = cached?.graphId === execution.graph_id && cached.version === execution.version;
      if (cached && isCurrent && !cached.isAhead) {
        cached.execution = execution;
        return cached;
      }
      const loaded = await readLoadedGraph(tx, execution);
      graphs.set(loaded.executionId, loaded);
      return loaded;
    },
    known(executionId) {
      const loaded = graphs.get(executionId);
      return loaded && !loaded.isAhead ? loaded : null;
    },
    any: (executionId) => graphs.get(executionId) ?? null,
    keep: (loaded) => void graphs.set(loaded.executionId, loaded),
    moved(before, after) {
      const loaded = graphs.get(after.id);
      if (!loaded) return;
      if (loaded.isAhead || loaded.version !== before.version) graphs.delete(after.id);
      else Object.assign(loaded, { version: after.version, execution: after });
    },
    forget(executionId) {
      graphs.delete(executionId);
      accepted.forget(executionId);
    },
  };
}

/** @throws Error when the execution has no stored graph: a bug, its phase said it had. */
async function readLoadedGraph(tx: Tx<DB>, execution: TimedExecution): Promise<LoadedGraph> {
  const head = await readGraph(tx, execution.graph_id!);
  if (!head) throw new Error(`execution ${execution.id}: graph ${execution.graph_id} is not stored`);
  const { tasks: rows, rowless } = await readTasks(tx, head, { withResults: true });
  const graph = graphFromRows(
    { name: head.name, waitAfterFailMs: head.wait_after_fail_ms, dryRun: head.is_dry_run },
    rows.map(taskOfRow),
    head.flags,
  );
  const loaded = newLoadedGraph(
    execution,
    head.id,
    graph,
    rows.map((row) => row.id),
    rowless,
  );
  for (const row of rows) {
    if (row.result !== null) noteResult(loaded.results, row.idx, JSON.stringify(row.result).length);
    if (row.state === 'sent' && row.worker_id === null) loaded.unclaimed.add(row.idx);
    if ((row.state === 'sent' || row.state === 'started') && row.worker_id !== null)
      loaded.holders.set(row.idx, row.worker_id);
    if (row.state === 'pending' && row.not_before !== null) loaded.timers.set(row.idx, row.not_before);
  }
  const deadline = head.flags.grace?.until ?? head.flags.deadline;
  if (deadline !== null && head.flags.ended === null) loaded.timers.set(null, deadline);
  loaded.states = await pendingStates(tx, execution.id);
  return loaded;
}

export function newLoadedGraph(
  execution: TimedExecution,
  graphId: string,
  graph: GraphState,
  ids: string[],
  rowless: Set<number> = new Set(),
): LoadedGraph {
  return {
    graphId,
    executionId: execution.id,
    version: execution.version,
    isAhead: false,
    graph,
    ids,
    idxById: new Map(ids.map((id, idx) => [id, idx])),
    rowless,
    holders: new Map(),
    unclaimed: new Set(),
    timers: new Map(),
    execution,
    states: [],
    deliveredSeq: 0,
    announced: new Map(),
    results: { total: 0, byIdx: new Map() },
    token: null,
  };
}
