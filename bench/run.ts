// npm run bench -- [api|lists|dispatch|fleet|idle|engine|dsl|snapshot|import|large|rpc|records|parts|scripts|operations|python|ansible|agents|console ...] [--rounds N] [--quick] [--mode standalone|services]
//   console: [--hour] streams for an hour, [--small] less data, [--database NAME] filled once and kept, [--only PATTERN] parts
//   api and lists: [--small] less data, [--database NAME] seeded before and kept, [--only PATTERN] shapes, or paths
// JSON on standard output, a summary for people on standard error. See bench/BENCHMARKS.md.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isoInstant, systemClock } from '@baton/kernel';
import type { Mode } from '../test/harness/fleet';
import { benchRoot } from './harness/child';
import { describeMachine, machineCpuSeconds } from './harness/machine';
import { closeAll, serverUrl } from './harness/manager';
import type { Plan } from './harness/report';
import { python } from './operations/python';
import { agents } from './suites/agents';
import { ansible } from './suites/ansible';
import { api } from './suites/api';
import { console_ } from './suites/console';
import { dispatch } from './suites/dispatch';
import { engine } from './suites/engine';
import { fleet } from './suites/fleet';
import { idle } from './suites/idle';
import { imports } from './suites/import';
import { large } from './suites/large';
import { lists } from './suites/lists';
import { operations } from './suites/operations';
import { parts } from './suites/parts';
import { records } from './suites/records';
import { rpc } from './suites/rpc';
import { scripts } from './suites/scripts';
import { snapshot } from './suites/snapshot';

const suites: Record<string, (plan: Plan) => Promise<object>> = {
  api,
  lists,
  dispatch,
  fleet,
  idle,
  engine,
  dsl,
  snapshot,
  import: imports,
  large,
  rpc,
  records,
  parts,
  scripts,
  operations,
  python,
  ansible,
  agents,
  console: console_,
};
const DEFAULT = ['api', 'dispatch', 'fleet', 'idle'];
const BUDGET_MS = { quick: 25_000, full: 165_000 };

async function dsl(): Promise<object> {
  const run = spawnSync(process.execPath, ['--import', 'tsx', join(benchRoot, 'dsl/bench.ts')], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: BUDGET_MS.full,
  });
  if (run.status !== 0) throw new Error(`bench/dsl ended with ${run.status ?? run.signal}`);
  return JSON.parse(run.stdout) as object;
}

function readArguments() {
  const { values, positionals } = parseArgs({
    options: {
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      hour: { type: 'boolean', default: false },
      mode: { type: 'string' },
      small: { type: 'boolean', default: false },
      database: { type: 'string' },
      only: { type: 'string' },
      out: { type: 'string' },
    },
    allowPositionals: true,
  });
  const names = positionals.length > 0 ? positionals : DEFAULT;
  const unknown = names.find((name) => !suites[name]);
  if (unknown) throw new Error(`no bench ${unknown}; there are: ${Object.keys(suites).join(', ')}`);
  if (values.mode !== undefined && values.mode !== 'standalone' && values.mode !== 'services')
    throw new Error(`--mode ${values.mode}: there are standalone and services`);
  const rounds = Number(values.rounds ?? (values.quick ? 2 : 5));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds}: a number from 1`);
  const modes: Mode[] = values.mode ? [values.mode as Mode] : ['standalone', 'services'];
  const { quick: isQuick, small: isSmall, hour: isHour, out, database, only } = values;
  const given = { ...(database ? { database } : {}), ...(only ? { only } : {}) };
  return { names, rounds, isQuick, isSmall: isSmall || isQuick, isHour, modes, out, given };
}

async function main(): Promise<void> {
  const { names, rounds, isQuick, isSmall, isHour, modes, out, given } = readArguments();
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const machine = await describeMachine(serverUrl());
  say(
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, PostgreSQL ${machine.postgres.version} (fsync ${machine.postgres.fsync}), load ${machine.loadBefore}, loopback round trip ${machine.roundTripUs} µs`,
  );
  const results: Record<string, object> = {};
  const text = (): string =>
    `${JSON.stringify({ at: isoInstant(systemClock.now()), isQuick, rounds, machine, results }, null, 2)}\n`;
  let failures = 0;
  for (const name of names) {
    const begin = performance.now();
    machineCpuSeconds();
    const budgetMs = isQuick ? BUDGET_MS.quick : BUDGET_MS.full;
    try {
      const figures = await suites[name]!({
        rounds,
        isQuick,
        isSmall,
        isHour,
        modes,
        budgetMs,
        say,
        ...given,
      });
      results[name] = { seconds: Math.round((performance.now() - begin) / 1000), ...figures };
    } catch (error) {
      failures += 1;
      say(`${name}: ${(error as Error).stack}`);
      results[name] = { error: (error as Error).message };
    }
    if (out) writeFileSync(out, text());
    say(`${name} took ${((performance.now() - begin) / 1000).toFixed(0)} s\n`);
  }
  process.stdout.write(text());
  process.exit(failures > 0 || /^ +"error": /m.test(text()) ? 1 : 0);
}

/** Exits with `code` after everything that was started has ended. */
async function end(code: number, reason: string): Promise<void> {
  process.stderr.write(`${reason}\n`);
  await closeAll();
  process.exit(code);
}

process.once('SIGINT', () => void end(130, 'interrupted'));
process.once('SIGTERM', () => void end(143, 'ended'));
process.once('uncaughtException', (error) => void end(70, error.stack ?? error.message));
main().catch((error: Error) => end(64, error.message));
