import type { Envelope } from '@baton/contracts';
import type { HeldTasks } from '../held-task';

/** Kills running operations of this worker at once; a lost message is made up for by the next heartbeat's answer. */
export function onTasksCancelled(deps: { tasks: HeldTasks }) {
  return ({ payload }: Envelope<{ executionId: string; taskIds: string[] }>): void => {
    for (const taskId of payload.taskIds) {
      const task = deps.tasks.get(taskId);
      if (task) deps.tasks.stop(task, 'cancelled');
    }
  };
}
