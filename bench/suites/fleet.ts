// No-op operations per second of examples/fleet with 1, 2 and 3 workers, compared with single-row commits.
import type { Mode } from '../../test/harness/fleet';
import type { CommitsQuestion } from '../baseline/commits';
import { fleetOf } from '../harness/blueprints';
import { type Child, startChild } from '../harness/child';
import { runAll } from '../harness/executions';
import { databaseName, type Manager, putBlueprint, putDeployment, startManager } from '../harness/manager';
import { cpuBetween, usageOf } from '../harness/processes';
import { columns, type Plan } from '../harness/report';
import { median, ratios, rounded, spread } from '../harness/statistics';

export type Commits = Child<CommitsQuestion, number>;

/** Number of clients of the commit loop. */
const CLIENTS = 8;

export async function fleet(plan: Plan): Promise<object> {
  const commits: Commits = startChild('baseline/commits.ts');
  const began = performance.now();
  const counts = plan.isQuick ? [3, 1] : [3, 2, 1];
  const results: Record<string, object> = {};
  const left = (): number =>
    (plan.budgetMs * (Object.keys(results).length + 1)) / (counts.length * plan.modes.length) -
    (performance.now() - began);
  try {
    for (const mode of plan.modes) {
      const measure = async (manager: Manager, workers: number): Promise<void> => {
        results[`${mode}, workers: ${workers}`] = await ofWorkers({
          plan,
          mode,
          manager,
          workers,
          commits,
          left,
        });
      };
      if (mode === 'standalone') await eachAnew(counts, measure);
      else await everFewer(counts, measure);
    }
    return results;
  } finally {
    await commits.stop();
  }
}

type Measure = (manager: Manager, workers: number) => Promise<void>;

/** Starts a new standalone for each number of workers, because workers are its child processes. */
async function eachAnew(counts: readonly number[], measure: Measure): Promise<void> {
  for (const workers of counts) {
    const manager = await startManager({ mode: 'standalone', workers });
    try {
      await measure(manager, workers);
    } finally {
      await manager.stop();
    }
  }
}

async function everFewer(counts: readonly number[], measure: Measure): Promise<void> {
  const manager = await startManager({ mode: 'services', workers: counts[0]! });
  try {
    for (const workers of counts) {
      const superfluous = manager.fleet
        .workers()
        .filter((one) => one.pid() !== null)
        .slice(workers);
      await Promise.all(superfluous.map((one) => one.stop()));
      await measure(manager, workers);
    }
  } finally {
    await manager.stop();
  }
}

interface OfWorkers extends Pick<ExecutionRounds, 'plan' | 'manager' | 'commits' | 'left'> {
  mode: Mode;
  workers: number;
}

async function ofWorkers({ mode, workers, ...o }: OfWorkers): Promise<object> {
  const shape = fleetOf(o.plan.isQuick ? 100 : 500);
  const name = `${shape.name}-${workers}`;
  await putBlueprint(o.manager, { ...shape, name });
  return await executionRounds({
    ...o,
    title: `fleet, ${mode}, workers ${workers}`,
    operations: shape.operations,
    prepare: async (round) => {
      const id = `${name}-${round}`;
      await putDeployment(o.manager, id, name);
      return [id];
    },
  });
}

export interface ExecutionRounds {
  plan: Plan;
  manager: Manager;
  commits: Commits;
  title: string;
  /** Number of operations in one round. */
  operations: number;
  /** Returns the remaining milliseconds. */
  left(): number;
  /** The workflow to start on each deployment; absent: `install`. */
  request?: object;
  /** Creates the deployments of a round; not measured. */
  prepare(round: number): Promise<string[]>;
  /** An additional baseline in the same round: returns its operations per second. */
  beside?: { name: string; run: () => Promise<number> };
  /** Milliseconds of warm-up rounds; default: one round. */
  warmMs?: number;
}

/** Maximum of warm-up rounds. */
const MAX_WARM = 8;

/**
 * Runs an execution on each of the new deployments, round by round, in turn with the baselines. Warm-up rounds of all of them do
 * not count: the JIT is still compiling the code. `firstRound` is the result of the first warm-up round.
 */
export async function executionRounds(o: ExecutionRounds): Promise<object> {
  const ours: number[] = [];
  const commits: number[] = [];
  const beside: number[] = [];
  const cpu: Record<string, number>[] = [];
  const database = databaseName(o.manager.databaseUrl);
  let counted = 0;
  const began = performance.now();
  const rounds = o.plan.isQuick ? Math.min(o.plan.rounds, 2) : o.plan.rounds;
  const warm: number[] = [];
  do {
    const { seconds } = await runAll(o.manager, await o.prepare(warm.length), o.request);
    warm.push(o.operations / seconds);
    await o.beside?.run();
  } while (warm.length < MAX_WARM && performance.now() - began < (o.warmMs ?? 0));
  const measured = performance.now();
  for (let i = 0; i < rounds; i++) {
    if (i > 0 && o.left() < (performance.now() - measured) / i) break;
    const ids = await o.prepare(warm.length + i);
    const before = usageOf(o.manager.pids(), database);
    const { seconds, operations } = await runAll(o.manager, ids, o.request);
    const spent = cpuBetween(before, usageOf(o.manager.pids(), database));
    counted = operations;
    ours.push(o.operations / seconds);
    cpu.push(Object.fromEntries(Object.entries(spent).map(([name, s]) => [name, (s * 1000) / o.operations])));
    commits.push(
      await o.commits.ask({
        databaseUrl: o.manager.databaseUrl,
        clients: CLIENTS,
        durationMs: o.plan.isQuick ? 400 : 1_500,
      }),
    );
    if (o.beside) beside.push(await o.beside.run());
  }
  const names = Object.keys(cpu[0] ?? {});
  const perSecond = spread(ours, 'most');
  const ratio = ratios(ours, commits, 'most');
  o.plan.say(
    columns(
      o.title,
      `${perSecond.median} op/s`,
      `worst ${perSecond.worst}`,
      `first ${rounded(warm[0]!, 0)}`,
      `commits ${rounded(median(commits), 0)}`,
      `ratio ${ratio.median}`,
      ...(o.beside ? [`${o.beside.name} ${rounded(median(beside), 0)}`] : []),
    ),
  );
  return {
    rounds: ours.length,
    operations: o.operations,
    operationsCounted: counted,
    operationsPerSecond: perSecond,
    warmRounds: warm.length,
    firstRound: rounded(warm[0]!),
    commitsPerSecond: spread(commits, 'most'),
    commitRatio: ratio,
    ...(o.beside
      ? { [o.beside.name]: { perSecond: spread(beside, 'most'), ratio: ratios(ours, beside, 'most') } }
      : {}),
    cpuMsPerOperation: Object.fromEntries(
      names.map((name) => [name, rounded(median(cpu.map((one) => one[name] ?? 0)), 3)]),
    ),
  };
}
