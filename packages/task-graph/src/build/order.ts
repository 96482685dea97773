import type { NodeInstance } from '../model';
import { addDependency, type Draft, followersOf } from './draft';
import type { ModelIndex } from './model-index';
import { LIFECYCLE } from './steps';

/**
 * Which instance waits for which (reference workflows.md 1.5). `places` holds the subgraph of every instance in the
 * graph, intact ones included. Installing, a source waits for its targets; uninstalling, a target for its sources.
 * A relationship with a property `operation` names the one lifecycle operation to wait for instead of all.
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
