// The console in a real browser with a manager full of data: the bars of docs/console.md, each with its limit. Needs dist/ and
// Chromium. Figures beside other load mean little: headless browsers have no GPU, and frames wait for the cores.
import { createBars } from '../console/bars';
import { measureLog, measureTimeline, measureTopology } from '../console/measure-execution';
import { measureCold, measureList } from '../console/measure-list';
import { judgeOffences, measureInteractions, measureRest } from '../console/measure-rest';
import { measureBusyStream, measureCuts } from '../console/measure-streams';
import { startWorld, type World } from '../console/world';
import type { Plan } from '../harness/report';

const MINUTE_MS = 60_000;
const LIFE_MS = { quick: 20_000, full: 5 * MINUTE_MS, hour: 60 * MINUTE_MS };
const REST_MS = { quick: 10_000, full: MINUTE_MS, hour: MINUTE_MS };

/** Measures the parts. `plan.only`: a pattern of parts. A part that fails is a missed bar; the others are still measured. */
export async function console_(plan: Plan): Promise<object> {
  const bars = createBars(plan.say);
  const length = plan.isHour ? 'hour' : plan.isQuick ? 'quick' : 'full';
  const only = plan.only === undefined ? null : new RegExp(plan.only);
  const parts: Record<string, (world: World) => Promise<void>> = {
    cold: (world) => measureCold(world, bars, plan.rounds),
    list: (world) => measureList(world, bars),
    topology: (world) => measureTopology(world, bars),
    timeline: (world) => measureTimeline(world, bars),
    log: (world) => measureLog(world, bars),
    cuts: (world) => measureCuts(world, bars),
    interactions: (world) => measureInteractions(world, bars),
    rest: (world) => measureRest(world, bars, REST_MS[length]),
    stream: (world) => measureBusyStream(world, bars, LIFE_MS[length]),
  };
  const world = await startWorld(plan);
  try {
    for (const [name, measure] of Object.entries(parts))
      if (only?.test(name) ?? true) await measure(world).catch((error: unknown) => bars.failed(name, error));
    judgeOffences(world, bars);
  } finally {
    await world.stop();
  }
  const missed = bars.all.filter(({ passed }) => passed === false).map(({ name }) => name);
  plan.say(missed.length === 0 ? 'every bar is kept' : `${missed.length} bars are missed`);
  return { length, sizes: world.sizes, missed, bars: bars.all };
}
