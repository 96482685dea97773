import type { TaskNode } from './graph';
import type { TaskError } from './task';

/** The time limit of an operation (reference workflows.md 2.12). */

export function timeoutError(node: TaskNode): TaskError {
  const { timeout, timeoutRecoverable } = node.spec.payload as {
    timeout: number | null;
    timeoutRecoverable: boolean;
  };
  return {
    type: timeoutRecoverable ? 'RecoverableError' : 'NonRecoverableError',
    message: `Process killed due to timeout of ${timeout ?? 0} seconds`,
    recoverable: timeoutRecoverable,
  };
}

/**
 * When the time of an operation that waits is over (epoch ms): its limit holds for all its looks together and the time in
 * between. Null: it has no limit, or has not asked to wait and only its run is limited.
 */
export function limitAt({ spec, deferral }: Pick<TaskNode, 'spec' | 'deferral'>): number | null {
  if (deferral === null || spec.kind !== 'operation' || !spec.payload.timeout) return null;
  return deferral.begunAt + spec.payload.timeout * 1000;
}
