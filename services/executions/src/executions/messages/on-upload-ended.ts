import type { Envelope, MessageType, uploadEnded } from '@baton/contracts';
import type { JsonObject } from '@baton/kernel';
import { type RecordExecutionDeps, recordExecution } from '../commands/record-execution';
import { startRequest } from '../domain/start-request';

type OnUploadEndedDeps = RecordExecutionDeps;

type Ended = typeof uploadEnded extends MessageType<infer T> ? T : never;

/**
 * Records the execution that uploaded a blueprint as ended, once per upload, because clients of the original look for it. The spec
 * knows no such executions, so its lists stay without them.
 */
export function onUploadEnded(deps: OnUploadEndedDeps, wire: { recordsUploads: boolean }) {
  return async ({ tenant, payload }: Envelope<Ended>): Promise<void> => {
    if (!wire.recordsUploads) return;
    await recordExecution(deps, {
      ...startRequest({
        tenant,
        createdBy: payload.createdBy,
        isAdministrator: true,
        requestId: `upload-ended:${payload.executionId}`,
        workflowId: 'upload_blueprint',
        deploymentId: null,
        parameters: payload.parameters as JsonObject,
        allowCustomParameters: true,
      }),
      id: payload.executionId,
      blueprintId: null,
      displayName: null,
      visibility: payload.visibility,
      outcome: { status: payload.status, error: payload.error },
      createdAt: payload.createdAt,
      log: payload.log,
    });
  };
}
