import type { Json } from '@baton/kernel';
import { isMarkedError, operationErrorMark } from '../errors';
import type { FakeClock } from './fake-clock';
import { TestFailure } from './test-failure';

/** How often and when a manager runs an operation again: its defaults. */
export interface RetryPolicy {
  /** Tries after the first one. Default: 60. */
  maxRetries?: number;
  /** Time between two tries that name none. Default: 15 s. */
  retryIntervalMs?: number;
  /** Time for all runs together. Default: none. */
  timeoutMs?: number;
}

export interface EndedRuns {
  result: Json;
  /** How often the operation ran. */
  runs: number;
  retries: number;
  deferrals: number;
  /** Time from the first run to the end. */
  tookMs: number;
}

const MOST_RUNS = 10_000;

/**
 * Runs an operation again and again, as a manager does: after a failure that may pass, a request for another try, or a deferral. Time
 * passes on the clock of the test.
 * @throws what the last run throws; TestFailure when the time limit has passed, or when there is no end
 */
export async function runToEnd(
  run: (retryNumber: number) => Promise<Json>,
  clock: FakeClock,
  { maxRetries = 60, retryIntervalMs = 15_000, timeoutMs }: RetryPolicy,
): Promise<EndedRuns> {
  const startMs = clock.now();
  const counts = { runs: 0, retries: 0, deferrals: 0 };
  while (counts.runs < MOST_RUNS) {
    counts.runs++;
    try {
      const result = await run(counts.retries);
      return { result, ...counts, tookMs: clock.now() - startMs };
    } catch (thrown) {
      const kind = isMarkedError(thrown) ? thrown[operationErrorMark] : 'retryable';
      if (thrown instanceof TestFailure || kind === 'fatal') throw thrown;
      if (kind === 'deferred') counts.deferrals++;
      else if (++counts.retries > maxRetries) throw thrown;
      const seconds = isMarkedError(thrown) ? thrown.retryAfter : null;
      await clock.advance(seconds === null ? retryIntervalMs : seconds * 1000);
      if (timeoutMs !== undefined && clock.now() - startMs >= timeoutMs) throw timedOut(timeoutMs);
    }
  }
  throw new TestFailure(`the operation has not ended after ${MOST_RUNS} runs`);
}

export const timedOut = (timeoutMs: number): TestFailure =>
  new TestFailure(`the operation has not ended within its time limit of ${timeoutMs / 1000} s`);
