// What each part that only makes a manager faster is worth: managers with and without it, in turns (docs/speed-parts.md).
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { SPEED_PARTS, type SpeedPart } from '@baton/kernel';
import type { Mode } from '../../test/harness/fleet';
import { benchRoot } from '../harness/child';
import { columns, type Plan } from '../harness/report';
import { median, rounded } from '../harness/statistics';

/** Where a part should show, if anywhere: a shape of bench/profile.ts. */
interface Place {
  part: SpeedPart;
  shape: string;
  mode: Mode;
  workers?: number;
}

const PLACES: readonly Place[] = [
  { part: 'call-streams', shape: 'many', mode: 'services' },
  { part: 'call-streams', shape: 'wide', mode: 'services' },
  { part: 'packed-answers', shape: 'list', mode: 'services' },
  { part: 'handed-over-messages', shape: 'many', mode: 'standalone' },
  { part: 'handed-over-messages', shape: 'dispatch', mode: 'standalone' },
  { part: 'claim-batches', shape: 'wide', mode: 'services', workers: 3 },
  { part: 'claim-batches', shape: 'layered', mode: 'services' },
  { part: 'outbox-express', shape: 'many', mode: 'services' },
  { part: 'outbox-express', shape: 'many', mode: 'standalone' },
  { part: 'outbox-express', shape: 'dispatch', mode: 'standalone' },
];

/** Of a manager; the first half of its rounds compiles what it runs. */
const ROUNDS = { quick: 6, full: 10 };

interface Measured {
  /** Operations or requests a second; none for shapes at a fixed rate. */
  perSecond: number[];
  /** Milliseconds of CPU of all processes for each. */
  cpuMs: number[];
}

function measure({ part, shape, mode, workers = 1 }: Place, isWithout: boolean, rounds: number): Measured {
  const options = ['--plain', '--mode', mode, '--workers', String(workers), '--rounds', String(rounds)];
  const run = spawnSync(
    process.execPath,
    ['--import', 'tsx', join(benchRoot, 'profile.ts'), shape, ...options],
    {
      encoding: 'utf8',
      env: { ...process.env, BATON_WITHOUT: isWithout ? part : '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  if (run.status !== 0) throw new Error(`bench/profile.ts ${shape} ended with ${run.status ?? run.signal}`);
  const numbers = (pattern: RegExp): number[] =>
    [...run.stdout.matchAll(pattern)].map(([, number]) => Number(number)).slice(rounds / 2);
  return { perSecond: numbers(/ (\d+)\/s/g), cpuMs: numbers(/; all ([\d.]+)/g) };
}

/** `plan.rounds` turns; ratios are those without the part to those with it. */
export async function parts(plan: Plan): Promise<object> {
  const only = plan.only ? new RegExp(plan.only) : null;
  const rounds = plan.isQuick ? ROUNDS.quick : ROUNDS.full;
  const results: Record<string, object> = {};
  plan.say(columns('without it: of with it', 'per second', 'CPU'));
  for (const place of PLACES.filter(({ part }) => SPEED_PARTS.includes(part))) {
    const name = `${place.part}, ${place.shape}, ${place.mode}`;
    if (only && !only.test(name)) continue;
    const all = {
      with: { perSecond: [], cpuMs: [] } as Measured,
      without: { perSecond: [], cpuMs: [] } as Measured,
    };
    for (let turn = 0; turn < plan.rounds; turn++)
      for (const side of turn % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
        const { perSecond, cpuMs } = measure(place, side === 'without', rounds);
        all[side].perSecond.push(...perSecond);
        all[side].cpuMs.push(...cpuMs);
      }
    const of = (key: keyof Measured): { with: number; without: number; ratio: number } | null => {
      if (all.with[key].length === 0) return null;
      const [having, lacking] = [median(all.with[key]), median(all.without[key])];
      return { with: having, without: lacking, ratio: rounded(lacking / having) };
    };
    const [perSecond, cpuMs] = [of('perSecond'), of('cpuMs')];
    results[name] = { perSecond, cpuMs };
    plan.say(columns(name, perSecond?.ratio ?? '-', cpuMs?.ratio ?? '-'));
  }
  return results;
}
