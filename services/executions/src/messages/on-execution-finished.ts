import type { Envelope, executionFinished, MessageType } from '@baton/contracts';
import { nullIfNotFound } from '@baton/kernel';
import { gather } from '@baton/postgres';
import { settleNested } from '../commands/await-nested';
import { collectEnded } from '../commands/collect-ended';
import { wakeEnded } from '../commands/wake-deferred';
import type { EngineDeps } from '../engine/deps';
import { deleteDeletion, readExecution } from '../store/executions.sql';

type Finished = typeof executionFinished extends MessageType<infer T> ? T : never;

/**
 * An execution ended: the queue has room, whoever waits for it may go on (executions that have started it, operations), and
 * its deployment may join a group; one that deleted its deployment goes with it. Repeating is harmless.
 */
export function onExecutionFinished(deps: EngineDeps, wire: 'spec' | 'cloudify') {
  // Those that end at the same moment are looked for together. One that waits and cannot be woken is left to the loop
  // settle-deferred: these messages have more to do, and would fail as long as it is broken.
  const waiting = gather<string, never>(async (executionIds) => {
    await wakeEnded(deps, executionIds).catch((err: unknown) =>
      deps.log.warn({ err, executionIds }, 'an operation that waits may be woken late'),
    );
    return [];
  });
  return async ({ tenant, payload }: Envelope<Finished>): Promise<void> => {
    deps.wake.dequeue();
    if (payload.parentExecutionId !== undefined) await settleNested(deps, payload.parentExecutionId);
    await waiting.read('', payload.executionId);
    await collectEnded(deps, tenant, payload);
    if (payload.workflowId !== 'delete_deployment_environment') return;
    if (!(await hasDeleted(deps, tenant, payload))) return;
    await deps.db.tx((tx) => deleteDeletion(tx, tenant, payload.executionId, wire === 'cloudify'));
  };
}

/**
 * Whether the deployment of a deletion is gone. Also of one that was cancelled, or failed, after deployments had heard that it
 * was through; where deployments does not answer, which a forced cancel does not wait for, such a one stays.
 */
async function hasDeleted(
  deps: EngineDeps,
  tenant: string,
  { executionId, deploymentId, status }: Finished,
): Promise<boolean> {
  const row = await readExecution(deps.db.query, executionId);
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
