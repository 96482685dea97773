import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib';
import { inPieces, PIECE, type Pieces } from '@baton/kernel';
import type { TaskRow, TaskSpec } from '@baton/task-graph';
import type { StoredGraph, StoredTask } from '../../store/rows';

/**
 * The tasks of a graph that have no rows: one document holds their specifications, and marks record their progress. A task that
 * has a row is stored whole in that row, and the row counts instead.
 */

/** Local tasks, by idx, that just started or succeeded in one step. */
export interface TaskMarks {
  started: number[];
  succeeded: number[];
}

const FAST = { level: 1 };
/** A text this long takes milliseconds to compress: another thread does it. */
const LARGE_BYTES = 512 * 1024;
const deflateElsewhere = promisify<Uint8Array, { level: number }, Buffer>(deflateRaw);

/** Returns the compressed tasks as base64. */
export async function packTasks(tasks: readonly TaskSpec[]): Promise<string> {
  const text = await inPieces(textOf(tasks));
  const packed = text.length < LARGE_BYTES ? deflateRawSync(text, FAST) : await deflateElsewhere(text, FAST);
  return packed.toString('base64');
}

/** The JSON of the tasks. */
function* textOf(tasks: readonly TaskSpec[]): Pieces<Buffer> {
  if (tasks.length <= PIECE) return Buffer.from(JSON.stringify(tasks));
  const parts: Buffer[] = [];
  for (let at = 0; at < tasks.length; at += PIECE) {
    const text = JSON.stringify(tasks.slice(at, at + PIECE));
    parts.push(Buffer.from(`${at === 0 ? '[' : ','}${text.slice(1, -1)}`));
    yield;
  }
  return Buffer.concat([...parts, Buffer.from(']')]);
}

export function unpackTasks(bytes: Uint8Array): TaskSpec[] {
  return JSON.parse(inflateRawSync(bytes).toString('utf8')) as TaskSpec[];
}

/** Returns the id of a task of the document: the id of its graph with `idx` in the last four bytes. */
export function taskIdOf(graphId: string, idx: number): string {
  return graphId.slice(0, -8) + idx.toString(16).padStart(8, '0');
}

/** Returns every task of a graph in order of idx; `marks` oldest first. */
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

/** Status of a task that nothing has happened to. */
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

/** Converts a stored task to the form that the graph takes. */
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
