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

/** A deployment that was just stored, and the groups that its blueprint puts it in (deployment_settings.default_groups). */
export interface Joining {
  key: number;
  createdBy: string;
  groups: readonly string[];
}

/** Makes new deployments members of the groups that their blueprints name; a group that is missing is made. */
export async function joinDefaultGroups(
  tx: AnyTx,
  principal: Principal,
  joining: readonly Joining[],
): Promise<void> {
  // Always in the same order, so that two requests wait for each other and do not lock each other out.
  const ids = [...new Set(joining.flatMap(({ groups }) => groups))].sort();
  for (const id of ids) {
    const members = joining.filter(({ groups }) => groups.includes(id));
    const { tenant } = principal;
    const { createdBy } = members[0]!;
    await insertGroup(tx, { tenant, id, visibility: 'tenant', createdBy, createdAt: null });
    const group = await lockGroup(tx, tenant, id);
    // Deleted in between by somebody else: whoever deletes a group takes its members out of it.
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

/** Makes a deployment a member of a group, for executions that collect by result; nothing happens when one of them is gone. */
export async function joinGroup(
  { db }: Pick<ServiceDeps, 'db'>,
  tenant: string,
  groupId: string,
  deploymentId: string,
): Promise<void> {
  await db.tx((tx) => addMemberById(tx, tenant, groupId, deploymentId));
}
