import { deploymentsRpc, executionsRpc } from '@baton/contracts';
import { isAppError, Secret, silentLog } from '@baton/kernel';
import { createGrpcConnector } from '@baton/rpc';
import type { Rig } from '../rig';
import { INTERNAL_KEY } from '../rig';

/** A lease that ran out, with what its holder would report. */
interface StaleLease {
  task: string;
  execution: string;
  worker: string;
  attempt: number;
}

/**
 * Reports old leases the way a worker would that knows nothing of its pause, and writes runtime properties under them.
 * Ours does neither; the engine must not rely on that.
 */
export async function lateResult(
  rig: Rig,
  stale: readonly StaleLease[],
): Promise<{ sent: number; refused: number; violations: string[] }> {
  const rpc = createGrpcConnector({
    addresses: { executions: rig.fleet.rpc.executions, deployments: rig.fleet.rpc.deployments },
    log: silentLog,
    internalKey: new Secret(INTERNAL_KEY),
  });
  try {
    const executions = rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions');
    const deployments = rpc.client(deploymentsRpc.DeploymentsServiceDefinition, 'deployments');
    let refused = 0;
    const violations: string[] = [];
    for (const { task, execution, worker, attempt } of stale) {
      const outcome = {
        taskId: task,
        executionId: execution,
        attempt,
        kind: executionsRpc.OutcomeKind.OUTCOME_KIND_SUCCEEDED,
        resultJson: '"a late result"',
        errorJson: '',
        retryAfter: -1,
        startedAt: '',
        endedAt: '',
      };
      const answer = await executions.finishTasks({ workerId: worker, outcomes: [outcome], room: 0 });
      if (answer.refused.includes(task)) refused++;
      violations.push(...(await lateWrite(rig, deployments, task, attempt)));
    }
    return { sent: stale.length, refused, violations };
  } finally {
    rpc.close();
  }
}

/** A write of an old attempt after the new one has written: must be refused. */
async function lateWrite(
  rig: Rig,
  deployments: { updateNodeInstance(request: object): Promise<unknown> },
  task: string,
  attempt: number,
): Promise<string[]> {
  const [written] = await rig.sql<{ tenant: string; id: string; version: number }>(
    `select tenant, id, version from deployments.node_instances where written_task = $1 and written_attempt > $2`,
    [task, attempt],
  );
  if (!written) return [];
  try {
    await deployments.updateNodeInstance({
      tenant: written.tenant,
      nodeInstanceId: written.id,
      version: written.version,
      runtimePropertiesJson: '{"configured":"late"}',
      taskId: task,
      attempt,
    });
    return [`G4: a late write to ${written.id} was accepted`];
  } catch (error) {
    return isAppError(error, 'stale_attempt_error')
      ? []
      : [`a late write ended as ${(error as Error).message}`];
  }
}
