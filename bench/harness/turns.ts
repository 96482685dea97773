import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '@baton/kernel';
import type { Mode } from '../../test/harness/fleet';
import { median } from './statistics';

/** A manager of a built checkout, with its special environment. */
export interface Side {
  name: string;
  /** The root of the checkout. */
  root: string;
  env?: Record<string, string>;
}

export interface TurnsOptions {
  /** Name of a shape of bench/profile.ts. */
  shape: string;
  mode: Mode;
  workers: number;
  turns: number;
  /** Rounds of each manager. The first half is warm-up, in which the JIT compiles the code, and does not count. */
  rounds: number;
}

/** Results of all rounds that count, converted to the machine's speed at the first moment. */
export interface Measured {
  rounds: number;
  /** Median of operations or requests per second; null: the shape has a fixed rate. */
  perSecond: number | null;
  /** Mean CPU ms per operation, by process; `all` is their sum. */
  cpuMs: Record<string, number>;
}

/** Result of a round. */
interface Round {
  perSecond: number | null;
  /** A process without measurable time is missing. */
  cpuMs: Map<string, number>;
}

/**
 * Runs managers of several sides in turns. A machine with busy neighbours changes its speed by a third within minutes. So each
 * run stands between two runs of a fixed piece of work, and its figures are divided by the time of those.
 */
export function inTurns(sides: readonly Side[], o: TurnsOptions): Map<string, Measured> {
  const first = pace();
  const rounds = new Map(sides.map(({ name }) => [name, [] as Round[]]));
  for (let turn = 0; turn < o.turns; turn++)
    for (const side of turn % 2 === 0 ? sides : [...sides].reverse()) {
      const before = pace();
      const said = run(side, o);
      const slower = (before + pace()) / 2 / first;
      rounds.get(side.name)!.push(...roundsIn(said, slower).slice(Math.floor(o.rounds / 2)));
    }
  return new Map([...rounds].map(([name, all]) => [name, summary(all)]));
}

/** Parses the rounds of bench/profile.ts: each is a line with its rate, if it has one, before a line with its CPU. */
function roundsIn(said: string, slower: number): Round[] {
  return [...said.matchAll(/^(.*)\nCPU ms each: (.*)$/gm)].map(([, text, cpu]) => {
    const rate = / (\d+)\/s/.exec(text!)?.[1];
    const costs = [...cpu!.matchAll(/([a-z][\w-]*) ([\d.]+)/g)];
    return {
      perSecond: rate === undefined ? null : Number(rate) * slower,
      cpuMs: new Map(costs.map(([, process, ms]) => [process!, Number(ms) / slower])),
    };
  });
}

function summary(rounds: readonly Round[]): Measured {
  const rates = rounds.flatMap(({ perSecond }) => perSecond ?? []);
  const processes = new Set(rounds.flatMap(({ cpuMs }) => [...cpuMs.keys()]));
  const meanOf = (process: string): number =>
    rounds.reduce((sum, { cpuMs }) => sum + (cpuMs.get(process) ?? 0), 0) / rounds.length;
  return {
    rounds: rounds.length,
    perSecond: rates.length > 0 ? median(rates) : null,
    cpuMs: Object.fromEntries([...processes].map((process) => [process, meanOf(process)])),
  };
}

function run({ root, env }: Side, { shape, mode, workers, rounds }: TurnsOptions): string {
  const options = ['--plain', '--mode', mode, '--workers', String(workers), '--rounds', String(rounds)];
  const command = ['--import', 'tsx', join(root, 'bench/profile.ts'), shape, ...options];
  const ended = spawnSync(process.execPath, command, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (ended.status !== 0)
    throw new Error(`bench/profile.ts ${shape} in ${root} ended with ${ended.status ?? ended.signal}`);
  return ended.stdout;
}

/** Returns the milliseconds of a fixed piece of work similar to an engine's: objects, JSON, hashes. */
function pace(): number {
  const began = systemClock.monotonic();
  for (let round = 0; round < 60; round++) {
    const objects = Array.from({ length: 4_000 }, (_, i) => ({ i, name: `object ${i}`, pair: [i, i + 1] }));
    const text = JSON.stringify(JSON.parse(JSON.stringify(objects)));
    createHash('sha256').update(text).digest();
  }
  return systemClock.monotonic() - began;
}
