import type { Envelope, executionFinished, MessageType } from '@baton/contracts';
import { nullIfNotFound } from '@baton/kernel';
import { forgetDeletion } from '../../executions/commands/forget-executions';
import { DELETE_WORKFLOW } from '../../executions/domain/system-workflows';
import { knownExecution } from '../../executions/queries/known-execution';
import { collectEnded } from '../../groups/commands/collect-ended';
import type { Ports } from '../../ports';
import { type AwaitNestedDeps, settleNested } from '../commands/await-nested';

type OnExecutionFinishedDeps = Pick<Ports, 'db' | 'deployments' | 'log'> & AwaitNestedDeps;

type Finished = typeof executionFinished extends MessageType<infer T> ? T : never;

/**
 * Handles the end of an execution: the execution that started it may go on, and its deployment may join a group. An execution
 * that deleted its deployment is deleted with it. Repeating is harmless. The follow-ups of every end are done by the code that
 * ends the execution (engine/commands/after-ends.ts).
 */
export function onExecutionFinished(
  deps: OnExecutionFinishedDeps,
  wire: { dropsEventsWithDeployment: boolean },
) {
  return async ({ tenant, payload }: Envelope<Finished>): Promise<void> => {
    if (payload.parentExecutionId !== undefined) await settleNested(deps, payload.parentExecutionId);
    await collectEnded(deps, tenant, payload);
    if (payload.workflowId !== DELETE_WORKFLOW) return;
    if (!(await hasDeleted(deps, tenant, payload))) return;
    await forgetDeletion(deps.db, tenant, payload.executionId, wire.dropsEventsWithDeployment);
  };
}

/**
 * Returns whether the deployment of a delete execution is gone. It may be gone although the execution was cancelled or failed:
 * that happened after the deployments service had heard that the deletion was done. When deployments does not answer (a forced
 * cancel does not wait for it), an execution that did not succeed stays.
 */
async function hasDeleted(
  deps: OnExecutionFinishedDeps,
  tenant: string,
  { executionId, deploymentId, status }: Finished,
): Promise<boolean> {
  const row = await knownExecution(deps.db.query, executionId);
  if (!row) return false;
  try {
    const asked = deps.deployments.facts(tenant, deploymentId, { username: '', isAdministrator: true });
    const facts = await nullIfNotFound(asked);
    const { deployment_made_by: madeBy } = row;
    return facts === null || (madeBy !== null && facts.madeBy !== null && madeBy !== facts.madeBy);
  } catch (err) {
    if (status === 'terminated') throw err;
    deps.log.warn({ err, executionId }, 'a deletion that did not succeed may stay without its deployment');
    return false;
  }
}
