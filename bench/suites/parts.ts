// Benefit of each part that only makes a manager faster: managers with and without it, in turns (docs/speed-parts.md).
import { join } from 'node:path';
import type { SpeedPart } from '@baton/kernel';
import type { Mode } from '../../test/harness/fleet';
import { benchRoot } from '../harness/child';
import { columns, type Plan } from '../harness/report';
import { rounded } from '../harness/statistics';
import { inTurns } from '../harness/turns';

/** Where a part should have an effect: a shape of bench/profile.ts. */
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
  { part: 'handed-over-messages', shape: 'short', mode: 'standalone' },
  { part: 'handed-over-messages', shape: 'many', mode: 'standalone' },
  { part: 'claim-batches', shape: 'wide', mode: 'services', workers: 3 },
  { part: 'claim-batches', shape: 'layered', mode: 'services' },
];

/** Rounds of each manager. */
const ROUNDS = { quick: 6, full: 10 };

/** Runs `plan.rounds` turns; ratios are results without the part divided by results with it. */
export async function parts(plan: Plan): Promise<object> {
  const only = plan.only ? new RegExp(plan.only) : null;
  const rounds = plan.isQuick ? ROUNDS.quick : ROUNDS.full;
  const root = join(benchRoot, '..');
  const results: Record<string, object> = {};
  plan.say(columns('without it, of with it', 'per second', 'CPU'));
  for (const { part, shape, mode, workers = 1 } of PLACES) {
    const name = `${part}, ${shape}, ${mode}`;
    if (only && !only.test(name)) continue;
    const sides = [
      { name: 'with', root, env: { BATON_WITHOUT: '' } },
      { name: 'without', root, env: { BATON_WITHOUT: part } },
    ];
    const measured = inTurns(sides, { shape, mode, workers, turns: plan.rounds, rounds });
    const [having, lacking] = [measured.get('with')!, measured.get('without')!];
    const rate = having.perSecond === null ? null : rounded(lacking.perSecond! / having.perSecond);
    const cpu = rounded(lacking.cpuMs.all! / having.cpuMs.all!);
    results[name] = { with: having, without: lacking, ratios: { perSecond: rate, cpuMs: cpu } };
    plan.say(columns(name, rate ?? '-', cpu));
  }
  return results;
}
