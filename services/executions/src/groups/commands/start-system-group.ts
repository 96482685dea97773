import type { executionsRpc } from '@baton/contracts';
import { type JsonObject, newId } from '@baton/kernel';
import { executionToken, hashToken } from '../../executions/domain/token';
import type { Ports } from '../../ports';
import { memberRequestId } from '../domain/group-members';
import { insertGroup, type NewMember } from '../store/execution-groups.sql';
import { storeMembers } from './create-execution-group';
import { startGroupMembers } from './start-group-members';

export type StartSystemGroupDeps = Pick<Ports, 'db' | 'queue' | 'tokenKey' | 'wake'>;

/**
 * Starts a system workflow on many deployments for another service, which has checked the deployments. Idempotent by the group's
 * id. After a crash, engine/loops/engine.loops.ts dequeues.
 */
export async function startSystemGroup(
  deps: StartSystemGroupDeps,
  request: executionsRpc.StartExecutionGroupRequest,
): Promise<void> {
  const { tenant, groupId } = request;
  const parameters = JSON.parse(request.parametersJson || '{}') as JsonObject;
  const started = await deps.db.tx(async (tx) => {
    const isNew = await insertGroup(tx, {
      tenant,
      id: groupId,
      deployment_group_id: request.deploymentGroupId || null,
      workflow_id: request.workflowId,
      concurrency: request.concurrency,
      visibility: request.visibility || 'tenant',
      created_by: request.createdBy,
      created_at: null,
      has_queued: request.deployments.length > 0,
    });
    if (!isNew) return [];
    const of = {
      tenant,
      groupId,
      workflowId: request.workflowId,
      createdBy: request.createdBy,
      isForced: request.force,
      isSystemWorkflow: true,
    };
    await storeMembers(
      tx,
      of,
      request.deployments.map((one) => memberOf(deps, groupId, one, parameters)),
    );
    return await startGroupMembers(tx, deps, tenant, groupId);
  });
  for (const id of started) deps.wake.drive(id);
}

function memberOf(
  deps: Pick<Ports, 'tokenKey'>,
  groupId: string,
  one: executionsRpc.GroupDeployment,
  parameters: JsonObject,
): NewMember {
  const id = newId();
  return {
    id,
    request_id: memberRequestId(groupId, one.id),
    payload_hash: '',
    program: null,
    deployment_id: one.id,
    deployment_display_name: one.displayName,
    deployment_made_by: null,
    blueprint_id: one.blueprintId || null,
    visibility: one.visibility || 'tenant',
    parameters,
    token_hash: hashToken(executionToken(deps.tokenKey, id)),
    outcome: null,
  };
}
