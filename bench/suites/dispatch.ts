// Time from the answer of POST /executions to the start of the first operation, compared with graphile-worker add_job -> start.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Mode } from '../../test/harness/fleet';
import type { GraphileQuestion } from '../baseline/graphile-runner';
import { told } from '../harness/blueprints';
import { startChild } from '../harness/child';
import { start } from '../harness/executions';
import {
  createDatabase,
  inParallel,
  type Manager,
  putBlueprint,
  putDeployment,
  startManager,
} from '../harness/manager';
import { columns, type Plan } from '../harness/report';
import { collectStartTimes, type StartTimes, wallMs } from '../harness/start-times';
import { quantile, rounded, type Spread, spread } from '../harness/statistics';

const PER_SECOND = 20;
/** A deployment runs one execution at a time: with so many, none is used again before its last execution has ended. */
const DEPLOYMENTS = 60;
const SETTLE_MS = 500;

/** Times in ms of one round. */
interface Round {
  /** From the answer to the start; negative when the operation started before the answer arrived. */
  afterAnswer: number[];
  fromRequest: number[];
  /** Number of answered requests whose operation never started. */
  missing: number;
  /** Number of refusals because the deployment's last execution had not ended: the machine is too slow. */
  refused: number;
}

interface Source {
  /** Starts one operation; returns the id that its start will report. */
  request(i: number): Promise<string>;
  starts: StartTimes;
}

export async function dispatch(plan: Plan): Promise<object> {
  const results: Record<string, object> = {};
  for (const mode of plan.modes) results[mode] = await ofMode(plan, mode);
  return { perSecond: PER_SECOND, ...results };
}

async function ofMode(plan: Plan, mode: Mode): Promise<object> {
  const starts = await collectStartTimes();
  const manager = await startManager({ mode, workers: 1, env: { BENCH_START_PORT: String(starts.port) } });
  try {
    await putBlueprint(manager, told());
    const ours = await batonSource(manager, starts);
    return await measureDispatch(plan, `dispatch, ${mode}`, ours, plan.isQuick ? 3 : 10);
  } finally {
    await manager.stop();
    starts.close();
  }
}

/** Runs execute_operation on deployments in turn; the manager must have the blueprint `told()`. */
export async function batonSource(manager: Manager, starts: StartTimes): Promise<Source> {
  await inParallel(DEPLOYMENTS, 4, (i) => putDeployment(manager, `dispatch-${i}`, told().name));
  const more = {
    workflow_id: 'execute_operation',
    parameters: { operation: 'cloudify.interfaces.lifecycle.create' },
  };
  return { starts, request: (i) => start(manager, `dispatch-${i % DEPLOYMENTS}`, more) };
}

/** Measures rounds of `seconds` each, in turn with graphile-worker in its own database on the same server. */
export async function measureDispatch(
  plan: Plan,
  title: string,
  ours: Source,
  seconds: number,
): Promise<object> {
  const database = await createDatabase();
  const graphile = startChild<GraphileQuestion, null>('baseline/graphile-runner.ts');
  const theirStarts = await collectStartTimes();
  const pool = new pg.Pool({ connectionString: database.url, max: 4 });
  try {
    await graphile.ask({ databaseUrl: database.url, startPort: theirStarts.port, concurrency: 10 });
    const theirs: Source = {
      starts: theirStarts,
      request: async (i) => {
        const id = `${performance.now()}-${i}`;
        await pool.query(`select graphile_worker.add_job('noop', json_build_object('id', $1::text))`, [id]);
        return id;
      },
    };
    for (const source of [ours, theirs]) await round(source, 1.5);
    const a: Round[] = [];
    const b: Round[] = [];
    const rounds = plan.isQuick ? Math.min(plan.rounds, 2) : plan.rounds;
    for (let i = 0; i < rounds; i++) {
      a.push(await round(ours, plan.isQuick ? 1.5 : seconds / 2));
      b.push(await round(theirs, plan.isQuick ? 1.5 : seconds / 2));
    }
    return report(plan, title, a, b);
  } finally {
    await pool.end();
    await graphile.stop();
    theirStarts.close();
    await database.drop();
  }
}

interface Asked {
  id: string;
  sentMs: number;
  answeredMs: number;
}

/** Sends requests at a fixed rate, regardless of the answers. */
async function round({ request, starts }: Source, seconds: number): Promise<Round> {
  const asked: Promise<Asked | null>[] = [];
  const begin = performance.now();
  for (let i = 0; i < seconds * PER_SECOND; i++) {
    const wait = begin + (i * 1000) / PER_SECOND - performance.now();
    if (wait > 0) await pause(wait);
    const sentMs = wallMs();
    asked.push(
      request(i).then(
        (id) => ({ id, sentMs, answeredMs: wallMs() }),
        () => null,
      ),
    );
  }
  const all = await Promise.all(asked);
  const answered = all.filter((one) => one !== null);
  const until = performance.now() + 10_000;
  while (answered.some(({ id }) => !starts.first.has(id)) && performance.now() < until) await pause(20);
  await pause(SETTLE_MS);
  const started = answered.filter(({ id }) => starts.first.has(id));
  return {
    afterAnswer: started.map(({ id, answeredMs }) => starts.first.get(id)! - answeredMs),
    fromRequest: started.map(({ id, sentMs }) => starts.first.get(id)! - sentMs),
    missing: answered.length - started.length,
    refused: all.length - answered.length,
  };
}

function side(
  rounds: Round[],
): { missing: number; refused: number } & Record<
  'afterAnswer' | 'fromRequest',
  { p50Ms: Spread; p99Ms: Spread; allP99Ms: number }
> {
  const of = (key: 'afterAnswer' | 'fromRequest') => ({
    p50Ms: spread(
      rounds.map((one) => quantile(one[key], 0.5)),
      'least',
    ),
    p99Ms: spread(
      rounds.map((one) => quantile(one[key], 0.99)),
      'least',
    ),
    allP99Ms: rounded(
      quantile(
        rounds.flatMap((one) => one[key]),
        0.99,
      ),
    ),
  });
  return {
    afterAnswer: of('afterAnswer'),
    fromRequest: of('fromRequest'),
    missing: rounds.reduce((sum, one) => sum + one.missing, 0),
    refused: rounds.reduce((sum, one) => sum + one.refused, 0),
  };
}

function report(plan: Plan, title: string, a: Round[], b: Round[]): object {
  const [baton, graphile] = [side(a), side(b)];
  const cells = (one: typeof baton): number[] => [
    one.afterAnswer.p50Ms.median,
    one.afterAnswer.p99Ms.median,
    one.afterAnswer.p99Ms.worst,
    one.fromRequest.p50Ms.median,
    one.missing + one.refused,
  ];
  plan.say(columns(`${title}, ms at ${PER_SECOND}/s`, 'p50', 'p99', 'worst p99', 'p50 from POST', 'lost'));
  plan.say(columns('  baton', ...cells(baton)));
  plan.say(columns('  graphile-worker', ...cells(graphile)));
  return {
    samplesPerRound: a[0]!.afterAnswer.length,
    rounds: a.length,
    fromRequestP50Ratio: rounded(baton.fromRequest.p50Ms.median / graphile.fromRequest.p50Ms.median),
    p50Ratio: rounded(baton.afterAnswer.p50Ms.median / graphile.afterAnswer.p50Ms.median),
    baton,
    graphile,
  };
}
