/** Longer than any fault lasts. */
const LONGEST_MS = 120_000;

/**
 * Lets `ms` of real time pass. For rates, for how long a fault lasts, and for moments that are varied; whoever waits for something
 * uses `eventually` or a test signal. `why` says what the time is for: it stands at each call for the reader.
 * @throws RangeError for more than two minutes
 */
export function letTimePass(ms: number, why: string): Promise<void> {
  if (ms > LONGEST_MS) throw new RangeError(`${ms} ms (${why}) is longer than a test may do nothing`);
  return new Promise((resolve) => setTimeout(resolve, ms));
}
