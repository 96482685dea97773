import type { LabelPair } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { AnyTx } from '@baton/postgres';
import { refreshConsumers } from '../store/labels.sql';
import { isAncestorOf, keysOfIds, lockGraph, parentsOf, setParents } from '../store/parents.sql';
import { refreshFamily } from '../store/statuses.sql';

export const PARENT_LABEL = 'csys-obj-parent';
export const TYPE_LABEL = 'csys-obj-type';

export function parentIds(labels: readonly LabelPair[]): string[] {
  return [...new Set(labels.filter((label) => label.key === PARENT_LABEL).map((label) => label.value))];
}

/** Whether the labels make the deployment an environment; everything else is a service (reference/rest-api.md 4.2). */
export function isEnvironment(labels: readonly LabelPair[]): boolean {
  return labels.some((label) => label.key === TYPE_LABEL && label.value === 'environment');
}

function parentNotFound(id: string): AppError {
  return new AppError(
    'deployment_parent_not_found_error',
    `The label ${PARENT_LABEL} names deployment \`${id}\`, which does not exist`,
    {
      field: 'labels',
      parent: id,
    },
  );
}

/**
 * Sets the parents of a deployment to `parents`, and updates counts, statuses and consumer labels of old and new ancestors.
 * @throws AppError deployment_parent_not_found_error; conflict_error for a cycle.
 */
export async function changeParents(
  tx: AnyTx,
  of: { tenant: string; key: number; id: string },
  parents: readonly string[],
): Promise<void> {
  await lockGraph(tx, of.tenant);
  const before = await parentsOf(tx, of.key);
  const keys = await keysOfIds(tx, of.tenant, parents);
  const missing = parents.find((id) => !keys.has(id));
  if (missing !== undefined) throw parentNotFound(missing);
  const after = [...keys.values()];
  if (after.length > 0 && (await isAncestorOf(tx, of.key, after))) {
    throw new AppError('conflict_error', `Deployment \`${of.id}\` cannot become its own ancestor`, {
      field: 'labels',
      parents,
    });
  }
  await setParents(tx, of.key, after);
  const touched = [...new Set([...before, ...after])];
  await refreshFamily(tx, touched);
  await refreshConsumers(tx, touched);
}
