import { deploymentsRpc, executionsRpc, type ServiceName } from '@baton/contracts';
import { isAppError, Secret, silentLog } from '@baton/kernel';
import { createGrpcConnector, withLease } from '@baton/rpc';
import { createLeaseProofs, derivedTrust, newWorkerKey, signCertificate, workerTokens } from '@baton/trust';
import type { Rig } from '../rig';
import { INTERNAL_KEY } from '../rig';

/** An expired lease, with the data that its holder would report. */
interface StaleLease {
  task: string;
  execution: string;
  worker: string;
  attempt: number;
}

const key = new Secret(INTERNAL_KEY);
const tokens = new Map<string, (audience: ServiceName) => string>();

/** Creates the token of a worker: the key of the services allows to create any worker. */
function tokenOf(workerId: string, audience: ServiceName): string {
  let made = tokens.get(workerId);
  if (!made) {
    const own = newWorkerKey();
    const { identity } = derivedTrust('executions', key);
    made = workerTokens(own, signCertificate(identity, { workerId, publicKey: own.publicKey }));
    tokens.set(workerId, made);
  }
  return made(audience);
}

/**
 * Reports old leases like a worker that does not know of its pause, and writes runtime properties under them.
 * The real worker does neither, but the engine must not rely on that.
 */
export async function lateResult(
  rig: Rig,
  stale: readonly StaleLease[],
): Promise<{ sent: number; refused: number; violations: string[] }> {
  tokens.clear();
  let worker = '';
  const rpc = createGrpcConnector({
    addresses: { executions: rig.fleet.rpc.executions, deployments: rig.fleet.rpc.deployments },
    log: silentLog,
    credential: { tokenFor: (audience) => tokenOf(worker, audience), ready: async () => undefined },
  });
  try {
    const executions = rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions');
    const deployments = rpc.client(deploymentsRpc.DeploymentsServiceDefinition, 'deployments');
    let refused = 0;
    const violations: string[] = [];
    for (const { task, execution, worker: holder, attempt } of stale) {
      worker = holder;
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
      violations.push(...(await lateWrite(rig, deployments, { task, execution, worker, attempt })));
    }
    return { sent: stale.length, refused, violations };
  } finally {
    rpc.close();
  }
}

/** Writes with an old attempt after the new attempt has written: the write must be refused. */
async function lateWrite(
  rig: Rig,
  deployments: { updateNodeInstance(request: object): Promise<unknown> },
  { task, execution, worker, attempt }: StaleLease,
): Promise<string[]> {
  const [written] = await rig.sql<{ tenant: string; id: string; version: number; deployment: string }>(
    `select i.tenant, i.id, i.version, d.id as deployment from deployments.node_instances i
       join deployments.deployments d on d.key = i.deployment_key
       where written_task = $1 and written_attempt > $2`,
    [task, attempt],
  );
  if (!written) return [];
  try {
    // As if the lease had just been renewed: then only the attempt number can cause the refusal.
    const lease = {
      workerId: worker,
      tenant: written.tenant,
      executionId: execution,
      taskId: task,
      attempt,
      deploymentId: written.deployment,
      blueprintId: '',
      inputsDigest: '',
      username: 'admin',
    };
    const proof = createLeaseProofs(key).prove(lease, 15_000);
    const late = {
      tenant: written.tenant,
      executionId: execution,
      nodeInstanceId: written.id,
      version: written.version,
      runtimePropertiesJson: '{"configured":"late"}',
      taskId: task,
      attempt,
    };
    await withLease({ proof }, () => deployments.updateNodeInstance(late));
    return [`G4: a late write to ${written.id} was accepted`];
  } catch (error) {
    return isAppError(error, 'stale_attempt_error')
      ? []
      : [`a late write ended as ${(error as Error).message}`];
  }
}
