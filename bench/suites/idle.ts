// An idle standalone with its default settings: embedded PostgreSQL, one worker. SQL statements per second and CPU of all its
// processes.
import { setTimeout as pause } from 'node:timers/promises';
import { startManager } from '../harness/manager';
import { cpuBetween, proportionalMb, treeOf, usageOf } from '../harness/processes';
import { columns, type Plan } from '../harness/report';
import { rounded } from '../harness/statistics';
import { type SeenSql, type SqlWatch, watchSql } from '../harness/watched-sql';

/** 30 to 60 s after the start V8 cleans up, which costs 0.3 s of CPU: this does not count as idle. */
const SETTLE_MS = { quick: 3_000, full: 75_000 };
const WATCH_MS = { quick: 8_000, full: 30_000 };
/** Limits of the project. */
const BARS = { statementsPerSecond: 10, cpuPercent: 2, memoryMb: 350 };

export async function idle(plan: Plan): Promise<object> {
  const size = plan.isQuick ? 'quick' : 'full';
  const watch = watchSql('count');
  const manager = await startManager({ mode: 'standalone', workers: 1, isEmbedded: true, env: watch.env });
  try {
    await pause(SETTLE_MS[size]);
    const pid = manager.fleet.processes.get('standalone')!.pid()!;
    const processes = treeOf(pid);
    const speaking = [...processes].filter(([name]) => name.endsWith('main.js')).map(([, one]) => one);
    const sqlBefore = await readAll(watch, speaking);
    const before = usageOf(processes, null);
    const begin = performance.now();
    await pause(WATCH_MS[size]);
    const seconds = (performance.now() - begin) / 1000;
    const spent = cpuBetween(before, usageOf(processes, null));
    const sqlAfter = await readAll(watch, speaking);
    const memoryMb = Math.round([...treeOf(pid).values()].reduce((sum, one) => sum + proportionalMb(one), 0));
    return report(plan, sqlBefore, sqlAfter, seconds, spent, memoryMb);
  } finally {
    await manager.stop();
    watch.close();
  }
}

/** Reads the statements of the manager and of its worker. */
async function readAll(watch: SqlWatch, pids: readonly number[]): Promise<SeenSql> {
  const sum: SeenSql = { statements: 0, texts: {}, all: [] };
  for (const pid of pids) {
    const { statements, texts } = await watch.read(pid);
    sum.statements += statements;
    for (const [text, { count, ms }] of Object.entries(texts)) {
      const of = (sum.texts[text] ??= { count: 0, ms: 0 });
      of.count += count;
      of.ms += ms;
    }
  }
  return sum;
}

function report(
  plan: Plan,
  before: SeenSql,
  after: SeenSql,
  seconds: number,
  spent: Record<string, number>,
  memoryMb: number,
): object {
  const statementsPerSecond = rounded((after.statements - before.statements) / seconds);
  const cpu = Object.values(spent).reduce((sum, one) => sum + one, 0);
  const cpuPercent = rounded((cpu / seconds) * 100);
  const perText = Object.entries(after.texts).map(([text, { count }]) => ({
    text,
    perSecond: rounded((count - (before.texts[text]?.count ?? 0)) / seconds),
  }));
  perText.sort((a, b) => b.perSecond - a.perSecond);
  plan.say(
    columns('idle standalone', `${statementsPerSecond} sql/s`, `${cpuPercent} % cpu`, `${memoryMb} MB`),
  );
  return {
    seconds: rounded(seconds),
    statementsPerSecond,
    cpuPercent,
    memoryMb,
    bars: BARS,
    cpuPercentByProcess: Object.fromEntries(
      Object.entries(spent)
        .map(([name, one]) => [name, rounded((one / seconds) * 100)] as const)
        .filter(([, percent]) => percent > 0),
    ),
    statements: perText.filter(({ perSecond }) => perSecond > 0).slice(0, 20),
  };
}
