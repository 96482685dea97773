/** Settings of V8 for processes that are idle most of their life and shall not be felt on their host. */
import { setFlagsFromString } from 'node:v8';

/**
 * Call it first. Measured with one script that prints 20,000 lines, four times: as fast as without, a third more CPU of the agent; at
 * most 82 MB instead of 110, and 57 instead of 106 afterwards. An idle agent has 3 MB less.
 */
export function keepHeapSmall(): void {
  // The optimizing compiler is 3 MB of program that is never loaded without it.
  setFlagsFromString('--no-opt');
  // What a burst of log lines makes the young generation grow to is not given back.
  setFlagsFromString('--semi-space-growth-factor=1');
}
