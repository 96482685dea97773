import { letTimePass } from '@baton/testkit/let-time-pass';

/** A final answer: further waiting does not change it. */
export class Refused extends Error {}

/** Waits until `check` returns a truthy value, and returns it. @throws an Error with `what` after `limitMs`; Refused immediately */
export async function until<T>(
  what: string,
  limitMs: number,
  check: () => Promise<T> | T,
  everyMs = 100,
): Promise<NonNullable<T>> {
  const end = performance.now() + limitMs;
  let last = '';
  for (;;) {
    try {
      const value = await check();
      if (value) return value;
      last = '';
    } catch (error) {
      if (error instanceof Refused) throw error;
      last = ` (${(error as Error).message})`;
    }
    if (performance.now() > end) throw new Error(`${what}: not within ${limitMs / 1000} s${last}`);
    await pause(everyMs);
  }
}

/** Pauses in real time, in which the workload and the faults run. Tests must not conclude anything from a pause. */
export const pause = (ms: number): Promise<void> => letTimePass(ms, 'the workload and the faults');
