// node --import tsx bench/profile.ts wide|layered|many|short|long|many-installs|long-install|create|dispatch|single|list|pages [--mode standalone|services] [--workers N] [--sql | --plain] [--rounds N] [--top N]
// Shows where the time of one shape goes: CPU by function of every process, or (--sql) statements by count and time, both for the
// last of several rounds. With --plain it reports only CPU and phases of each round, without disturbing them; then several shapes
// are allowed, which run one after another in one manager. Needs dist/.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Mode } from '../test/harness/fleet';
import { chain, independent, inRow, layered, type Shape } from './harness/blueprints';
import { benchRoot, startChild } from './harness/child';
import { allEnded, runAll, start } from './harness/executions';
import {
  databaseName,
  inParallel,
  type Manager,
  putBlueprint,
  putDeployment,
  startManager,
} from './harness/manager';
import { cpuBetween, usageOf } from './harness/processes';
import { type Hot, hotFunctions } from './harness/profile-report';
import { watchSql } from './harness/watched-sql';
import type { LoadAnswer, LoadQuestion } from './load/generator';

const executed: Record<string, { shape: Shape; deployments: number }> = {
  wide: { shape: independent(1000), deployments: 1 },
  layered: { shape: layered(1000), deployments: 1 },
  many: { shape: inRow(20), deployments: 50 },
  short: { shape: inRow(1), deployments: 100 },
  long: { shape: inRow(400), deployments: 1 },
  'many-installs': { shape: chain(20), deployments: 50 },
  'long-install': { shape: chain(400), deployments: 1 },
};
const others = ['create', 'dispatch', 'single', 'list', 'pages'];
const DISPATCHED = 200;
const CREATED = 4;

const { values, positionals } = parseArgs({
  options: {
    mode: { type: 'string', default: 'standalone' },
    workers: { type: 'string', default: '1' },
    sql: { type: 'boolean', default: false },
    plain: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '4' },
    top: { type: 'string', default: '25' },
  },
  allowPositionals: true,
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Text of the result, and the number of operations or requests: CPU is reported per operation. */
interface Ran {
  text: string;
  operations: number;
}

/** Prepares the manager for a round; returns the function to measure. */
async function prepared(manager: Manager, name: string, round: number): Promise<() => Promise<Ran>> {
  if (name === 'create') return await creating(manager, round);
  const execution = executed[name];
  const { shape, deployments } = execution ?? { shape: chain(3), deployments: 100 };
  if (round === 0) await putBlueprint(manager, shape);
  const ids = Array.from({ length: deployments }, (_, i) => `${name}-${round}-${i}`);
  await inParallel(deployments, 4, (i) => putDeployment(manager, ids[i]!, shape.name));
  if (execution) {
    return async () => {
      const { seconds } = await runAll(manager, ids, shape.request);
      const operations = shape.operations * deployments;
      const text = `${operations} operations in ${seconds} s: ${Math.round(operations / seconds)}/s`;
      return { text, operations };
    };
  }
  if (name === 'dispatch')
    return async () => {
      const begin = performance.now();
      const more = {
        workflow_id: 'execute_operation',
        parameters: { operation: 'cloudify.interfaces.lifecycle.create', node_ids: ['n0'] },
      };
      const started: string[] = [];
      for (let i = 0; i < DISPATCHED; i++) {
        const wait = begin + i * 50 - performance.now();
        if (wait > 0) await pause(wait);
        started.push(await start(manager, ids[i % deployments]!, more));
      }
      await allEnded(manager, started, 30_000);
      return { text: `${DISPATCHED} executions of one operation`, operations: DISPATCHED };
    };
  return await reading(manager, pathsOf(name, ids));
}

/** Creates deployments of 1,000 nodes, one after another. */
async function creating(manager: Manager, round: number): Promise<() => Promise<Ran>> {
  const shape = layered(1000);
  if (round === 0) await putBlueprint(manager, shape);
  return async () => {
    const began = performance.now();
    for (let i = 0; i < CREATED; i++) await putDeployment(manager, `created-${round}-${i}`, shape.name);
    const ms = (performance.now() - began) / CREATED;
    return { text: `${CREATED} deployments of 1,000 nodes, ${ms.toFixed(0)} ms each`, operations: CREATED };
  };
}

/** Returns the paths to request. `list`: the same page again and again; `pages`: many pages, never the same one twice at a time. */
function pathsOf(name: string, ids: readonly string[]): string[] {
  if (name === 'single') return ids.map((id) => `/api/v3.1/deployments/${id}`);
  const page = '/api/v3.1/deployments?_size=50';
  return name === 'list' ? [page] : ids.slice(0, 50).map((_, i) => `${page}&_offset=${i}`);
}

async function reading(manager: Manager, paths: string[]): Promise<() => Promise<Ran>> {
  const { baseUrl, adminPassword } = manager.fleet;
  const authorization = `Basic ${Buffer.from(`admin:${adminPassword}`).toString('base64')}`;
  const question = {
    origin: baseUrl,
    requests: paths.map((path) => ({ path })),
    headers: { authorization, tenant: 'default_tenant' },
    concurrency: 16,
    durationMs: 4_000,
  };
  const load = startChild<LoadQuestion, LoadAnswer>('load/generator.ts');
  await load.ask(question);
  return async () => {
    const answer = await load.ask(question);
    await load.stop();
    const { requests, perSecond, p50Ms, p99Ms } = answer;
    const text = `${requests} requests, ${Math.round(perSecond)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;
    return { text, operations: requests };
  };
}

function showFunctions(dir: string, most: number): void {
  const line = ({ name, selfMs, totalMs }: Hot): string =>
    `${selfMs.toFixed(0).padStart(8)}${totalMs.toFixed(0).padStart(8)}  ${name}`;
  for (const file of readdirSync(dir)) {
    const { idlePercent, bySelf, byTotal } = hotFunctions(join(dir, file), most);
    if (idlePercent > 97) continue;
    say(`\n${file}: idle ${idlePercent.toFixed(0)} %\n    self   total  ms`);
    for (const one of bySelf) say(line(one));
    say('  by total');
    for (const one of byTotal) say(line(one));
  }
}

/** Runs the function and adds its CPU cost: unlike seconds, CPU hardly depends on other load of the machine. */
async function withCpu(manager: Manager, run: () => Promise<Ran>): Promise<string> {
  const database = databaseName(manager.databaseUrl);
  const before = usageOf(manager.pids(), database);
  const { text, operations } = await run();
  const spent = Object.entries(cpuBetween(before, usageOf(manager.pids(), database)));
  const each = (seconds: number): string => ((seconds * 1000) / operations).toFixed(3);
  const parts = spent.filter(([, seconds]) => seconds > 0).map(([one, seconds]) => `${one} ${each(seconds)}`);
  return `${text}\nCPU ms each: ${parts.join(', ')}; all ${each(spent.reduce((sum, [, s]) => sum + s, 0))}`;
}

/** Returns the last round; the earlier rounds let the JIT compile the code. */
async function warmed(manager: Manager, name: string, rounds: number): Promise<() => Promise<Ran>> {
  for (let round = 0; round < rounds - 1; round++) await (await prepared(manager, name, round))();
  return await prepared(manager, name, Math.max(0, rounds - 1));
}

async function profile(mode: Mode, name: string, rounds: number, most: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'baton-bench-profile-'));
  const env = { NODE_OPTIONS: `--require ${join(benchRoot, 'harness/profile.cjs')}`, BENCH_PROFILE_DIR: dir };
  const manager = await startManager({ mode, workers, env });
  try {
    const run = await warmed(manager, name, rounds);
    const pids = [...manager.pids().values()];
    for (const pid of pids) process.kill(pid, 'SIGUSR2');
    say(await withCpu(manager, run));
    for (const pid of pids) process.kill(pid, 'SIGUSR2');
    for (
      let i = 0;
      i < 400 && readdirSync(dir).filter((file) => file.endsWith('.cpuprofile')).length < pids.length;
      i++
    )
      await pause(25);
    showFunctions(dir, most);
  } finally {
    await manager.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function statements(mode: Mode, name: string, rounds: number, most: number): Promise<void> {
  const watch = watchSql('count');
  const manager = await startManager({ mode, workers, env: watch.env });
  try {
    const run = await warmed(manager, name, rounds);
    const pids = [...manager.pids()].filter(([one]) => !/^(worker|gateway|child)/.test(one));
    const before = await Promise.all(pids.map(([, pid]) => watch.read(pid)));
    say(await withCpu(manager, run));
    for (const [i, [process, pid]] of pids.entries()) {
      const { statements: count, texts } = await watch.read(pid);
      say(`\n${process}: ${count - before[i]!.statements} statements\n   count   sum ms`);
      const rows = Object.entries(texts).map(([text, now]) => {
        const then = before[i]!.texts[text] ?? { count: 0, ms: 0 };
        return { text, count: now.count - then.count, ms: now.ms - then.ms };
      });
      rows.sort((a, b) => b.ms - a.ms);
      for (const row of rows.slice(0, most))
        if (row.count > 0)
          say(`${String(row.count).padStart(8)}${row.ms.toFixed(0).padStart(9)}  ${row.text}`);
    }
  } finally {
    await manager.stop();
    watch.close();
  }
}

/** Returns the start times of the newest execution's phases, in ms after its creation. */
async function phasesOf(manager: Manager): Promise<string> {
  const { rows } = await manager.pool.query(`
    select (extract(epoch from g.created_at - e.created_at) * 1000)::int as graph,
      (extract(epoch from v.first - e.created_at) * 1000)::int as first,
      (extract(epoch from v.last - e.created_at) * 1000)::int as last,
      (extract(epoch from e.ended_at - e.created_at) * 1000)::int as ended
    from (select * from executions.executions order by created_at desc limit 1) e
    join executions.tasks_graphs g on g.execution_id = e.id
    cross join lateral (select min(created_at) filter (where event_type = 'task_started') as first,
      max(created_at) filter (where event_type = 'task_succeeded') as last
      from executions.events where execution_id = e.id and operation is not null) v`);
  const { graph, first, last, ended } = rows[0] ?? {};
  return `newest execution: graph ${graph} ms, first started ${first}, last succeeded ${last}, ended ${ended}`;
}

async function plain(mode: Mode, names: readonly string[], rounds: number): Promise<void> {
  const manager = await startManager({ mode, workers });
  try {
    for (const name of names) {
      if (names.length > 1) say(name);
      for (let round = 0; round < rounds; round++) {
        const run = await prepared(manager, name, round);
        say(await withCpu(manager, run));
        if (executed[name]) say(await phasesOf(manager));
      }
    }
  } finally {
    await manager.stop();
  }
}

const [name = ''] = positionals;
const known = [...Object.keys(executed), ...others];
if (
  name === '' ||
  positionals.some((one) => !known.includes(one)) ||
  (positionals.length > 1 && !values.plain)
) {
  process.stderr.write(`what? ${known.join(', ')}; several with --plain only\n`);
  process.exit(64);
}
const mode = values.mode as Mode;
const workers = Number(values.workers);
const most = Number(values.top);
const rounds = Number(values.rounds);
(values.plain
  ? plain(mode, positionals, rounds)
  : values.sql
    ? statements(mode, name, rounds, most)
    : profile(mode, name, rounds, most)
).catch((error: Error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
