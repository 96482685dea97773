import type { TaskError } from '@baton/task-graph';

/**
 * Limit of all results of one graph. Results of tasks are in memory with their graph while the execution runs, and again when its
 * tasks are read: a few hundred large results would end the process, and then each other process that continues the graph.
 */
const MAX_RESULTS_CHARS = 64 * 1024 * 1024;
/** Smaller results are not counted: a graph has 50,000 tasks at most. */
const COUNTED_CHARS = 1_024;

/** Sizes of the large results of one graph, in characters of their JSON. */
export interface ResultSizes {
  total: number;
  byIdx: Map<number, number>;
}

/** Counts the result of a task; returns the task's error when there is no room for the result, else null. */
export function noteResult(sizes: ResultSizes, idx: number, chars: number): TaskError | null {
  if (chars < COUNTED_CHARS) return null;
  const others = sizes.total - (sizes.byIdx.get(idx) ?? 0);
  if (others + chars <= MAX_RESULTS_CHARS) {
    sizes.byIdx.set(idx, chars);
    sizes.total = others + chars;
    return null;
  }
  const message =
    `The result has ${chars} characters, those of the other tasks of the execution ${others}; ` +
    `at most ${MAX_RESULTS_CHARS} are kept`;
  return { type: 'NonRecoverableError', message, recoverable: false, traceback: null, causes: [] };
}
