import type { deploymentCreated, Envelope, MessageType } from '@baton/contracts';
import type { JsonObject } from '@baton/kernel';
import type { Ports } from '../../ports';
import { makeDefaultSchedules } from '../../schedules/commands/make-default-schedules';
import { type RecordExecutionDeps, recordExecution } from '../commands/record-execution';
import { startRequest } from '../domain/start-request';

type OnDeploymentCreatedDeps = Pick<Ports, 'db' | 'log'> & RecordExecutionDeps;

type Created = typeof deploymentCreated extends MessageType<infer T> ? T : never;

/**
 * Records the execution that made a deployment as ended, once per deployment creation, because clients look for it. Then makes the
 * schedules of its blueprint.
 */
export function onDeploymentCreated(deps: OnDeploymentCreatedDeps) {
  return async (envelope: Envelope<Created>): Promise<void> => {
    const { tenant, payload } = envelope;
    await recordExecution(deps, {
      ...startRequest({
        tenant,
        createdBy: payload.createdBy ?? '',
        isAdministrator: true,
        requestId: `deployment-created:${payload.createExecutionId ?? envelope.id}`,
        workflowId: 'create_deployment_environment',
        deploymentId: payload.deploymentId,
        parameters: (payload.parameters ?? {}) as JsonObject,
        allowCustomParameters: true,
      }),
      id: payload.createExecutionId,
      blueprintId: payload.blueprintId,
      displayName: payload.displayName ?? payload.deploymentId,
      visibility: payload.visibility ?? 'tenant',
      madeBy: payload.createExecutionId ?? null,
      outcome: { status: 'terminated', error: '' },
      // Earlier than any execution that was started on the deployment, however late this message arrives.
      at: envelope.time,
      log: payload.log,
    });
    if (Object.keys(payload.defaultSchedules ?? {}).length === 0) return;
    const owner = {
      tenant,
      deploymentId: payload.deploymentId,
      madeBy: payload.createExecutionId ?? null,
      visibility: payload.visibility ?? 'tenant',
      createdBy: payload.createdBy ?? '',
    };
    await makeDefaultSchedules(deps, owner, envelope, payload.defaultSchedules ?? {});
  };
}
