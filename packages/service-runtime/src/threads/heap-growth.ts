import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Growth in percent of the bytes in use after the last collection. */
const GROWTH_PERCENT = 50;
/**
 * Growth that is allowed in any case. Buffers count as growth although they lie outside of the heap, also those that are freed at
 * once. A process that forwards bytes has 24 MB in use. Half of that is a hundred lists of 50 entries; after each such growth V8
 * scans the whole heap (5 to 15 ms of a request). By itself V8 frees young buffers every 32 MB, in 1 ms.
 */
const LEAST_GROWTH_BYTES = 40 * 1024 * 1024;

/**
 * Limits the heap of this process to 1.5 times the bytes in use after the last collection, or more where little is in use. By
 * itself V8 takes up to four times on a machine with much memory and leaves garbage: 376 MB instead of 224 MB in the standalone
 * under load. Call it when the process has started: the least growth depends on the bytes in use then.
 */
export function limitHeapGrowth(): void {
  const least = Math.ceil((100 * LEAST_GROWTH_BYTES) / getHeapStatistics().used_heap_size);
  setFlagsFromString(`--heap-growing-percent=${Math.max(GROWTH_PERCENT, least)}`);
}
