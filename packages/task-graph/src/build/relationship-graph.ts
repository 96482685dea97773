import type { NodeInstance } from '../model';
import type { GraphSpec } from '../task';
import { type BuildContext, lifecycleGraph } from './lifecycle-graph';

/** Pairs [source instance, target instance]. */
export type Pairs = readonly (readonly [string, string])[];

/** Builds a graph that establishes or unlinks single relationships of instances that do not change. */
export function relationshipGraph(
  context: BuildContext,
  name: string,
  direction: 'install' | 'uninstall',
  intact: readonly NodeInstance[],
  pairs: Pairs,
): GraphSpec {
  return lifecycleGraph(context, { name, direction, processed: [], intact, isModified: isAmong(pairs) });
}

function isAmong(pairs: Pairs): (r: { source: NodeInstance; target: NodeInstance }) => boolean {
  const wanted = new Set(pairs.map(([source, target]) => `${source} ${target}`));
  return (r) => wanted.has(`${r.source.id} ${r.target.id}`);
}
