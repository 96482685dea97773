import './mutate';
import { measurePower } from './power';
import { simulateSchedules } from './schedules/simulate';
import { simulateService } from './service/simulate';
import { type SimulationResult, simulate } from './simulate';

/**
 * The deterministic simulation: `npm run sim -- [--seeds N] [--from F] [--seed S] [--of model|service|schedules] [--first]
 * [--power]`. Each seed is played on three kinds of worlds. `model` plays a model of the engine's memory, which is fast and
 * reaches many states. `service` plays the production engine over tables in memory. `schedules` plays the production code that
 * fires schedules, over the same tables. Prints each seed that breaks a promise. `--seed S` plays only that seed; `--first` stops
 * at the first failing seed. Ends with `N passed, M failed`. `--power` plays the engine with each bug of `seeded-faults.ts` in
 * turn and prints which of them are detected.
 */
async function main(args: readonly string[]): Promise<number> {
  const option = (name: string, otherwise: number): number => {
    const at = args.indexOf(name);
    return at < 0 ? otherwise : Number(args[at + 1]);
  };
  if (args.includes('--power')) return await measurePower(args[args.indexOf('--power') + 1]);
  const of = args.includes('--of') ? args[args.indexOf('--of') + 1] : undefined;
  const only = option('--seed', 0);
  const first = only || option('--from', 1);
  const last = only || first + option('--seeds', 100) - 1;
  const plays: [string, (seed: number) => SimulationResult | Promise<SimulationResult>][] = [
    ['model', simulate],
    ['service', simulateService],
    ['schedules', simulateSchedules],
  ];
  const sums = { passed: 0, failed: 0 };
  for (const [name, play] of plays.filter(([name]) => of === undefined || of === name))
    await playAll(name, play, { first, last, isFirst: args.includes('--first') }, sums);
  console.log(`${sums.passed} passed, ${sums.failed} failed`);
  return sums.failed === 0 && sums.passed > 0 ? 0 : 1;
}

async function playAll(
  name: string,
  play: (seed: number) => SimulationResult | Promise<SimulationResult>,
  { first, last, isFirst }: { first: number; last: number; isFirst: boolean },
  sums: { passed: number; failed: number },
): Promise<void> {
  const counts = { steps: 0, crashes: 0, runs: 0, shared: 0 };
  const statuses = new Map<string, number>();
  for (let seed = first; seed <= last; seed++) {
    const result = await attempt(seed, play);
    if (result.breaches.length === 0) sums.passed++;
    else {
      sums.failed++;
      console.log(`${name}, seed ${seed}: ${result.breaches.slice(0, 5).join('\n  ')}`);
    }
    counts.steps += result.steps;
    counts.crashes += result.crashes;
    counts.runs += result.runs;
    counts.shared += result.shared ?? 0;
    if (isFirst && result.breaches.length > 0) return;
    for (const status of result.statuses) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  const { steps, crashes, runs, shared } = counts;
  const commits = shared > 0 ? `, ${shared} commits shared by several executions` : '';
  console.log(
    `${name}, seeds ${first} to ${last}: ${steps} steps, ${crashes} crashes, ${runs} runs of operations${commits}`,
  );
  console.log(
    [...statuses]
      .sort()
      .map(([k, v]) => `${k} ${v}`)
      .join(', '),
  );
}

async function attempt(
  seed: number,
  play: (seed: number) => SimulationResult | Promise<SimulationResult>,
): Promise<SimulationResult> {
  try {
    return await play(seed);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { seed, breaches: [text], steps: 0, crashes: 0, runs: 0, statuses: [] };
  }
}

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
