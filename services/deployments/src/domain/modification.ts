import type { ChangedInstance, InstanceRelationship } from '@baton/dsl';
import { AppError } from '@baton/kernel';

/** Deployment modifications (reference/workflows.md 1.10, reference/rest-api.md 5.5). Pure. */

export type ModifiedNodes = Record<
  string,
  { instances?: number; removed_ids_include_hint?: string[]; removed_ids_exclude_hint?: string[] }
>;

/** A node or scaling group with its bounds for the planned number. */
export interface Scalable {
  name: string;
  isGroup: boolean;
  min: number;
  /** -1: no bound. */
  max: number;
}

/**
 * Checks a modification. Below zero nothing can be planned; `isBounded`: nor outside the bounds of the blueprint. An unknown name is 404: the recordings of the original show this, against reference/rest-api.md 5.5.
 * @throws AppError not_found_error for an unknown name, illegal_action_error for a number outside the bounds.
 */
export function checkModified(
  modified: ModifiedNodes,
  scalables: readonly Scalable[],
  isBounded: boolean,
): void {
  for (const [name, change] of Object.entries(modified)) {
    const found = scalables.find((one) => one.name === name);
    if (!found) {
      throw new AppError(
        'not_found_error',
        `There is neither a node nor a scaling group \`${name}\` in the deployment`,
        {
          field: `nodes.${name}`,
          expected: scalables.map((one) => one.name),
        },
      );
    }
    const wanted = change.instances;
    const { min, max } = isBounded ? found : { min: 0, max: -1 };
    if (wanted === undefined || (wanted >= min && (max === -1 || wanted <= max))) continue;
    throw new AppError(
      'illegal_action_error',
      `\`${name}\` takes ${min} to ${max === -1 ? 'any number of' : max} instances, not ${wanted}`,
      { field: `nodes.${name}.instances`, expected: { min, max } },
    );
  }
}

/** Marks the instances of a REST answer: those without a mark become `related`. */
export function markRelated(instances: readonly ChangedInstance[]) {
  return instances.map((instance) => ({ ...instance, modification: instance.modification ?? 'related' }));
}

/** Merges `gained` into `current`; relationships to one target node are together, in the order of the node's relationships. */
export function mergeRelationships(
  current: readonly InstanceRelationship[],
  gained: readonly InstanceRelationship[],
  templateOrder: readonly { type: string; target_id: string }[],
): InstanceRelationship[] {
  const key = (r: InstanceRelationship): string => `${r.type}\n${r.target_id}`;
  const known = new Set(current.map(key));
  const all = [...current, ...gained.filter((r) => !known.has(key(r)))];
  const rank = (r: InstanceRelationship): number => {
    const index = templateOrder.findIndex((t) => t.target_id === r.target_name && t.type === r.type);
    return index < 0 ? templateOrder.length : index;
  };
  return all
    .map((r, i) => ({ r, i }))
    .sort((a, b) => rank(a.r) - rank(b.r) || a.i - b.i)
    .map(({ r }) => r);
}
