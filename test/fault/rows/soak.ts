import { readdirSync, readFileSync } from 'node:fs';
import { managerServices } from '@baton/contracts';
import type { Load } from '../load';
import type { Rig } from '../rig';
import { type Row, type RowContext, type Struck, underLoad } from '../row';
import { pause, until } from '../until';

export const soakRows: Row[] = [
  {
    id: 'F28',
    limitS: 300,
    title:
      'a soak at about half of the load with one random fault each 60 s; 20 minutes, `--minutes` for more',
    pass: 'after the warm-up (a third of the time, and 12,000 operations, which fill the caches) the line through memory of each process that lives through it rises by at most 40 MB to the end, that through its descriptors by at most 20; dead rows stay below live ones; all other promises hold',
    isOnDemand: true,
    run: (at) => underLoad(at, (load) => soak(at, load), HALF),
  },
];

/** Number of lanes: five would use up the two cores of a small machine. */
const HALF = 3;
const EVERY_MS = 60_000;
const SAMPLE_MS = 10_000;
const MEMORY_MB = 40;
const DESCRIPTORS = 20;
/**
 * Number of operations that fill the caches of an engine. Its live heap is 40 MB after 2,000, 72 MB after 12,000, and the same
 * after 56,000 (`bench/profile.ts many --plain --rounds 70`, heap after a collection).
 */
const WARM_OPERATIONS = 12_000;
/** Fewer samples do not show a trend. */
const LEAST_SAMPLES = 6;

interface Sample {
  /** Monotonic ms. */
  at: number;
  pid: number;
  mb: number;
  descriptors: number;
  /** Operations that the load has completed so far. */
  operations: number;
}

/** Returns null when the process is not running. */
function sample(pid: number | null, operations: number): Sample | null {
  try {
    const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1];
    return {
      at: performance.now(),
      pid: pid!,
      mb: Number(kb) / 1024,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      operations,
    };
  } catch {
    return null;
  }
}

/** Faults that heal. Faults that kill strike only processes whose memory is not watched. */
const faults: Record<string, (rig: Rig) => Promise<void>> = {
  'worker killed': async (rig) => void (await rig.kill('worker-1')),
  'worker paused': async (rig) => {
    rig.process('worker-2').signal('SIGSTOP');
    await pause(8_000);
    rig.process('worker-2').signal('SIGCONT');
  },
  'engine killed': async (rig) => void (await rig.kill('executions-2')),
  'PostgreSQL restarted': (rig) => rig.postgres.restart(),
  'PostgreSQL away': async (rig) => {
    rig.postgresProxy.blackhole();
    await pause(5_000);
  },
  'answers lost': async (rig) => {
    rig.postgresProxy.dropAnswers();
    await pause(300);
  },
  'RabbitMQ restarted': (rig) => rig.rabbit.restart(),
};
/** Processes that no fault here kills. */
const WATCHED = [...managerServices, 'worker-3'];

async function soak({ rig, random, minutes }: RowContext, load: Load): Promise<Struck> {
  const samples = new Map<string, Sample[]>(WATCHED.map((name) => [name, []]));
  const struck: string[] = [];
  const end = performance.now() + minutes * 60_000;
  let next = performance.now() + EVERY_MS;
  while (performance.now() < end) {
    const operations = load.runs().length;
    for (const [name, list] of samples) {
      const one = sample(rig.process(name).pid(), operations);
      if (one) list.push(one);
    }
    if (performance.now() >= next) {
      next += EVERY_MS;
      const name = random.pick(Object.keys(faults));
      struck.push(name);
      await faults[name]!(rig);
      await rig.heal();
      const since = load.runs().length;
      await until(`operations after "${name}"`, 45_000, () => load.runs().length > since);
    }
    await pause(SAMPLE_MS);
  }
  const violations: string[] = [];
  if (struck.length === 0) violations.push('floor: no fault struck');
  const grown = [...samples].map(([name, list]) => {
    if (new Set(list.map(({ pid }) => pid)).size !== 1) violations.push(`F28: ${name} was started again`);
    const judged = list
      .slice(Math.floor(list.length / 3))
      .filter(({ operations }) => operations >= WARM_OPERATIONS);
    if (judged.length < LEAST_SAMPLES) violations.push(`floor: ${name} was looked at ${judged.length} times`);
    const mb = rise(judged, (s) => s.mb);
    const descriptors = Math.round(rise(judged, (s) => s.descriptors));
    if (mb > MEMORY_MB) violations.push(`F28: ${name} grew by ${Math.round(mb)} MB, allowed ${MEMORY_MB}`);
    if (descriptors > DESCRIPTORS) violations.push(`F28: ${name} has ${descriptors} descriptors more`);
    return `${name} ${mb >= 0 ? '+' : ''}${Math.round(mb)} MB ${descriptors >= 0 ? '+' : ''}${descriptors} fd`;
  });
  const bloated = await bloat(rig);
  if (bloated.length > 0) violations.push(`F28: more dead rows than live ones: ${bloated.join(', ')}`);
  return { facts: { minutes, faults: struck.join(', '), grown: grown.join(', ') }, violations };
}

/**
 * Returns the rise of a line through the samples from the first to the last. The slope is the median of the slopes of all pairs,
 * so a few samples near a fault do not distort it.
 */
function rise(samples: readonly Sample[], of: (sample: Sample) => number): number {
  const slopes = samples.flatMap((a, i) =>
    samples.slice(i + 1).map((b) => (of(b) - of(a)) / Math.max(1, b.at - a.at)),
  );
  const slope = slopes.sort((a, b) => a - b)[slopes.length >> 1] ?? 0;
  return slope * ((samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0));
}

/**
 * Returns tables that vacuum does not keep up with. Small tables are ignored: they change completely between two runs of vacuum.
 */
async function bloat({ sql }: Rig): Promise<string[]> {
  const rows = await sql<{ name: string; dead: number; live: number }>(
    `select schemaname || '.' || relname as name, n_dead_tup::int as dead, n_live_tup::int as live
     from pg_stat_user_tables where n_dead_tup > 20000 and n_dead_tup > n_live_tup`,
  );
  return rows.map(({ name, dead, live }) => `${name} ${dead} of ${live + dead}`);
}
