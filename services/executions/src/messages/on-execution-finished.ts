import type { Envelope, executionFinished, MessageType } from '@baton/contracts';
import { nullIfNotFound } from '@baton/kernel';
import { gather } from '@baton/postgres';
import { settleNested } from '../commands/await-nested';
import { collectEnded } from '../commands/collect-ended';
import { wakeEnded } from '../commands/wake-deferred';
import type { EngineDeps } from '../engine/deps';
import { deleteDeletion } from '../store/executions.sql';

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
    if (payload.workflowId !== 'delete_deployment_environment' || payload.status !== 'terminated') return;
    if (!(await isGone(deps, tenant, payload.deploymentId))) return;
    await deps.db.tx((tx) => deleteDeletion(tx, tenant, payload.executionId, wire === 'cloudify'));
  };
}

async function isGone(deps: EngineDeps, tenant: string, deploymentId: string): Promise<boolean> {
  const asked = deps.deployments.facts(tenant, deploymentId, { username: '', isAdministrator: true });
  return (await nullIfNotFound(asked)) === null;
}
