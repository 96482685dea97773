import type { Envelope } from '@baton/contracts';
import type { HeldTasks } from '../claim/held-task';

interface TasksCancelled {
  executionId: string;
  taskIds: string[];
  /** Of the same tasks; absent in messages of an older release. */
  attempts?: number[] | undefined;
}

/**
 * Asks the engine at once which operations here are to be killed, when one of them is held: the message alone kills nothing,
 * for who sent it is not known here. A lost one is made up for by the next heartbeat. A later run of the same operation, which
 * a resume has begun, is not meant.
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
