/** Longer than any fault in tests lasts. */
const LONGEST_MS = 120_000;

/**
 * Lets `ms` of real time pass. For rates, durations of faults, and varied moments; a test that waits for an effect uses
 * `eventually` or a test signal. `why` tells the reader of each call the purpose of the time.
 * @throws RangeError for more than two minutes
 */
export function letTimePass(ms: number, why: string): Promise<void> {
  if (ms > LONGEST_MS) throw new RangeError(`${ms} ms (${why}) is longer than a test may do nothing`);
  return new Promise((resolve) => setTimeout(resolve, ms));
}
