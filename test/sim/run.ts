import { simulate } from './simulate';

/**
 * The deterministic simulation: `npx tsx test/sim/run.ts --seeds N [--seed S]`. Prints each seed that breaks a promise;
 * `--seed S` runs that one alone. Ends with `N passed, M failed`.
 */
function main(args: readonly string[]): number {
  const option = (name: string, otherwise: number): number => {
    const at = args.indexOf(name);
    return at < 0 ? otherwise : Number(args[at + 1]);
  };
  const only = option('--seed', 0);
  const first = only || option('--from', 1);
  const last = only || first + option('--seeds', 100) - 1;
  let failed = 0;
  const sums = { steps: 0, crashes: 0, runs: 0, executions: 0 };
  const statuses = new Map<string, number>();
  for (let seed = first; seed <= last; seed++) {
    const result = attempt(seed);
    if (result.breaches.length > 0) {
      failed++;
      console.log(`seed ${seed}: ${result.breaches.slice(0, 5).join('\n  ')}`);
    }
    sums.steps += result.steps;
    sums.crashes += result.crashes;
    sums.runs += result.runs;
    for (const status of result.statuses) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  console.log(
    `seeds ${first} to ${last}: ${sums.steps} steps, ${sums.crashes} crashes, ${sums.runs} runs of operations`,
  );
  console.log(
    [...statuses]
      .sort()
      .map(([k, v]) => `${k} ${v}`)
      .join(', '),
  );
  console.log(`${last - first + 1 - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function attempt(seed: number): ReturnType<typeof simulate> {
  try {
    return simulate(seed);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { seed, breaches: [text], steps: 0, crashes: 0, runs: 0, statuses: [] };
  }
}

process.exitCode = main(process.argv.slice(2));
