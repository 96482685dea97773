import { afterDelay, systemClock } from '@baton/kernel';

/** Time. The test kit can replace it by a clock that jumps. */
export interface OperationClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after that time, and at once when the operation is stopped. */
  sleep(ms: number): Promise<void>;
}

/** The time of the machine. A sleep ends early when the signal is aborted. */
export const clockWith = (signal?: AbortSignal): OperationClock => ({
  now: () => systemClock.now(),
  sleep: (ms) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const end = (): void => {
        cancel();
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const cancel = afterDelay(ms, end);
      signal?.addEventListener('abort', end);
    }),
});
