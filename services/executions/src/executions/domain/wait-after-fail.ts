/** Upper limit of the database columns: the seconds of an execution, the ms of its graphs. */
const MAX_COLUMN = 2 ** 31 - 1;

/** Returns the whole seconds that an execution stores, at most MAX_COLUMN (68 years). */
export const keptWaitAfterFail = (seconds: number): number => Math.min(seconds, MAX_COLUMN);

/** Returns the ms for which the graphs of an execution wait after a failure, at most 24 days. */
export const waitAfterFailMs = (execution: { wait_after_fail_s: number }): number =>
  Math.min(execution.wait_after_fail_s * 1000, MAX_COLUMN);
