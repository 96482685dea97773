import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '@baton/kernel';
import type { Mode } from '../../test/harness/fleet';
import { median } from './statistics';

/** A manager of a checkout, built, with what is special in its environment. */
export interface Side {
  name: string;
  /** The root of the checkout. */
  root: string;
  env?: Record<string, string>;
}

export interface TurnsOptions {
  /** Of bench/profile.ts. */
  shape: string;
  mode: Mode;
  workers: number;
  turns: number;
  /** Of each manager; those of the first half compile what they run and do not count. */
  rounds: number;
}

/** Medians of all rounds that count, as a machine does them at the pace of the first moment. */
export interface Measured {
  rounds: number;
  /** Operations or requests a second; null: the shape has a fixed rate. */
  perSecond: number | null;
  /** CPU ms of an operation, by process; `all` is their sum. */
  cpuMs: Record<string, number>;
}

/**
 * Managers of several sides in turns. A machine whose neighbours work changes its speed by a third within minutes: each run stands
 * between two runs of a fixed piece of work, and its figures are divided by the time of those.
 */
export function inTurns(sides: readonly Side[], o: TurnsOptions): Map<string, Measured> {
  const first = pace();
  const rates = new Map(sides.map(({ name }) => [name, [] as number[]]));
  const costs = new Map(sides.map(({ name }) => [name, new Map<string, number[]>()]));
  for (let turn = 0; turn < o.turns; turn++)
    for (const side of turn % 2 === 0 ? sides : [...sides].reverse()) {
      const before = pace();
      const said = run(side, o);
      const slower = (before + pace()) / 2 / first;
      for (const perSecond of numbersIn(said, / (\d+)\/s/g, o))
        rates.get(side.name)!.push(perSecond * slower);
      for (const line of counting([...said.matchAll(/^CPU ms each: (.*)$/gm)], o))
        for (const [, process, ms] of line[1]!.matchAll(/([a-z][\w-]*) ([\d.]+)/g)) {
          const cost = costs.get(side.name)!;
          cost.set(process!, [...(cost.get(process!) ?? []), Number(ms) / slower]);
        }
    }
  return new Map(
    sides.map(({ name }) => {
      const rate = rates.get(name)!;
      const cpuMs = Object.fromEntries(
        [...costs.get(name)!].map(([process, ms]) => [process, mean(ms, o.turns * (o.rounds - skipped(o)))]),
      );
      return [
        name,
        {
          rounds: o.turns * (o.rounds - skipped(o)),
          perSecond: rate.length > 0 ? median(rate) : null,
          cpuMs,
        },
      ];
    }),
  );
}

const skipped = ({ rounds }: TurnsOptions): number => Math.floor(rounds / 2);
const counting = <T>(list: readonly T[], o: TurnsOptions): T[] => list.slice(skipped(o));
const numbersIn = (text: string, pattern: RegExp, o: TurnsOptions): number[] =>
  counting([...text.matchAll(pattern)], o).map(([, number]) => Number(number));
/** A process that took no measurable time in a round is not named there. */
const mean = (values: readonly number[], rounds: number): number =>
  values.reduce((sum, value) => sum + value, 0) / rounds;

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

/** Milliseconds of a fixed piece of work like that of an engine: objects, JSON, hashes. */
function pace(): number {
  const began = systemClock.monotonic();
  for (let round = 0; round < 60; round++) {
    const objects = Array.from({ length: 4_000 }, (_, i) => ({ i, name: `object ${i}`, pair: [i, i + 1] }));
    const text = JSON.stringify(JSON.parse(JSON.stringify(objects)));
    createHash('sha256').update(text).digest();
  }
  return systemClock.monotonic() - began;
}
