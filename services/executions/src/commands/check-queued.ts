import { isAppError } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import { isSystemWorkflowName } from '../domain/system-workflows';
import type { EngineDeps } from '../engine/deps';
import { type ExecutionGroupRow, startableMembers } from '../store/execution-groups.sql';
import { lockExecution, updateExecution } from '../store/executions.sql';
import { countAtWork } from '../store/queue.sql';
import type { ExecutionRow } from '../store/rows';
import type { DB } from '../store/tables.gen';
import { checkAgain } from './request-execution';

/** Why it can no longer start; null = it can; `later` = that cannot be said now. */
export async function refusalOf(
  deps: EngineDeps,
  candidate: ExecutionRow,
): Promise<{ error: string } | 'later' | null> {
  try {
    await checkAgain(deps, candidate);
    return null;
  } catch (err) {
    if (isAppError(err) && !err.entry.retryable && err.entry.http < 500)
      return { error: `Error dequeueing execution: ${err.message}` };
    deps.log.warn({ err, executionId: candidate.id }, 'a queued execution could not be checked');
    return 'later';
  }
}

/** What waited ends as failed; false: it does not wait any more. The caller drives it. */
export async function failQueued(tx: Tx<DB>, id: string, error: string): Promise<boolean> {
  if ((await lockExecution(tx, id))?.status !== 'queued') return false;
  // `failed` is written at the end together with the terminal event.
  await updateExecution(tx, id, { status: 'pending', phase: 'ending', outcome: { status: 'failed', error } });
  return true;
}

/**
 * Checks those members of a group that are next as if they were asked for now: what has become impossible while they
 * waited (their deployment, its state, the workflow) fails them. Answers the ids that may start.
 */
export async function checkMembersAgain(
  deps: EngineDeps,
  group: Pick<ExecutionGroupRow, 'tenant' | 'id' | 'concurrency'>,
): Promise<string[]> {
  const { query } = deps.db;
  const room = deps.queue.maxConcurrent() - (await countAtWork(query));
  const passed: string[] = [];
  for (const member of await startableMembers(query, group, room)) {
    // Whoever carries out a system workflow checks it; one that deletes a deployment has nothing to do when it is gone.
    const isOfSystem = isSystemWorkflowName(member.workflow_id);
    const refusal = isOfSystem ? null : await refusalOf(deps, member);
    if (refusal === null) passed.push(member.id);
    else if (refusal !== 'later') {
      if (await deps.db.tx((tx) => failQueued(tx, member.id, refusal.error))) deps.wake.drive(member.id);
    }
  }
  return passed;
}
