import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { TaskRow, TaskSpec } from '@baton/task-graph';
import type { StoredGraph, StoredTask } from './rows';

/**
 * The tasks of a graph that have no rows: their specifications in one document, what happened to them in marks. A row
 * holds a task as a whole, and counts instead.
 */

/** Local tasks, by idx, that just started or succeeded in one step. */
export interface TaskMarks {
  started: number[];
  succeeded: number[];
}

/** Bytes, as base64. */
export function packTasks(tasks: readonly TaskSpec[]): string {
  return deflateRawSync(JSON.stringify(tasks), { level: 1 }).toString('base64');
}

function unpackTasks(bytes: Uint8Array): TaskSpec[] {
  return JSON.parse(inflateRawSync(bytes).toString('utf8')) as TaskSpec[];
}

/** The id of a task of the document: that of its graph with the number in its last four bytes. */
export function taskIdOf(graphId: string, idx: number): string {
  return graphId.slice(0, -8) + idx.toString(16).padStart(8, '0');
}

/** Every task of a graph in order of idx; `marks` oldest first. */
export function tasksOfGraph(
  head: Pick<StoredGraph, 'id' | 'execution_id' | 'created_at' | 'tasks'>,
  marks: readonly TaskMarks[],
  rows: readonly StoredTask[],
): StoredTask[] {
  if (head.tasks === null) return [...rows];
  const tasks = unpackTasks(head.tasks).map(({ idx, ...spec }): StoredTask => {
    const { id: graph_id, execution_id, created_at } = head;
    const id = taskIdOf(graph_id, idx);
    return { ...UNTOUCHED, id, graph_id, execution_id, idx, spec: spec as StoredTask['spec'], created_at };
  });
  for (const { started, succeeded } of marks) {
    for (const idx of started) tasks[idx]!.state = 'started';
    for (const idx of succeeded) tasks[idx]!.state = 'succeeded';
  }
  for (const row of rows) tasks[row.idx] = row;
  return tasks;
}

/** What a task is that nothing has happened to. */
export const UNTOUCHED = {
  state: 'pending' as const,
  attempt: 0,
  losses: 0,
  retries: 0,
  not_before: null,
  error: null,
  result: null,
  deferral: null,
  worker_id: null,
  lease_until: null,
  version: 0,
};

/** A stored task as the graph takes it. */
export function taskOfRow(row: StoredTask): TaskRow {
  return {
    ...row.spec,
    idx: row.idx,
    state: row.state,
    attempt: row.attempt,
    losses: row.losses,
    retries: row.retries,
    notBefore: row.not_before,
    error: row.error,
    result: row.result,
    deferral: row.deferral,
  } as TaskRow;
}
