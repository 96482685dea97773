import { quotaReached } from '@baton/contracts';
import type { AppError } from '@baton/kernel';

/** Limits of a tenant's executions; null: no limit. */
export interface ExecutionQuota {
  /** Executions at work at once; further ones are queued. */
  running: number | null;
  /** Executions that wait for their turn or their time; more are refused. */
  queued: number | null;
}

export const noQuota: Readonly<ExecutionQuota> = { running: null, queued: null };

/**
 * Returns whether the quota of its tenant applies to an execution. An execution that another one starts and waits for is not
 * counted and never held back: its parent has the place, and would wait for ever. The same holds for work that the manager does for
 * itself, such as the removal of a deployment.
 */
export function isUnderQuota(execution: { parentId?: string | null; isSystemWorkflow: boolean }): boolean {
  return (execution.parentId ?? null) === null && !execution.isSystemWorkflow;
}

/** Short, because every execution that ends makes room in the queue. */
const RETRY_AFTER_S = 10;

export const queueIsFull = (tenant: string, limit: number, usage: number): AppError =>
  quotaReached({
    quota: 'max_queued_executions',
    tenant,
    limit,
    usage,
    what: 'executions that wait',
    remedy: 'ask again when some have started',
    retryAfterS: RETRY_AFTER_S,
  });

/** Returns the refusal of a resume, which cannot wait in the queue. */
export const noRoomToResume = (tenant: string, limit: number, usage: number): AppError =>
  quotaReached({
    quota: 'max_running_executions',
    tenant,
    limit,
    usage,
    what: 'executions at work',
    remedy: 'ask again when one has ended',
    retryAfterS: RETRY_AFTER_S,
  });
