import type { LabelPair, Principal } from '@baton/contracts';
import type { AnyTx } from '@baton/postgres';
import { changeGroupLabels, type GroupRow, readGroupLabels } from '../store/deployment-groups.sql';
import { lockDeployment } from '../store/deployments.sql';
import { addLabelsToMany, readLabels, removeLabelsFromMany } from '../store/labels.sql';
import { keysOfIds, lockGraph } from '../store/parents.sql';
import { lockUpwards } from '../store/statuses.sql';
import { COMPUTED_LABEL, replaceLabels } from './change-deployment';
import { PARENT_LABEL, parentIds, TYPE_LABEL } from './parents';

export interface LabelChange {
  added: LabelPair[];
  removed: LabelPair[];
}

const same = (a: LabelPair, b: LabelPair): boolean => a.key === b.key && a.value === b.value;

/** Replaces the labels of a group; returns the added and the removed labels, which the caller applies to every member. */
export async function replaceGroupLabels(
  tx: AnyTx,
  principal: Principal,
  group: GroupRow,
  wanted: readonly LabelPair[],
): Promise<LabelChange> {
  const before = await readGroupLabels(tx, group.key);
  const change = {
    added: wanted.filter((label) => !before.some((one) => same(one, label))),
    removed: before.filter((label) => !wanted.some((one) => same(one, label))),
  };
  await changeGroupLabels(tx, group.key, change, principal);
  return change;
}

/**
 * Applies a label change to deployments. Labels that define parents and environments are written one deployment after the other,
 * together with the statuses of all ancestors; the others in two statements for all deployments.
 */
export async function changeMemberLabels(
  tx: AnyTx,
  principal: Principal,
  tenant: string,
  keys: readonly number[],
  { added, removed }: LabelChange,
): Promise<void> {
  if (keys.length === 0 || added.length + removed.length === 0) return;
  const hasStructure = [...added, ...removed].some(
    (one) => one.key === PARENT_LABEL || one.key === TYPE_LABEL,
  );
  if (hasStructure) return await changeStructure(tx, principal, tenant, keys, { added, removed });
  if (removed.length > 0) await removeLabelsFromMany(tx, keys, removed);
  const labels = keys.flatMap((key) => added.map((label) => ({ ...label, deploymentKey: key })));
  await addLabelsToMany(tx, tenant, labels, principal);
}

async function changeStructure(
  tx: AnyTx,
  principal: Principal,
  tenant: string,
  keys: readonly number[],
  { added, removed }: LabelChange,
): Promise<void> {
  await lockGraph(tx, tenant);
  const parents = await keysOfIds(tx, tenant, parentIds(added));
  await lockUpwards(tx, [...keys, ...parents.values()]);
  for (const key of keys) {
    const row = await lockDeployment(tx, key);
    if (!row) continue;
    const before = (await readLabels(tx as never, key)).filter((label) => label.key !== COMPUTED_LABEL);
    const kept = before.filter((label) => !removed.some((one) => same(one, label)));
    const fresh = added.filter((label) => !kept.some((one) => same(one, label)));
    await replaceLabels(tx, principal, row, [...kept, ...fresh]);
  }
}
