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
 * Returns the deadline of a deferred operation (epoch ms): its time limit covers all its runs and the time in between.
 * Null: no limit, or the operation has never waited and the limit covers only its run.
 */
export function limitAt({ spec, deferral }: Pick<TaskNode, 'spec' | 'deferral'>): number | null {
  if (deferral === null || spec.kind !== 'operation' || !spec.payload.timeout) return null;
  return deferral.begunAt + spec.payload.timeout * 1000;
}
