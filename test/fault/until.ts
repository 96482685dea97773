import { letTimePass } from '@baton/testkit/let-time-pass';

/** An answer that waiting does not change. */
export class Refused extends Error {}

/** Waits until `check` answers something true, and answers it. @throws naming `what` after `limitMs`; Refused at once. */
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

/** The workload and the faults live in real time; nothing is concluded from a pause. */
export const pause = (ms: number): Promise<void> => letTimePass(ms, 'the workload and the faults');
