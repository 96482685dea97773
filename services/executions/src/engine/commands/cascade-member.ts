import { isAppError } from '@baton/kernel';
import { cascadeOf } from '../../executions/commands/cascade';
import {
  acceptTogether,
  type RequestExecutionDeps,
  requestOf,
} from '../../executions/commands/request-execution';
import { subjectOf } from '../../executions/commands/start-subject';
import type { ExecutionRow } from '../../store/rows';

type CascadeMemberDeps = RequestExecutionDeps;

/**
 * Starts the workflow of a member of an execution group on the components of its deployment (reference/workflows.md 8.4). This
 * happens when the member begins, which may have waited for its turn. Each execution is queued where its deployment is busy. All
 * are started or none. Safe to repeat: an execution that was started before is found by its request id. After a crash before the
 * commit, the member is driven again, and does not begin before.
 * @returns the reason why the member cannot begin; null: it can.
 * @throws AppError of the rpc: the driver tries again.
 */
export async function cascadeMember(deps: CascadeMemberDeps, member: ExecutionRow): Promise<string | null> {
  const { parentId: _parent, ...request } = requestOf(member);
  try {
    const subject = await subjectOf(deps, request);
    const asked = { ...request, requestId: member.request_id };
    const [, ...starts] = await cascadeOf(deps, asked, { ...subject, isCascading: true });
    await acceptTogether(deps, starts);
    return null;
  } catch (error) {
    if (!isAppError(error) || error.entry.retryable || error.entry.http >= 500) throw error;
    return error.message;
  }
}
