import { columns, type Plan } from './report';
import { rounded } from './statistics';

/** One size of a bench: the most memory of each process in each step, MB. */
interface SizedRun<Step extends string> {
  deployments: number;
  peakMb: Record<Step, Record<string, number>>;
}

/**
 * Tells, and returns, by how much the memory of each process grows from the first run to the second, larger one. `mostMb`: the most of
 * any process in the larger run; `mostGrowth`: the largest ratio.
 */
export function memoryGrowth<Step extends string>(
  plan: Plan,
  title: string,
  steps: readonly Step[],
  runs: readonly SizedRun<Step>[],
): { mostMb: number; mostGrowth: number; growth: Record<string, Record<Step, number>> } {
  const [small, large] = runs as readonly [SizedRun<Step>, SizedRun<Step>];
  const times = `x${large.deployments / small.deployments}`;
  plan.say(columns(`${title}: most memory, MB`, ...steps.flatMap((step) => [`${step} x1`, times, 'ratio'])));
  const growth: Record<string, Record<Step, number>> = {};
  for (const name of Object.keys(small.peakMb[steps[0]!])) {
    const of = (step: Step) => rounded(large.peakMb[step][name]! / small.peakMb[step][name]!, 2);
    growth[name] = Object.fromEntries(steps.map((step) => [step, of(step)])) as Record<Step, number>;
    const cells = steps.flatMap((step) => [small.peakMb[step][name]!, large.peakMb[step][name]!, of(step)]);
    plan.say(columns(`  ${name}`, ...cells));
  }
  return {
    mostMb: Math.max(...steps.flatMap((step) => Object.values<number>(large.peakMb[step]))),
    mostGrowth: Math.max(...Object.values(growth).flatMap((one) => Object.values<number>(one))),
    growth,
  };
}
