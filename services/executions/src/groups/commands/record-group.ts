import type { groupDeploymentsCreated, MessageType } from '@baton/contracts';
import type { JsonObject } from '@baton/kernel';
import { executionToken, hashToken } from '../../executions/domain/token';
import type { Ports } from '../../ports';
import { memberRequestId } from '../domain/group-members';
import { insertGroup, type NewMember } from '../store/execution-groups.sql';
import { storeMembers } from './create-execution-group';

type RecordGroupDeps = Pick<Ports, 'db' | 'tokenKey'>;

export type CreatedInGroup = typeof groupDeploymentsCreated extends MessageType<infer T> ? T : never;

const WORKFLOW = 'create_deployment_environment';
/** Concurrency of such groups in the original (reference/rest-api.md 5.6). */
const CONCURRENCY = 10;

/**
 * Records the create_deployment_environment executions of deployments that were created in a group, as an execution group of
 * ended executions. A repeat stores nothing, because ids and request ids come from the message.
 */
export async function recordGroupCreation(
  deps: RecordGroupDeps,
  tenant: string,
  created: CreatedInGroup,
): Promise<void> {
  const rows = created.deployments.map(
    (one): NewMember => ({
      id: one.createExecutionId,
      // Same request id as for the creation of a single deployment, so that the deployment's own message records nothing more.
      request_id: `deployment-created:${one.createExecutionId}`,
      payload_hash: memberRequestId(created.executionGroupId, one.deploymentId),
      program: null,
      deployment_id: one.deploymentId,
      deployment_display_name: one.displayName,
      deployment_made_by: one.createExecutionId,
      blueprint_id: one.blueprintId,
      visibility: one.visibility,
      parameters: one.parameters as JsonObject,
      token_hash: hashToken(executionToken(deps.tokenKey, one.createExecutionId)),
      outcome: { status: 'terminated', error: '' },
    }),
  );
  const of = {
    tenant,
    groupId: created.executionGroupId,
    workflowId: WORKFLOW,
    createdBy: created.createdBy,
    isForced: false,
    isSystemWorkflow: false,
  };
  await deps.db.tx(async (tx) => {
    await insertGroup(tx, {
      tenant,
      id: created.executionGroupId,
      deployment_group_id: created.deploymentGroupId,
      workflow_id: WORKFLOW,
      concurrency: CONCURRENCY,
      visibility: created.visibility,
      created_by: created.createdBy,
      created_at: null,
      has_queued: false,
    });
    await storeMembers(tx, of, rows);
  });
}
