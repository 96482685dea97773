import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap of this process grow to 1.5 times what was in use after the last collection. By itself V8 takes up to four
 * times on a machine with much memory and leaves garbage lying: 376 MB instead of 224 MB in the standalone under load.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=50');
}
