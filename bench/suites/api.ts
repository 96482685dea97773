// The REST API with a large data set through the gateway, compared with node:http + pg with the same statements (issue 5).

import pg from 'pg';
import type { Mode } from '../../test/harness/fleet';
import type { BareQuestion, BareShape } from '../baseline/bare-server';
import { type Child, startChild } from '../harness/child';
import { databaseName, type Manager, startManager } from '../harness/manager';
import { cpuBetween, peakRssMb, usageOf } from '../harness/processes';
import { columns, type Plan } from '../harness/report';
import { requestSql } from '../harness/request-sql';
import { median, ratios, rounded, spread } from '../harness/statistics';
import { type SqlWatch, watchSql } from '../harness/watched-sql';
import type { LoadAnswer, LoadQuestion, LoadRequest } from '../load/generator';
import { seededDatabase } from '../seed/seeded';
import { type SeedSizes, TENANT } from '../seed/sizes';
import {
  type ApiRequest,
  type ApiShape,
  apiShapes,
  bareRequests,
  type SeededFacts,
  sampleOf,
  WRITTEN_SITES,
} from './api-shapes';

const CONCURRENCY = [1, 16];
/** Schemas of the services that answer the shapes. */
const OWNERS = ['deployments', 'executions'];

interface Round {
  load: LoadAnswer;
  cpuMsPerRequest: Record<string, number>;
}

interface Target {
  origin: string;
  headers: Record<string, string>;
  requests(shape: ApiShape): LoadRequest[];
  pids(): Map<string, number>;
}

export async function api(plan: Plan): Promise<object> {
  const database = await seededDatabase(plan);
  const { sizes } = database;
  try {
    const facts = await factsOf(database.url, sizes);
    const results: Record<string, object> = { sizes };
    for (const mode of plan.modes) results[mode] = await ofMode(plan, mode, database.url, facts);
    return results;
  } finally {
    await database.drop();
  }
}

async function factsOf(url: string, sizes: SeedSizes): Promise<SeededFacts> {
  return await onDatabase(url, async (client) => {
    const { rows } = await client.query<{ id: string; at: Date }>(
      `select id, created_at as at from executions.executions where request_id like 'seed-%' and right(request_id, 2) = '50' limit 200`,
    );
    const { rows: counted } = await client.query<{ n: string }>(
      'select count(*) as n from deployments.deployments',
    );
    const deployments = Number(counted[0]!.n);
    return {
      sizes: { ...sizes, deployments },
      executions: rows.map((row) => row.id),
      from: rows.slice(0, 50).map((row) => row.at.toISOString()),
    };
  });
}

async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function removeSites(url: string): Promise<void> {
  await onDatabase(url, (client) =>
    client.query('delete from deployments.sites where name like $1', [WRITTEN_SITES]),
  );
}

async function ofMode(plan: Plan, mode: Mode, url: string, facts: SeededFacts): Promise<object> {
  await removeSites(url);
  const watch = watchSql('all');
  const manager = await startManager({ mode, workers: 1, env: watch.env, databaseUrl: url });
  const bare = startChild<BareQuestion, number>('baseline/bare-server.ts');
  const load = startChild<LoadQuestion, LoadAnswer>('load/generator.ts');
  const wanted = plan.only === undefined ? null : new RegExp(plan.only);
  const shapes = apiShapes(facts).filter(({ name }) => wanted === null || wanted.test(name));
  try {
    const ours = managerTarget(manager);
    const bares = await sameStatements(ours, manager, watch, shapes);
    const port = await bare.ask({ databaseUrl: url, schema: 'deployments', connections: 10, shapes: bares });
    const theirs = bareTarget(`http://127.0.0.1:${port}`, bare.pid);
    return await measure(plan, mode, shapes, bares, { ours, theirs, database: databaseName(url), load });
  } finally {
    await Promise.all([load.stop(), bare.stop()]);
    await manager.stop();
    watch.close();
    await removeSites(url);
  }
}

function managerTarget(manager: Manager): Target {
  const { baseUrl, adminPassword } = manager.fleet;
  return {
    origin: baseUrl,
    headers: {
      authorization: `Basic ${Buffer.from(`admin:${adminPassword}`).toString('base64')}`,
      tenant: TENANT,
    },
    requests: (shape) => shape.requests,
    pids: () => manager.pids(),
  };
}

function bareTarget(origin: string, pid: number): Target {
  return { origin, headers: {}, requests: bareRequests, pids: () => new Map([['bare-server', pid]]) };
}

/** Sends each shape to the manager and records its statements; afterwards the watch is removed. */
async function sameStatements(
  target: Target,
  manager: Manager,
  watch: SqlWatch,
  shapes: ApiShape[],
): Promise<Record<string, BareShape>> {
  const pids = [...manager.pids()]
    .filter(([name]) => !/^(worker|gateway|child)/.test(name))
    .map(([, pid]) => pid);
  const sql = await requestSql(watch, pids, OWNERS);
  const found: Record<string, BareShape> = {};
  for (const shape of shapes) {
    let asked = 0;
    const units = await sql.of(() => askOnce(target, sampleOf(shape, asked++)));
    if (units.length === 0) throw new Error(`no statement of ${shape.name} was seen`);
    found[encodeURIComponent(shape.name)] = { units, sample: shape.requests[0]!.argument };
  }
  await watch.end(pids);
  return found;
}

async function askOnce({ origin, headers }: Target, { method, path, body }: ApiRequest): Promise<void> {
  const response = await fetch(`${origin}${path}`, {
    method: method ?? 'GET',
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body ? JSON.stringify(body) : null,
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

interface Field {
  ours: Target;
  theirs: Target;
  database: string;
  load: Child<LoadQuestion, LoadAnswer>;
}

async function oneRound(
  { database, load }: Field,
  target: Target,
  shape: ApiShape,
  concurrency: number,
  durationMs: number,
): Promise<Round> {
  const before = usageOf(target.pids(), database);
  const { origin, headers } = target;
  const answer = await load.ask({
    origin,
    headers,
    requests: target.requests(shape),
    concurrency,
    durationMs,
  });
  if (answer.failures > 0)
    throw new Error(`${answer.failures} of ${answer.requests} of ${shape.name} failed at ${origin}`);
  const cpu = cpuBetween(before, usageOf(target.pids(), database));
  const perRequest = Object.entries(cpu).map(
    ([name, seconds]) => [name, (seconds * 1000) / answer.requests] as const,
  );
  return { load: answer, cpuMsPerRequest: Object.fromEntries(perRequest) };
}

/**
 * Warm-up load before a shape is measured: a number of requests, or at most some milliseconds; `first`: for the processes' first
 * shape.
 */
const WARM = {
  quick: { requests: 5_000, mostMs: 1_500 },
  full: { requests: 5_000, mostMs: 4_000 },
  first: { requests: Number.POSITIVE_INFINITY, mostMs: 20_000 },
  sliceMs: 300,
};

/**
 * Runs both for a while. A process that was just started interprets code that is compiled only after some ten thousand requests,
 * and costs up to four times as much until then. For most of its first minute, threads that compile and collect garbage, in all
 * services, take the cores from single requests for 3 to 6 ms at a time. Returns the reason why the shape cannot be measured.
 */
async function warmed(plan: Plan, field: Field, shape: ApiShape, isFirst: boolean): Promise<string | null> {
  const warm = plan.isQuick ? WARM.quick : isFirst ? WARM.first : WARM.full;
  try {
    for (const target of [field.ours, field.theirs]) {
      const until = performance.now() + warm.mostMs;
      for (let requests = 0; requests < warm.requests && performance.now() < until; )
        requests += (await oneRound(field, target, shape, 16, WARM.sliceMs)).load.requests;
    }
    return null;
  } catch (error) {
    plan.say(`  ${shape.name}: ${(error as Error).message}`);
    return (error as Error).message;
  }
}

async function measure(
  plan: Plan,
  mode: Mode,
  shapes: ApiShape[],
  bares: Record<string, BareShape>,
  field: Field,
): Promise<object> {
  const durationMs = plan.isQuick ? 400 : 2_000;
  const until = performance.now() + plan.budgetMs / plan.modes.length;
  const results: Record<string, object> = {};
  plan.say(
    columns(
      `api, ${mode}`,
      'requests/s',
      'bare',
      'ratio',
      'p50 ms',
      'p99 ms',
      'bare p99',
      'CPU ms',
      'bare CPU',
    ),
  );
  for (const shape of shapes) {
    const failed = await warmed(plan, field, shape, shape === shapes[0]);
    if (failed) {
      results[shape.name] = { failed };
      continue;
    }
    const statements = bares[encodeURIComponent(shape.name)]!.units.flat().length;
    for (const concurrency of CONCURRENCY) {
      const a: Round[] = [];
      const b: Round[] = [];
      for (let i = 0; i < plan.rounds && (i === 0 || performance.now() < until); i++) {
        a.push(await oneRound(field, field.ours, shape, concurrency, durationMs));
        b.push(await oneRound(field, field.theirs, shape, concurrency, durationMs));
      }
      const name = `${shape.name} x${concurrency}`;
      results[name] = { statements, ...summary(a, b) };
      plan.say(line(name, a, b));
    }
  }
  const peak = Object.fromEntries([...field.ours.pids()].map(([name, pid]) => [name, peakRssMb(pid)]));
  plan.say(`  most memory, MB: ${JSON.stringify(peak)}`);
  return { rounds: plan.rounds, results, peakRssMb: peak };
}

const pick = (rounds: Round[], key: 'perSecond' | 'p50Ms' | 'p99Ms'): number[] =>
  rounds.map((round) => round.load[key]);

/** Returns medians by process, without negligible values. */
function cpuOf(rounds: Round[]): Record<string, number> {
  const names = Object.keys(rounds[0]!.cpuMsPerRequest);
  const found = names.map(
    (name) => [name, rounded(median(rounds.map((r) => r.cpuMsPerRequest[name] ?? 0)), 3)] as const,
  );
  return Object.fromEntries(found.filter(([, ms]) => ms > 0.005));
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
  const cpu = (rounds: Round[]): string =>
    Object.values(cpuOf(rounds))
      .map((ms) => rounded(ms, 2))
      .join('+');
  const ratio = ratios(pick(a, 'perSecond'), pick(b, 'perSecond'), 'most').median;
  return columns(
    `  ${name}`,
    of(a, 'perSecond', 0),
    of(b, 'perSecond', 0),
    ratio,
    of(a, 'p50Ms', 2),
    of(a, 'p99Ms', 2),
    of(b, 'p99Ms', 2),
    cpu(a),
    cpu(b),
  );
}
