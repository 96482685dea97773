import { isoInstant } from '@baton/kernel';
import { tasksOfGraph } from '../../../../services/executions/src/engine/store/task-document';
import type { Place, Placed } from '../../../../services/executions/src/store/round.sql';
import type { StoredTask } from '../../../../services/executions/src/store/rows';
import {
  copyOf,
  lockRow,
  type MemoryDatabase,
  type MemoryExecution,
  type MemoryGraph,
  type MemoryTask,
  type MemoryTx,
} from '../database';

/** Argument of the store's functions: a transaction, or a reader outside of one. */
type Handle = object;

export const memoryTx = (tx: Handle): MemoryTx => tx as unknown as MemoryTx;
export const databaseOf = (reader: Handle): MemoryDatabase =>
  (reader as { database: MemoryDatabase }).database;

/** Returns the execution as `reader` sees it: a transaction sees its own writes. */
export function seenBy(reader: Handle, id: string): MemoryExecution | undefined {
  const held = (reader as Partial<MemoryTx>).held?.get(id);
  return held?.seen ?? databaseOf(reader).executions.get(id);
}

export function* allSeenBy(reader: Handle): Generator<MemoryExecution> {
  for (const id of databaseOf(reader).executions.keys()) yield seenBy(reader, id)!;
}

export function ofGraph(reader: Handle, graphId: string): MemoryExecution | undefined {
  for (const execution of allSeenBy(reader))
    if (execution.graphs.some(({ id }) => id === graphId)) return execution;
  return undefined;
}

/** Returns the task rows of a graph. */
export function rowsOf(execution: MemoryExecution, graphId: string): MemoryTask[] {
  return [...execution.tasks.values()]
    .filter((task) => task.graph_id === graphId)
    .sort((a, b) => a.idx - b.idx);
}

/**
 * Tasks of a document, in each state that its marks can give them. Documents are never changed in place, so each is parsed once.
 */
const documents = new WeakMap<Buffer, Record<'pending' | 'started' | 'succeeded', StoredTask>[]>();

/** Returns all tasks of a graph, with or without a row. */
export function tasksOf(execution: MemoryExecution, graph: MemoryGraph): StoredTask[] {
  const rows = rowsOf(execution, graph.id);
  if (graph.tasks === null) return rows;
  let known = documents.get(graph.tasks);
  if (!known) {
    const pending = tasksOfGraph({ ...graph, execution_id: execution.row.id }, [], []);
    known = pending.map((task) => ({
      pending: task,
      started: { ...task, state: 'started' },
      succeeded: { ...task, state: 'succeeded' },
    }));
    documents.set(graph.tasks, known);
  }
  const tasks = known.map(({ pending }) => pending);
  for (const { started, succeeded } of graph.marks) {
    for (const idx of started) tasks[idx] = known[idx]!.started;
    for (const idx of succeeded) tasks[idx] = known[idx]!.succeeded;
  }
  for (const row of rows) tasks[row.idx] = row;
  return tasks;
}

export function taskWithId(
  reader: Handle,
  id: string,
): { execution: MemoryExecution; task: MemoryTask } | null {
  for (const execution of allSeenBy(reader)) {
    const task = execution.tasks.get(id);
    if (task) return { execution, task };
  }
  return null;
}

/** Returns the next rows of a round: after `place`, and only rows that existed when the round began. Instants are ISO texts. */
export function batchOf<T extends { id: string; at: string }>(
  reader: Handle,
  rows: readonly T[],
  limit: number,
  place: Place | null,
): (T & Placed)[] {
  const now = isoInstant(databaseOf(reader).nowMs());
  const order = (a: { id: string; at: string }, b: { id: string; at: string }): number =>
    a.at < b.at || (a.at === b.at && a.id < b.id) ? -1 : 1;
  return rows
    .filter((row) => place === null || (order(place, row) < 0 && row.at <= place.until))
    .sort(order)
    .slice(0, limit)
    .map((row) => ({ ...row, now }));
}

/** Simulates the duration of one statement. */
export const statement = (reader: Handle): Promise<void> => databaseOf(reader).world.pause(0.3);

/** Locks the execution until the transaction ends. The transaction then sees the state after it got the lock. */
export async function hold(tx: MemoryTx, id: string): Promise<MemoryExecution | null> {
  const held = tx.held.get(id);
  if (held) return held.seen;
  const release = await lockRow(tx.database, id);
  const execution = tx.database.executions.get(id);
  if (!execution) {
    release();
    return null;
  }
  const seen = copyOf(execution);
  tx.held.set(id, { seen, changes: [], release });
  return seen;
}
