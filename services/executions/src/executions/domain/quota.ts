import { quotaReached } from '@baton/contracts';
import type { AppError } from '@baton/kernel';

/** How many executions a tenant may have, null: as many as it likes. */
export interface ExecutionQuota {
  /** At work at once; further ones are queued. */
  running: number | null;
  /** That wait for their turn or their time; more are refused. */
  queued: number | null;
}

export const noQuota: Readonly<ExecutionQuota> = { running: null, queued: null };

/**
 * Whether an execution is one that the quota of its tenant is about. Those that another execution starts and waits for are not
 * counted and never held back: their parent has the place, and would wait for ever. Nor is what the manager does for itself, as
 * the removal of a deployment.
 */
export function isUnderQuota(execution: { parentId?: string | null; isSystemWorkflow: boolean }): boolean {
  return (execution.parentId ?? null) === null && !execution.isSystemWorkflow;
}

/** Room in the queue comes with every execution that ends. */
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

/** Of a resume, which has no place in the queue. */
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
