import { BY_CHANCE } from '../../sim/conformance/compare';
import type { Call } from '../../sim/conformance/play';

/** A run of a probe with its instances: one, or source and target. */
export interface ProbeCall extends Call {
  instances: string[];
}

interface Instance {
  id: string;
  relationships?: { target_id: string }[];
}

/** Returns whether two instances are the same, or connected by a path of relationships. */
export function relatedInstances(instances: readonly Instance[]): (a: string, b: string) => boolean {
  const targets = new Map<string, Set<string>>();
  for (const { id, relationships } of instances) {
    const set = targets.get(id) ?? new Set();
    for (const { target_id: target } of relationships ?? []) set.add(target);
    targets.set(id, set);
  }
  const reach = (from: string): Set<string> => {
    const seen = new Set([from]);
    for (const id of seen) for (const target of targets.get(id) ?? []) seen.add(target);
    return seen;
  };
  return (a, b) => reach(a).has(b) || reach(b).has(a);
}

/**
 * Returns recorded orders that did not hold, between runs of related instances. The record says that every run of A ended before
 * any run of B began. Between unrelated instances this is not a rule, but only an effect of the slow recording.
 */
export function orderProblems(
  order: readonly [string, string][],
  calls: readonly ProbeCall[],
  isRelated: (a: string, b: string) => boolean,
): string[] {
  const problems: string[] = [];
  for (const [first, second] of order) {
    if (BY_CHANCE.has(`${first}/${second}`)) continue;
    for (const a of calls.filter((call) => call.label === first)) {
      for (const b of calls.filter((call) => call.label === second)) {
        const isDue = a.instances.some((x) => b.instances.some((y) => isRelated(x, y)));
        if (isDue && a.to > b.from)
          problems.push(`order: ${first} (${a.instances}) ended after ${second} (${b.instances}) began`);
      }
    }
  }
  return problems;
}
