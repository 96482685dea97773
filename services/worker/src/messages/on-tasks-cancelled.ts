import type { Envelope } from '@baton/contracts';
import type { HeldTasks } from '../held-task';

interface TasksCancelled {
  executionId: string;
  taskIds: string[];
  /** Of the same tasks; absent in messages of an older release. */
  attempts?: number[] | undefined;
}

/**
 * Kills running operations of this worker at once; a lost message is made up for by the next heartbeat's answer. A later run
 * of the same operation, which a resume has begun, goes on.
 */
export function onTasksCancelled(deps: { tasks: HeldTasks }) {
  return ({ payload: { taskIds, attempts } }: Envelope<TasksCancelled>): void => {
    for (const [i, taskId] of taskIds.entries()) {
      const task = deps.tasks.get(taskId);
      const isMeant = attempts === undefined || attempts[i] === task?.attempt;
      if (task && isMeant) deps.tasks.stop(task, 'cancelled');
    }
  };
}
