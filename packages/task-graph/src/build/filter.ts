import type { JsonObject } from '@baton/kernel';
import type { NodeInstance } from '../model';
import type { ModelIndex } from './model-index';

/** Returns the instances selected by the filters `type_names`, `node_ids`, `node_instance_ids`; an empty list selects all. */
export function filterInstances(ix: ModelIndex, parameters: JsonObject): NodeInstance[] {
  const types = namesOf(parameters.type_names);
  const nodes = namesOf(parameters.node_ids);
  const ids = namesOf(parameters.node_instance_ids);
  return ix.model.nodeInstances.filter(
    (instance) =>
      (nodes.size === 0 || nodes.has(instance.node_id)) &&
      (ids.size === 0 || ids.has(instance.id)) &&
      (types.size === 0 || (ix.nodes.get(instance.node_id)?.type_hierarchy ?? []).some((t) => types.has(t))),
  );
}

export function namesOf(value: unknown): Set<string> {
  if (typeof value === 'string') return new Set([value]);
  return new Set(Array.isArray(value) ? value.filter((v) => typeof v === 'string') : []);
}

/** All instances but `processed`. */
export function othersThan(ix: ModelIndex, processed: readonly NodeInstance[]): NodeInstance[] {
  const own = new Set(processed);
  return ix.model.nodeInstances.filter((instance) => !own.has(instance));
}
