import type { Envelope } from '@baton/contracts';
import type { HeldTasks } from '../claim/held-task';

interface TasksCancelled {
  executionId: string;
  taskIds: string[];
  /** Attempts of the same tasks, in the same order; absent in messages of an older release. */
  attempts?: number[] | undefined;
}

/**
 * Asks the engine at once which operations here must be killed, when this worker holds one of the tasks. The message alone kills
 * nothing, because its sender is not authenticated here. The next heartbeat makes up for a lost message. A later attempt of the
 * same operation, begun by a resume, is not affected.
 */
export function onTasksCancelled(deps: { tasks: HeldTasks; ask: () => void }) {
  return ({ payload: { taskIds, attempts } }: Envelope<TasksCancelled>): void => {
    const isHeld = taskIds.some((taskId, i) => {
      const task = deps.tasks.get(taskId);
      return task && (attempts === undefined || attempts[i] === task.attempt);
    });
    if (isHeld) deps.ask();
  };
}
