// Rates of operations that do nothing, by the way in which they run, in turns; and the cold start of a TypeScript plugin.
import { systemClock } from '@baton/kernel';
import { columns, type Plan } from '../harness/report';
import { median, rounded } from '../harness/statistics';
import { openGround, type Part } from '../operations/part';
import { processParts } from '../operations/processes';
import { coldMs, typescriptParts } from '../operations/typescript';

const TURN_MS = { quick: 400, full: 1_500 };
/** Servers for scripts start one after the other, beside the scripts. */
const WARM_UP_MS = 3_000;
const COLD_STARTS = 3;

/** What each part should reach: at least a rate, and at least a share of the rate of another part. */
const BARS: Record<string, { perSecond: number; share?: [number, string] }> = {
  script: { perSecond: 400, share: [0.6, 'bare spawn'] },
  'TypeScript, own process': { perSecond: 1_500 },
};
const COLD_BAR_MS = 150;

export async function operations(plan: Plan): Promise<object> {
  const ground = await openGround();
  try {
    const parts = [...processParts(ground), ...typescriptParts(ground)];
    for (const part of parts) await perSecond(part, WARM_UP_MS);
    const turnMs = plan.isQuick ? TURN_MS.quick : TURN_MS.full;
    const rates = new Map(parts.map(({ name }) => [name, [] as number[]]));
    const cold: number[] = [];
    for (let round = 0; round < plan.rounds; round++) {
      for (const part of parts) rates.get(part.name)!.push(await perSecond(part, turnMs));
      for (let i = 0; i < COLD_STARTS; i++) cold.push(await coldMs(ground, round * COLD_STARTS + i));
    }
    return told(plan, ground.deps.scripts.isolation.name, rates, median(cold));
  } finally {
    await ground.deps.modules?.close();
    await ground.close();
  }
}

async function perSecond(part: Part, forMs: number): Promise<number> {
  const began = systemClock.monotonic();
  const until = began + forMs;
  let done = 0;
  const lane = async (): Promise<void> => {
    for (; systemClock.monotonic() < until; done++) await part.run();
  };
  await Promise.all(Array.from({ length: part.atOnce }, lane));
  return (done * 1_000) / (systemClock.monotonic() - began);
}

function told(plan: Plan, isolation: string, rates: ReadonlyMap<string, number[]>, cold: number): object {
  const results: Record<string, object> = {};
  plan.say(columns(`operations, isolation ${isolation}`, 'per second', 'bar', 'of the bar'));
  for (const [name, all] of rates) {
    const rate = median(all);
    const { perSecond: least, share } = BARS[name] ?? { perSecond: null };
    const bar = least === null ? null : Math.max(least, share ? share[0] * median(rates.get(share[1])!) : 0);
    results[name] = { perSecond: rounded(rate), bar: bar && rounded(bar), ofBar: bar && rounded(rate / bar) };
    plan.say(
      columns(name, Math.round(rate), bar === null ? '-' : Math.round(bar), bar ? rounded(rate / bar) : '-'),
    );
  }
  plan.say(
    columns('TypeScript, cold start', `${rounded(cold)} ms`, COLD_BAR_MS, rounded(COLD_BAR_MS / cold)),
  );
  return { isolation, ...results, cold: { ms: rounded(cold), barMs: COLD_BAR_MS } };
}
