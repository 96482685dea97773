import type { Ports } from '../../ports';
import { type ExecutionGroupRow, updateGroup } from '../store/execution-groups.sql';

type ChangeExecutionGroupDeps = Pick<Ports, 'db' | 'deployments' | 'wake'>;

export interface GroupChange {
  concurrency?: number | null;
  success_group_id?: string | null;
  failure_group_id?: string | null;
}

/**
 * PATCH /execution-groups/{id}: a higher concurrency starts queued members at once; 0 pauses the group. The deployment groups
 * that collect ended deployments must exist. @throws AppError not_found_error
 */
export async function changeExecutionGroup(
  deps: ChangeExecutionGroupDeps,
  group: ExecutionGroupRow,
  caller: { username: string; isAdministrator: boolean },
  change: GroupChange,
): Promise<void> {
  for (const id of [change.success_group_id, change.failure_group_id])
    if (id) await deps.deployments.groupMembers(group.tenant, id, caller, 0, 1);
  await deps.db.tx((tx) =>
    updateGroup(tx, group.tenant, group.id, {
      concurrency: change.concurrency ?? undefined,
      success_group_id: change.success_group_id,
      failure_group_id: change.failure_group_id,
    }),
  );
  deps.wake.dequeue();
}
