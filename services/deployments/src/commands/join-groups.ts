import type { Principal } from '@baton/contracts';
import type { AnyTx } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import {
  addMemberById,
  addMembers,
  insertGroup,
  lockGroup,
  readGroupLabels,
} from '../store/deployment-groups.sql';
import { changeMemberLabels } from './group-labels';

/** A deployment that was just stored, and the groups that its blueprint assigns it to (deployment_settings.default_groups). */
export interface Joining {
  key: number;
  createdBy: string;
  groups: readonly string[];
}

/** Adds new deployments to the groups that their blueprints name; a missing group is created. */
export async function joinDefaultGroups(
  tx: AnyTx,
  principal: Principal,
  joining: readonly Joining[],
): Promise<void> {
  // Always in the same order, so that two requests wait for each other instead of causing a deadlock.
  const ids = [...new Set(joining.flatMap(({ groups }) => groups))].sort();
  for (const id of ids) {
    const members = joining.filter(({ groups }) => groups.includes(id));
    const { tenant } = principal;
    const { createdBy } = members[0]!;
    await insertGroup(tx, { tenant, id, visibility: 'tenant', createdBy, createdAt: null });
    const group = await lockGroup(tx, tenant, id);
    // Another request has deleted the group in between; the deletion removes its members anyway.
    if (!group) continue;
    const joined = await addMembers(
      tx,
      group.key,
      members.map(({ key }) => key),
    );
    const added = await readGroupLabels(tx, group.key);
    await changeMemberLabels(tx, principal, tenant, joined, { added, removed: [] });
  }
}

/**
 * Adds a deployment to a group, for executions that collect deployments by their result; does nothing when one of the two is gone.
 */
export async function joinGroup(
  { db }: Pick<ServiceDeps, 'db'>,
  tenant: string,
  groupId: string,
  deploymentId: string,
): Promise<void> {
  await db.tx((tx) => addMemberById(tx, tenant, groupId, deploymentId));
}
