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
import { noteUnclaimed, type Unclaimed } from './unclaimed';

/**
 * A graph in the cache. The rows are the truth: a cached graph is used only while its version is the one of the locked execution
 * row, else it is read again. A step that changes it is `Uncommitted` until it is stored.
 */
export interface LoadedGraph extends Unclaimed {
  graphId: string;
  executionId: string;
  /** `executions.version` that this state belongs to. */
  version: number;
  /** Whether a decided step is not stored yet: the graph then belongs to no version. Only `Uncommitted` sets and clears this. */
  isAhead: boolean;
  graph: GraphState;
  /** Task ids by idx, and back. */
  ids: string[];
  idxById: Map<string, number>;
  /** Tasks without a row: stored only in the graph's document and its marks. */
  rowless: Set<number>;
  /** Worker of each claimed run. */
  holders: Map<number, string>;
  /** Due times by idx, epoch ms; key null: the deadline after a failure. */
  timers: Map<number | null, number>;
  /** The execution's row at `version`. */
  execution: TimedExecution;
  /** States that deployments may not know yet, in order. */
  states: InstanceStateRow[];
  /** Number of the last state that deployments has applied while its row still is stored; 0: none. */
  deliveredSeq: number;
  /** Operations whose wake-up is on its way, with the time of sending (monotonic ms). */
  announced: Map<number, number>;
  /** The same for operations of agents. */
  announcedToAgents: Map<number, number>;
  results: ResultSizes;
  /** Tokens with which operations of the execution may call the API; null until the first such operation is leased. */
  tokens: { worker: string | null };
}

export interface GraphMemory {
  /** Returns the execution's current graph at the version of its locked row. */
  load(tx: Tx<DB>, execution: TimedExecution): Promise<LoadedGraph>;
  /** Returns the graph in memory; its rows may have moved on. Null also while a step of it is being written. */
  known(executionId: string): LoadedGraph | null;
  /** As `known`, but also while a step is being written: for readers of parts that only grow. */
  any(executionId: string): LoadedGraph | null;
  keep(loaded: LoadedGraph): void;
  /** Notes that the row was written without its graph, which still fits it; a graph of another version is dropped. */
  moved(before: TimedExecution, after: TimedExecution): void;
  /** Drops the graph, and the row of an execution that was just accepted. */
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

/** @throws Error when the execution has no stored graph: this is a bug, since its phase needs one. */
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
    if (row.state === 'sent' && row.worker_id === null) noteUnclaimed(loaded, row.idx);
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
    unclaimedByAgent: new Map(),
    timers: new Map(),
    execution,
    states: [],
    deliveredSeq: 0,
    announced: new Map(),
    announcedToAgents: new Map(),
    results: { total: 0, byIdx: new Map() },
    tokens: { worker: null },
  };
}
