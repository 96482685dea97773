/** Process of heap-growth.test.ts: has some megabytes in use, forwards 600 MB of buffers, and prints its collections. */
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limitHeapGrowth } from './heap-growth';

async function main(): Promise<void> {
  const inUse = Array.from({ length: 200_000 }, (_, i) => ({ i, text: `${i}` }));
  limitHeapGrowth();
  const seen = { young: 0, whole: 0 };
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { kind } = (entry as PerformanceEntry & { detail: { kind: number } }).detail;
      if (kind === constants.NODE_PERFORMANCE_GC_MINOR) seen.young += 1;
      if (kind === constants.NODE_PERFORMANCE_GC_MAJOR) seen.whole += 1;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  for (let i = 0; i < 10_000; i++) {
    Buffer.allocUnsafeSlow(60_000);
    if (i % 10 === 0) await nextTurn();
  }
  await nextTurn();
  observer.disconnect();
  process.stdout.write(JSON.stringify({ ...seen, inUse: inUse.length }));
}

void main();
