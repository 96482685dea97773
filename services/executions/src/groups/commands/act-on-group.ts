import type { ExecutionStatus } from '@baton/task-graph';
import { cancelExecution, leaveUnfit } from '../../engine/commands/cancel-execution';
import { type DriveExecutionDeps, driveExecution } from '../../engine/commands/drive-execution';
import { type CancelMode, statusOfCancel } from '../../engine/domain/cancel';
import type { Ports } from '../../ports';
import {
  cancelQueuedMembers,
  type ExecutionGroupRow,
  lockGroup,
  membersIn,
  updateGroup,
} from '../store/execution-groups.sql';
import { resumeGroup } from './resume-group-members';

export type ActOnGroupDeps = Pick<Ports, 'db' | 'log'> & DriveExecutionDeps;

export type GroupAction = CancelMode | 'resume' | 'force-resume';

/** The most members that are acted on at a time: each takes a connection. */
const AT_ONCE = 4;

const ACTIVE: readonly ExecutionStatus[] = [
  'pending',
  'started',
  'cancelling',
  'force_cancelling',
  'kill_cancelling',
];

/**
 * Applies one action to every member in a fitting state (reference/rest-api.md 5.8, 6.2); other members are left alone. A cancel
 * first cancels the waiting members, in one transaction, so that none of them starts in the place of an ending one. After a crash
 * in the middle the action may be repeated. A resume is noted on the members and done as far as the group's concurrency allows;
 * the others follow when there is room. Returns the number of members in a fitting state.
 */
export async function actOnGroup(
  deps: ActOnGroupDeps,
  group: ExecutionGroupRow,
  action: GroupAction,
): Promise<number> {
  const { tenant, id } = group;
  if (action === 'resume' || action === 'force-resume') return await resumeGroup(deps, group, action);
  const waiting = await deps.db.tx(async (tx) => {
    await lockGroup(tx, tenant, id);
    await updateGroup(tx, tenant, id, { has_queued: false });
    return await cancelQueuedMembers(tx, tenant, id, statusOfCancel[action]);
  });
  const active = (await membersIn(deps.db.query, tenant, id, ACTIVE)).filter((one) => !waiting.includes(one));
  await each(active, (one) => leaveUnfit(cancelExecution(deps, one, action)));
  // Their ends are delivered in the background; after a crash, engine/loops/engine.loops.ts delivers them.
  void each(waiting, (one) => driveExecution(deps, one)).catch((err: unknown) =>
    deps.log.warn({ err, executionGroupId: id }, 'cancelled members end later'),
  );
  return waiting.length + active.length;
}

async function each(ids: readonly string[], act: (id: string) => Promise<void>): Promise<void> {
  const left = [...ids];
  const turn = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) await act(id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, turn));
}
