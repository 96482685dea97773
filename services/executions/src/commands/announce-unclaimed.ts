import { taskReady } from '@baton/contracts';
import { outbox } from '@baton/postgres';
import type { EngineDeps } from '../engine/deps';
import { touchDispatched, unclaimedTasks } from '../store/tasks.sql';

const BATCH = 100;
const OLDER_THAN_MS = 5_000;

/** Wakes workers again for ready operations that nobody claimed: a wake-up is only a message and may be lost. */
export async function announceUnclaimed(deps: Pick<EngineDeps, 'db'>): Promise<number> {
  return await deps.db.tx(async (tx) => {
    const tasks = await unclaimedTasks(tx, OLDER_THAN_MS, BATCH);
    for (const task of tasks) {
      await outbox.append(
        tx,
        taskReady,
        { tenant: task.tenant, key: task.execution_id },
        { executionId: task.execution_id, taskId: task.id },
      );
    }
    if (tasks.length > 0)
      await touchDispatched(
        tx,
        tasks.map((task) => task.id),
      );
    return tasks.length;
  });
}
