import { taskReady } from '@baton/contracts';
import { type OutgoingMessage, outbox, outgoing } from '@baton/postgres';
import type { Ports } from '../../ports';
import { touchDispatched, unclaimedTasks } from '../store/tasks.sql';

const BATCH = 100;
const OLDER_THAN_MS = 5_000;
/**
 * Together with the lease, the second of the reaper and two rounds of this loop, it stays within the 20 s that row F3 of
 * docs/RELIABILITY.md allows.
 */
const LOST_OLDER_THAN_MS = 1_000;

/** Wakes workers again for ready operations that nobody claimed: a wake-up is only a message and may be lost. */
export async function announceUnclaimed(deps: Pick<Ports, 'db'>): Promise<number> {
  const tasks = await unclaimedTasks(deps.db.query, OLDER_THAN_MS, LOST_OLDER_THAN_MS, BATCH);
  if (tasks.length === 0) return 0;
  // A task that was claimed meanwhile is announced once more than needed, which costs one call.
  await deps.db.tx(async (tx) => {
    await outbox.appendAll(tx, tasks.map(readyMessage));
    await touchDispatched(
      tx,
      tasks.map((task) => task.id),
    );
  });
  return tasks.length;
}

function readyMessage(task: {
  id: string;
  execution_id: string;
  tenant: string;
  is_workflow: boolean;
}): OutgoingMessage {
  const about = { tenant: task.tenant, key: task.execution_id };
  const { execution_id: executionId, id: taskId, is_workflow: isWorkflow } = task;
  return outgoing(taskReady, about, { executionId, taskId, ...(isWorkflow && { isWorkflow }) });
}
