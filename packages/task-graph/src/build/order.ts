import type { NodeInstance } from '../model';
import { addDependency, type Draft, followersOf } from './draft';
import type { ModelIndex } from './model-index';
import { LIFECYCLE } from './steps';

/**
 * Adds the dependencies between instances (reference workflows.md 1.5). `places` holds the subgraph of every instance
 * in the graph, including intact ones. For an install a source waits for its targets; for an uninstall a target waits
 * for its sources. A relationship with a property `operation` waits only for that lifecycle operation instead of all.
 */
export function orderInstances(
  draft: Draft,
  ix: ModelIndex,
  instances: readonly NodeInstance[],
  places: ReadonlyMap<string, number>,
  direction: 'install' | 'uninstall',
): void {
  for (const source of instances) {
    const own = places.get(source.id);
    if (own === undefined) continue;
    for (const { target, plan } of ix.relationshipsOf(source)) {
      const other = places.get(target.id);
      if (other === undefined || other === own) continue;
      const [waiting, awaited] = direction === 'install' ? [own, other] : [other, own];
      const operation = plan.properties?.operation;
      const on =
        typeof operation === 'string' ? followersOf(draft, awaited, `${LIFECYCLE}.${operation}`) : [awaited];
      for (const task of on) addDependency(draft, waiting, task);
    }
  }
}
