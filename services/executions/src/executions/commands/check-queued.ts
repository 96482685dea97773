import { canonicalJson, isAppError } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import {
  type ExecutionGroupRow,
  type Startable,
  startableMembers,
} from '../../groups/store/execution-groups.sql';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { isSystemWorkflowName } from '../domain/system-workflows';
import { lookAgain, passedIn, passOver } from '../passed-over';
import { lockExecution, updateExecution } from '../store/executions.sql';
import { countAtWork } from '../store/queue.sql';
import { checkAgain, type RequestExecutionDeps } from './request-execution';
import type { StartSubject } from './start-subject';

export type CheckQueuedDeps = Pick<Ports, 'db' | 'log' | 'passedOver' | 'queue' | 'wake'> &
  RequestExecutionDeps;

/**
 * Returns the error why a queued execution can no longer start; null: it can; `later`: it cannot be checked now. Its deployment may
 * have been updated while it waited: then its present parameters, program and blueprint are stored.
 */
export async function refusalOf(
  deps: CheckQueuedDeps,
  candidate: ExecutionRow,
): Promise<{ error: string } | 'later' | null> {
  try {
    await renew(deps, candidate, await checkAgain(deps, candidate));
    return null;
  } catch (err) {
    if (isAppError(err) && !err.entry.retryable && err.entry.http < 500)
      return { error: `Error dequeueing execution: ${err.message}` };
    deps.log.warn({ err, executionId: candidate.id }, 'a queued execution could not be checked');
    return 'later';
  }
}

/** Stores the present parameters, program and blueprint of a queued execution. After a crash the next check changes nothing. */
async function renew(deps: CheckQueuedDeps, candidate: ExecutionRow, subject: StartSubject): Promise<void> {
  const { id, deployment_id, workflow_id } = candidate;
  if (deployment_id === null || isSystemWorkflowName(workflow_id)) return;
  const { parameters, program, blueprintId: blueprint_id } = subject;
  const isSame =
    program === candidate.program &&
    blueprint_id === candidate.blueprint_id &&
    canonicalJson(parameters) === canonicalJson(candidate.parameters);
  if (isSame) return;
  await deps.db.tx(async (tx) => {
    if ((await lockExecution(tx, id))?.status !== 'queued') return;
    await updateExecution(tx, id, { parameters, program, blueprint_id });
  });
}

/** Ends a queued execution as failed; returns false when it is not queued any more. The caller drives it. */
export async function failQueued(tx: Tx<DB>, id: string, error: string): Promise<boolean> {
  if ((await lockExecution(tx, id))?.status !== 'queued') return false;
  // `failed` is written at the end together with the terminal event.
  await updateExecution(tx, id, { status: 'pending', phase: 'ending', outcome: { status: 'failed', error } });
  return true;
}

/** Limit of the rounds; each one looks behind the members that cannot be checked now. */
const MAX_ROUNDS = 5;

/**
 * Checks the next members of a group as if they were requested now. A member that has become impossible while it waited (by
 * its deployment, the deployment's state, or the workflow) fails. Members that cannot be checked now do not hold up the others.
 * Returns the ids that may start, and whether every member in question could be checked.
 */
export async function checkMembersAgain(
  deps: CheckQueuedDeps,
  group: Pick<ExecutionGroupRow, 'tenant' | 'id' | 'concurrency'>,
  which: Startable,
): Promise<{ passed: string[]; areAllPassed: boolean }> {
  const { query } = deps.db;
  const room = deps.queue.maxConcurrent() - (await countAtWork(query));
  const passed: string[] = [];
  let areAllPassed = true;
  const queue = `members of ${group.tenant} ${group.id}`;
  const later = () => passedIn(deps.passedOver, queue);
  for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
    const before = later().size;
    const except = [...passed, ...later()];
    for (const member of await startableMembers(query, group, room - passed.length, { which, except })) {
      // A system workflow is checked by the service that carries it out; a deletion has nothing to do when the deployment is gone.
      const isOfSystem = isSystemWorkflowName(member.workflow_id);
      const refusal = isOfSystem ? null : await refusalOf(deps, member);
      if (refusal === null) passed.push(member.id);
      else if (refusal === 'later') {
        areAllPassed = false;
        passOver(deps.passedOver, queue, member.id);
      } else if (await deps.db.tx((tx) => failQueued(tx, member.id, refusal.error)))
        deps.wake.drive(member.id);
    }
    if (later().size > before) continue;
    lookAgain(deps.passedOver, queue);
    break;
  }
  return { passed, areAllPassed };
}
