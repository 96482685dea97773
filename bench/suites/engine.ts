// Typical shapes for an engine: wide, layered, many short, one long, many deployments, latency; compared with commits, DBOS and
// graphile-worker.
import type { Mode } from '../../test/harness/fleet';
import { call } from '../../test/harness/session';
import type { DbosQuestion } from '../baseline/dbos-app';
import { chain, independent, inRow, layered, type Shape, told } from '../harness/blueprints';
import { type Child, startChild } from '../harness/child';
import { allEnded } from '../harness/executions';
import {
  createDatabase,
  inParallel,
  type Manager,
  putBlueprint,
  putDeployment,
  startManager,
} from '../harness/manager';
import { columns, type Plan } from '../harness/report';
import { collectStartTimes } from '../harness/start-times';
import { rounded } from '../harness/statistics';
import { batonSource, measureDispatch } from './dispatch';
import { type Commits, executionRounds } from './fleet';
import { killedWorker } from './killed-worker';

type Dbos = Child<DbosQuestion, number | null>;

/** Time for the repeated shapes of one kind of manager; each has at least one round while there is time. */
const BUDGET_MS = { quick: 25_000, full: 160_000 };
const ROUNDS = 3;
const REPEATED_SHAPES = 6;
/** Warm-up time of each shape and of its baselines: in production an engine runs for months. */
const WARM_MS = 15_000;
/** After this time no further shape of a kind of manager is started. */
const LAST_BEGIN_MS = { quick: 40_000, full: 200_000 };

export async function engine(plan: Plan): Promise<object> {
  const commits: Commits = startChild('baseline/commits.ts');
  const dbos: Dbos = startChild('baseline/dbos-app.ts');
  const database = await createDatabase();
  const results: Record<string, object> = {};
  try {
    await dbos.ask({ kind: 'launch', databaseUrl: database.url });
    for (const mode of plan.modes)
      for (const workers of plan.isQuick ? [1] : [1, 3])
        results[`${mode}, workers: ${workers}`] = await ofKind(plan, mode, workers, commits, dbos);
    return results;
  } finally {
    await Promise.all([commits.stop(), dbos.stop()]);
    await database.drop();
  }
}

async function ofKind(
  plan: Plan,
  mode: Mode,
  workers: number,
  commits: Commits,
  dbos: Dbos,
): Promise<object> {
  const starts = await collectStartTimes();
  const manager = await startManager({ mode, workers, env: { BENCH_START_PORT: String(starts.port) } });
  const began = performance.now();
  const budget = plan.isQuick ? BUDGET_MS.quick : BUDGET_MS.full;
  const lastBegin = plan.isQuick ? LAST_BEGIN_MS.quick : LAST_BEGIN_MS.full;
  const title = (what: string): string => `engine, ${mode} ${workers}: ${what}`;
  const shapes = sizes(plan.isQuick);
  try {
    for (const shape of [
      shapes.wide,
      shapes.layers,
      shapes.many,
      shapes.long,
      shapes.manyInstalls,
      shapes.longInstall,
      chain(1),
      told(),
    ])
      await putBlueprint(manager, shape);
    const limited = { ...plan, rounds: Math.min(plan.rounds, ROUNDS) };
    /** Each of the repeated shapes gets the same share of the time. */
    let parts = 0;
    const rounds = async (
      what: string,
      shape: Shape,
      deployments: number,
      steps?: { workflows: number; steps: number },
    ) => {
      parts += 1;
      const share = (budget * parts) / REPEATED_SHAPES;
      return await executionRounds({
        plan: limited,
        manager,
        commits,
        title: title(what),
        operations: shape.operations * deployments,
        ...(shape.request ? { request: shape.request } : {}),
        left: () => share - (performance.now() - began),
        warmMs: plan.isQuick ? 0 : WARM_MS,
        prepare: (round) => prepare(manager, shape, deployments, round),
        ...(steps ? { beside: { name: 'dbos', run: () => stepsPerSecond(dbos, steps) } } : {}),
      });
    };
    const parallel = { workflows: shapes.atOnce, steps: 20 };
    const single = { workflows: 1, steps: shapes.long.operations };
    const one = isFullSize(mode, workers) ? shapes.deployments : shapes.deployments / 5;
    const work: Record<string, () => Promise<object>> = {
      wide: () => rounds('(a) independent', shapes.wide, 1),
      layered: () => rounds('(a) layered', shapes.layers, 1),
      many: () => rounds('(b) many at once', shapes.many, shapes.atOnce, parallel),
      long: () => rounds('(c) one in a row', shapes.long, 1, single),
      manyInstalls: () => rounds('(b) as installs', shapes.manyInstalls, shapes.atOnce),
      longInstall: () => rounds('(c) as an install', shapes.longInstall, 1),
      dispatch: async () =>
        await measureDispatch(limited, title('(e) dispatch'), await batonSource(manager, starts), 6),
      ...(workers === 3
        ? { killedWorker: () => killedWorker(plan, manager, shapes.wide, title('(a) one of 3 killed')) }
        : {}),
      deployments: () => manyDeployments(plan, manager, one, title('(d) deployments')),
    };
    const results: Record<string, object> = {};
    for (const [name, run] of Object.entries(work)) {
      const isLate = performance.now() - began > lastBegin;
      results[name] = isLate
        ? { skipped: 'no time left' }
        : await run().catch((error: Error) => ({ error: error.message }));
      if ('error' in results[name]) plan.say(columns(title(name), String(results[name].error)));
      else if (isLate) plan.say(columns(title(name), 'skipped'));
    }
    return results;
  } finally {
    await manager.stop();
    starts.close();
  }
}

/** Whether to run the longest shape in full: once with each broker. The other kinds show the trend. */
const isFullSize = (mode: Mode, workers: number): boolean => (mode === 'standalone') === (workers === 1);

function sizes(isQuick: boolean) {
  return isQuick
    ? {
        wide: independent(200),
        layers: layered(200),
        many: inRow(20),
        manyInstalls: chain(20),
        atOnce: 10,
        long: inRow(100),
        longInstall: chain(100),
        deployments: 40,
      }
    : {
        wide: independent(1000),
        layers: layered(1000),
        many: inRow(20),
        manyInstalls: chain(20),
        atOnce: 50,
        long: inRow(1000),
        longInstall: chain(1000),
        deployments: 1000,
      };
}

async function prepare(manager: Manager, shape: Shape, count: number, round: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, i) => `${shape.name}-${round}-${i}`);
  await inParallel(count, 4, (i) => putDeployment(manager, ids[i]!, shape.name));
  return ids;
}

async function stepsPerSecond(
  dbos: Dbos,
  { workflows, steps }: { workflows: number; steps: number },
): Promise<number> {
  return (workflows * steps) / (await dbos.ask({ kind: 'run', workflows, steps }))!;
}

/** Number of deployments of a group that are installed at a time; the default of the API is 5. */
const GROUP_CONCURRENCY = 20;
/** Maximum wait for the install of a whole group. */
const GROUP_LIMIT_MS = 120_000;

/** Creates and installs deployments as a group: one request each. */
async function manyDeployments(plan: Plan, manager: Manager, count: number, title: string): Promise<object> {
  const group = `group-of-${count}`;
  const began = performance.now();
  await call(manager.client, 'putDeploymentGroup', { id: group }, { blueprint_id: 'chain-1' });
  const newDeployments = Array.from({ length: count }, () => ({ id: '{group_id}-{count}' }));
  const add = { new_deployments: newDeployments };
  await call(manager.client, 'patchDeploymentGroup', { id: group }, { add });
  const created = performance.now();
  const body = { deployment_group_id: group, workflow_id: 'install', concurrency: GROUP_CONCURRENCY };
  const { execution_ids: ids } = await call(manager.client, 'createExecutionGroup', {}, body);
  await allEnded(manager, ids, GROUP_LIMIT_MS);
  const ended = performance.now();
  const seconds = {
    create: rounded((created - began) / 1000),
    install: rounded((ended - created) / 1000),
    all: rounded((ended - began) / 1000),
  };
  plan.say(
    columns(
      title,
      `${count}`,
      `create ${seconds.create}s`,
      `install ${seconds.install}s`,
      `all ${seconds.all}s`,
    ),
  );
  return { deployments: count, isGroup: true, concurrency: GROUP_CONCURRENCY, seconds };
}
