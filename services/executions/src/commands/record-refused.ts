import { newId } from '@baton/kernel';
import { payloadHash, type StartRequest } from '../domain/start-request';
import { executionToken, hashToken } from '../domain/token';
import type { EngineDeps } from '../engine/deps';
import { insertExecution, updateExecution } from '../store/executions.sql';
import { subjectOf } from './request-execution';

/**
 * Keeps a start that was refused because its workflow is not available, as a failed execution that never began: the
 * original stores its executions before it checks that. A repeated request is refused and kept again.
 * @throws AppError illegal_execution_parameters_error; nothing is kept then.
 */
export async function recordRefused(deps: EngineDeps, request: StartRequest): Promise<void> {
  const subject = await subjectOf(deps, { ...request, isForced: true });
  const id = newId();
  await deps.db.tx(async (tx) => {
    await insertExecution(tx, {
      id,
      tenant: request.tenant,
      request_id: id,
      payload_hash: payloadHash(request),
      workflow_id: request.workflowId,
      program: subject.program,
      deployment_id: request.deploymentId,
      deployment_display_name: subject.displayName,
      blueprint_id: subject.blueprintId,
      visibility: subject.visibility,
      created_by: request.createdBy,
      status: 'pending',
      phase: 'planning',
      parameters: subject.parameters,
      is_system_workflow: request.isSystemWorkflow,
      is_dry_run: request.isDryRun,
      is_forced: request.isForced,
      allow_custom_parameters: request.allowCustomParameters,
      wait_after_fail_s: request.waitAfterFailS,
      token_hash: hashToken(executionToken(deps.tokenKey, id)),
      scheduled_for: null,
      wake_at: null,
    });
    const error = `Error preparing execution: Workflow not available: ${request.workflowId}`;
    await updateExecution(tx, id, { status: 'failed', phase: 'ended', error });
  });
}
