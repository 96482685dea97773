import { inPieces, PIECE, type Pieces } from '@baton/kernel';
import type { TaskSpec } from '@baton/task-graph';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';
import type { GraphMemory } from '../steps/graph-memory';
import { taskIdOf } from '../store/task-document';
import { type GraphView, readGraphView } from '../store/task-views.sql';
import { type GraphHead, graphsOfExecution } from './graphs-of-execution';
import { isShownWhole, presentOperation, type Shown, shownTask, type WholeTask } from './list-operations';

export type StoredGraphsDeps = Pick<Ports, 'db'> & { memory: Pick<GraphMemory, 'any'> };

/** A part of the operations of all graphs; their numbering goes through all graphs, in the order of graphs and tasks. */
export interface PageWish {
  offset: number;
  /** Null: all of them. */
  size: number | null;
}

type Operation = ReturnType<typeof presentOperation>;

interface ShownGraph {
  id: string | null;
  name: string;
  created_at: string | null;
  ended: string | null;
  operations: Operation[];
}

/** Operations of one page, below the heads of all graphs. */
export interface PageOfOperations {
  /** In all graphs. */
  total_operations: number;
  /** Operations on all pages together: with `since`, only the changed ones. */
  matched_operations: number;
  /** State -> how many operations of all graphs are in it. */
  counts: Record<string, number>;
  graphs: ShownGraph[];
}

/** Creates an empty page, and `holds`, which counts an operation and returns whether the page holds it. */
function newPage({ offset, size }: PageWish) {
  const end = size === null ? Number.POSITIVE_INFINITY : offset + size;
  const page: PageOfOperations = { total_operations: 0, matched_operations: 0, counts: {}, graphs: [] };
  return {
    page,
    holds(state: string, isMatched: boolean): boolean {
      page.total_operations++;
      page.counts[state] = (page.counts[state] ?? 0) + 1;
      if (!isMatched) return false;
      const at = page.matched_operations++;
      return at >= offset && at < end;
    },
  };
}

/** Returns the page of graphs whose operations are all in memory. */
export function cutPage(graphs: readonly ShownGraph[], wish: PageWish): PageOfOperations {
  const { page, holds } = newPage(wish);
  for (const graph of graphs)
    page.graphs.push({ ...graph, operations: graph.operations.filter(({ state }) => holds(state, true)) });
  return page;
}

/**
 * Returns one page of the stored operations of an execution: those that have changed since a version, or all. A changed operation
 * stays changed: while an execution runs, the pages of one `since` may repeat an operation, but leave none out.
 */
export async function pageOfGraphs(
  deps: StoredGraphsDeps,
  execution: ExecutionRow,
  wish: PageWish & { since: number | null },
  shown: Shown,
): Promise<PageOfOperations> {
  const { page, holds } = newPage(wish);
  for (const head of await graphsOfExecution(deps.db.query, execution.id)) {
    const { id, name, created_at, flags } = head;
    const view = await readGraphView(
      deps.db.query,
      { ...head, tasks: head.hasDocument ? 'load' : null },
      { since: wish.since, document: documentInMemory(deps, head) },
    );
    const operations = await inPieces(
      operationsIn(view, flags.ended !== null, holds, (task) =>
        presentOperation(task, view.idOf, execution, shown),
      ),
    );
    page.graphs.push({ id, name, created_at, ended: flags.ended, operations });
  }
  return page;
}

/** Returns the operations of one graph on the page, in pieces: ten thousand operations take long, so other work runs in between. */
function* operationsIn(
  view: GraphView,
  hasEnded: boolean,
  holds: (state: string, isMatched: boolean) => boolean,
  present: (task: WholeTask) => Operation,
): Pieces<Operation[]> {
  const operations: Operation[] = [];
  for (let idx = 0; idx < view.length; idx++) {
    if (idx % PIECE === PIECE - 1) yield;
    const { isCode, hasChanged, state } = shownTask(view.glance(idx), hasEnded);
    if (isCode || !holds(state, hasChanged)) continue;
    const task = shownTask(view.task(idx), hasEnded);
    if (isShownWhole(task)) operations.push(present(task));
  }
  return operations;
}

/**
 * Returns the tasks of a graph's document from memory, where this replica drives the execution; null: not in memory. It saves
 * unpacking the document: for ten thousand tasks that blocks the event loop.
 */
export function documentInMemory(
  { memory }: StoredGraphsDeps,
  { id, execution_id, hasDocument }: GraphHead,
): TaskSpec[] | null {
  const loaded = memory.any(execution_id);
  if (!hasDocument || loaded?.graphId !== id) return null;
  const { ids, graph } = loaded;
  // Tasks that came later stand behind the tasks of the document, and have ids of their own.
  const length = ids.findIndex((known, idx) => known !== taskIdOf(id, idx));
  return graph.nodes.slice(0, length < 0 ? ids.length : length).map(({ spec }) => spec);
}
