// Single reads and lists of 50 through the gateway against node:http + pg with the same SELECT.
import type { Mode } from '../../test/harness/fleet';
import type { BareQuestion, Statement } from '../baseline/bare-server';
import { chain } from '../harness/blueprints';
import { type Child, startChild } from '../harness/child';
import {
  databaseName,
  inParallel,
  type Manager,
  putBlueprint,
  putDeployment,
  startManager,
} from '../harness/manager';
import { cpuBetween, usageOf } from '../harness/processes';
import { columns, type Plan } from '../harness/report';
import { median, ratios, rounded, spread } from '../harness/statistics';
import { type SqlWatch, watchSql } from '../harness/watched-sql';
import type { LoadAnswer, LoadQuestion } from '../load/generator';

const CONCURRENCY = [1, 16];
const TENANT = 'default_tenant';
const SHAPES = ['single', 'list50', 'list50lean'] as const;
type ShapeName = (typeof SHAPES)[number];
/** What a table of deployments shows. */
const LEAN =
  'id,display_name,blueprint_id,created_at,created_by,visibility,installation_status,deployment_status';

interface Round {
  load: LoadAnswer;
  cpuMsPerRequest: Record<string, number>;
}

interface Target {
  origin: string;
  headers: Record<string, string>;
  paths: Record<ShapeName, string[]>;
  pids(): Map<string, number>;
}

export async function api(plan: Plan): Promise<object> {
  const results: Record<string, object> = {};
  for (const mode of plan.modes) results[mode] = await ofMode(plan, mode);
  return results;
}

async function ofMode(plan: Plan, mode: Mode): Promise<object> {
  const watch = watchSql('selects');
  const manager = await startManager({ mode, workers: 1, env: watch.env });
  const bare = startChild<BareQuestion, number>('baseline/bare-server.ts');
  const load = startChild<LoadQuestion, LoadAnswer>('load/generator.ts');
  try {
    const deployments = plan.isQuick ? 60 : 200;
    await putBlueprint(manager, chain(3));
    await inParallel(deployments, 4, (i) => putDeployment(manager, `d${i}`, 'chain-3'));
    const ids = Array.from({ length: deployments }, (_, i) => `d${i}`);
    const ours = managerTarget(manager, ids);
    const statements = await sameSelects(ours, manager, watch);
    const question = { databaseUrl: manager.databaseUrl, schema: 'deployments', connections: 10, statements };
    const port = await bare.ask(question);
    const theirs = bareTarget(`http://127.0.0.1:${port}`, ids, bare.pid);
    return { deployments, ...(await measure(plan, mode, manager, ours, theirs, load)) };
  } finally {
    await Promise.all([load.stop(), bare.stop()]);
    await manager.stop();
    watch.close();
  }
}

function managerTarget(manager: Manager, ids: string[]): Target {
  const { baseUrl, adminPassword } = manager.fleet;
  const api = '/api/v3.1/deployments';
  return {
    origin: baseUrl,
    headers: {
      authorization: `Basic ${Buffer.from(`admin:${adminPassword}`).toString('base64')}`,
      tenant: TENANT,
    },
    paths: {
      single: ids.map((id) => `${api}/${id}`),
      list50: [`${api}?_size=50`],
      list50lean: [`${api}?_size=50&_include=${LEAN}`],
    },
    pids: () => manager.pids(),
  };
}

function bareTarget(origin: string, ids: string[], pid: number): Target {
  return {
    origin,
    headers: {},
    paths: { single: ids.map((id) => `/single/${id}`), list50: ['/list50'], list50lean: ['/list50lean'] },
    pids: () => new Map([['bare-server', pid]]),
  };
}

/** Asks the manager for each shape and takes the statement it sent; afterwards nothing watches any more. */
async function sameSelects(
  target: Target,
  manager: Manager,
  watch: SqlWatch,
): Promise<Record<ShapeName, Statement>> {
  for (const shape of SHAPES) {
    const response = await fetch(`${target.origin}${target.paths[shape][0]}`, { headers: target.headers });
    if (response.status !== 200) throw new Error(`${shape}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
  const pids = manager.pids();
  const { selects } = await watch.read((pids.get('standalone') ?? pids.get('deployments'))!);
  // The requests above were the last ones: the last SELECTs of pages and objects, in their order.
  const [single, list50, list50lean] = selects
    .filter(({ text }) => /^\s*select/i.test(text) && /limit/i.test(text))
    .slice(-3);
  if (!single || !list50 || !list50lean) throw new Error('the SELECTs of the manager were not seen');
  return { single, list50, list50lean };
}

async function measure(
  plan: Plan,
  mode: Mode,
  manager: Manager,
  ours: Target,
  theirs: Target,
  load: Child<LoadQuestion, LoadAnswer>,
): Promise<object> {
  const durationMs = plan.isQuick ? 400 : 1_000;
  const database = databaseName(manager.databaseUrl);
  const once = async (target: Target, shape: ShapeName, concurrency: number, ms: number): Promise<Round> => {
    const before = usageOf(target.pids(), database);
    const { origin, headers, paths } = target;
    const answer = await load.ask({ origin, headers, paths: paths[shape], concurrency, durationMs: ms });
    if (answer.failures > 0)
      throw new Error(`${answer.failures} of ${answer.requests} requests failed at ${origin}`);
    const cpu = cpuBetween(before, usageOf(target.pids(), database));
    const perRequest = Object.entries(cpu).map(
      ([name, seconds]) => [name, (seconds * 1000) / answer.requests] as const,
    );
    return { load: answer, cpuMsPerRequest: Object.fromEntries(perRequest) };
  };
  const results: Record<string, object> = {};
  plan.say(columns(`api, ${mode}`, 'requests/s', 'bare', 'ratio', 'p50 ms', 'p99 ms', 'bare p99'));
  for (const shape of SHAPES) {
    for (const target of [ours, theirs]) await once(target, shape, 16, plan.isQuick ? 300 : 1_000);
    for (const concurrency of CONCURRENCY) {
      const a: Round[] = [];
      const b: Round[] = [];
      for (let i = 0; i < plan.rounds; i++) {
        a.push(await once(ours, shape, concurrency, durationMs));
        b.push(await once(theirs, shape, concurrency, durationMs));
      }
      const name = `${shape} x${concurrency}`;
      results[name] = summary(a, b);
      plan.say(line(name, a, b));
    }
  }
  const rssMb = Object.fromEntries(
    [...usageOf(ours.pids(), null)].map(([name, { rssMb }]) => [name, Math.round(rssMb)]),
  );
  return { rounds: plan.rounds, results, rssMb };
}

const pick = (rounds: Round[], key: 'perSecond' | 'p50Ms' | 'p99Ms'): number[] =>
  rounds.map((round) => round.load[key]);

function cpuOf(rounds: Round[]): Record<string, number> {
  const names = Object.keys(rounds[0]!.cpuMsPerRequest);
  const found = names.map(
    (name) => [name, rounded(median(rounds.map((r) => r.cpuMsPerRequest[name] ?? 0)), 3)] as const,
  );
  return Object.fromEntries(found.filter(([, ms]) => ms > 0));
}

function summary(a: Round[], b: Round[]): object {
  const side = (rounds: Round[]): object => ({
    perSecond: spread(pick(rounds, 'perSecond'), 'most'),
    p50Ms: spread(pick(rounds, 'p50Ms'), 'least'),
    p99Ms: spread(pick(rounds, 'p99Ms'), 'least'),
    bytesPerAnswer: rounds[0]!.load.bytesPerAnswer,
    cpuMsPerRequest: cpuOf(rounds),
  });
  return {
    throughputRatio: ratios(pick(a, 'perSecond'), pick(b, 'perSecond'), 'most'),
    p99Ratio: ratios(pick(a, 'p99Ms'), pick(b, 'p99Ms'), 'least'),
    baton: side(a),
    bare: side(b),
  };
}

function line(name: string, a: Round[], b: Round[]): string {
  const of = (rounds: Round[], key: 'perSecond' | 'p50Ms' | 'p99Ms', digits: number): number =>
    rounded(median(pick(rounds, key)), digits);
  const ratio = ratios(pick(a, 'perSecond'), pick(b, 'perSecond'), 'most').median;
  return columns(
    `  ${name}`,
    of(a, 'perSecond', 0),
    of(b, 'perSecond', 0),
    ratio,
    of(a, 'p50Ms', 2),
    of(a, 'p99Ms', 2),
    of(b, 'p99Ms', 2),
  );
}
