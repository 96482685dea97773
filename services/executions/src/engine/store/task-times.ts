import type { TaskMarks } from './task-document';

/** A row of `task_marks`. `created_at` is null where the previous release wrote the row. */
export interface StoredMarks {
  marks: TaskMarks;
  /** Version of the execution after the step. */
  version: number;
  created_at: string | null;
}

/** Start and end of a task, ISO texts; null: it has not begun or ended, or the time was not recorded. */
export interface TaskTimes {
  started_at: string | null;
  ended_at: string | null;
}

/** State and times of a task without a row, from its marks. */
export interface MarkedTask extends TaskTimes {
  state: 'started' | 'succeeded';
  /** Version of the execution after the step that brought the task into this state. */
  version: number;
}

/**
 * Returns the state and times of each marked task by idx; `marks` oldest first. A subgraph is marked as started again with every
 * operation inside it: only the first mark counts.
 */
export function timesOfMarks(marks: readonly StoredMarks[]): Map<number, MarkedTask> {
  const found = new Map<number, MarkedTask>();
  for (const { marks: of, version, created_at: at } of marks) {
    for (const idx of of.started)
      if (!found.has(idx)) found.set(idx, { state: 'started', version, started_at: at, ended_at: null });
    for (const idx of of.succeeded) {
      const before = found.get(idx);
      if (before?.state === 'succeeded') continue;
      // A task that begins and succeeds in the same step has one time.
      found.set(idx, {
        state: 'succeeded',
        version,
        started_at: before ? before.started_at : at,
        ended_at: at,
      });
    }
  }
  return found;
}
