// Functions of Python plugins in forks and in processes of their own, scripts, and calls of ctx, each in turns with a bare
// start of a program: the bars are ratios, because a busy machine slows both.
import { spawn } from 'node:child_process';
import type { IsolationName } from '@baton/isolation';
import { columns, type Plan } from '../harness/report';
import { rounded, spread } from '../harness/statistics';
import { type Runner, startRunner } from './runner';

const MODULES = { nothing: 'def run(**_):\n    pass\n' };
const MODES: readonly (IsolationName | 'auto')[] = ['none', 'auto'];
/** Operations of one turn, and how many run at a time. */
const COUNTS = { quick: 60, full: 200 };
const LANES = 4;
const CTX_CALLS = 50;
const SCRIPT = '#!/bin/sh\n:\n';

/** Bars of the project, on a machine with two cores and nothing else to do. */
const BARS = { warmPerSecond: 300, coldMs: 250, ctxMs: 2, scriptsOfSpawn: 0.6 };

const CTX_SCRIPT = `#!/bin/bash
timed() { local from=$EPOCHREALTIME i; for ((i = 0; i < ${CTX_CALLS}; i++)); do "$@" > /dev/null; done
  local to=$EPOCHREALTIME; echo "$(( (\${to/./} - \${from/./}) / ${CTX_CALLS} ))"; }
timed ctx operation name; timed command ctx operation name; timed bash -c :
from=$EPOCHREALTIME; for ((i = 0; i < ${CTX_CALLS}; i++)); do echo operation name; done | ctx - > /dev/null
to=$EPOCHREALTIME; echo "$(( (\${to/./} - \${from/./}) / ${CTX_CALLS} ))"
`;

export async function python(plan: Plan): Promise<object> {
  const results: Record<string, object> = {};
  for (const mode of MODES) {
    const runner = await startRunner(mode, MODULES);
    try {
      results[mode] = await measured(runner, plan, mode);
    } finally {
      await runner.close();
    }
  }
  return { bars: BARS, ...results };
}

async function measured(runner: Runner, plan: Plan, mode: string): Promise<object> {
  const count = plan.isQuick ? COUNTS.quick : COUNTS.full;
  const found: Record<string, number[]> = {};
  const add = (name: string, value: number): void => void (found[name] ??= []).push(value);
  await runner.python('nothing.run');
  for (let round = 0; round < plan.rounds; round++) {
    const bare = await perSecond(count, () => started('/bin/true', []));
    add('bare spawn /s', bare);
    runner.setWarm(true);
    const warm = await perSecond(count, () => runner.python('nothing.run'));
    add('warm python /s', warm);
    add('warm python of bare spawn', warm / bare);
    runner.setWarm(false);
    const cold = await perSecond(Math.ceil(count / 8), () => runner.python('nothing.run'));
    add('cold python /s', cold);
    add('warm python of cold', warm / cold);
    add('cold python ms', 1_000 / (await perSecond(5, () => runner.python('nothing.run'), 1)));
    const own = await perSecond(count, () => runner.script(SCRIPT));
    add('scripts, first of a deployment /s', own);
    runner.setWarm(true);
    // The servers of the deployment start one after the other.
    await perSecond(count, () => runner.script(SCRIPT));
    const script = await perSecond(count, () => runner.script(SCRIPT));
    add('scripts /s', script);
    add('scripts of bare spawn', script / bare);
    add('Python scripts /s', await perSecond(count, () => runner.script('#!/usr/bin/python3\npass\n')));
    const [call = 0, command = 0, bash = 0, line = 0] = (await runner.script(CTX_SCRIPT)).map(Number);
    add('ctx in bash ms', call / 1_000);
    add('ctx as a program ms', command / 1_000);
    add('ctx in a batch ms', line / 1_000);
    add('ctx in bash of bash -c :', call / bash);
    add('ctx as a program of bash -c :', command / bash);
  }
  plan.say(columns(`operations, isolation ${mode}`, 'median', 'worst'));
  const spreads: Record<string, object> = {};
  for (const [name, values] of Object.entries(found)) {
    const one = spread(values, / ms$|of bash/.test(name) ? 'least' : 'most');
    spreads[name] = one;
    plan.say(columns(name, one.median, one.worst));
  }
  return spreads;
}

async function perSecond(count: number, run: () => Promise<unknown>, lanes = LANES): Promise<number> {
  let left = count;
  const begin = performance.now();
  const lane = async (): Promise<void> => {
    while (left-- > 0) await run();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return rounded((count * 1_000) / (performance.now() - begin));
}

function started(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
}
