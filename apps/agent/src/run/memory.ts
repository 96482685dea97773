/** Keeps the process small: it waits most of its life. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How often an agent without operations looks whether there is something to give back. */
const LOOK_MS = 5_000;
/** Growth that is worth a collection. */
const WORTH_BYTES = 1024 * 1024;
/** Looks between two collections, which take some 15 ms each. */
const LOOKS_BETWEEN = 6;

/**
 * Gives memory back while nothing runs: V8 returns pages to the system some seconds after a full collection, and without
 * operations it has no reason for one. Returns the end of it.
 */
export function keepSmall(isIdle: () => boolean): () => void {
  const collect = collector();
  let least = 0;
  let looks = LOOKS_BETWEEN;
  const looking = setInterval(() => {
    const bytes = getHeapStatistics().total_physical_size;
    least = Math.min(least, bytes);
    looks++;
    if (!isIdle() || looks < LOOKS_BETWEEN || bytes - least < WORTH_BYTES) return;
    collect();
    looks = 0;
    least = getHeapStatistics().total_physical_size;
  }, LOOK_MS).unref();
  return () => clearInterval(looking);
}

/** Node.js offers it only with a flag at its start, which a program in one file cannot have. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
