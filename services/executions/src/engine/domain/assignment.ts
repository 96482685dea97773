import type { OperationAssignment } from '@baton/contracts';
import type { OperationPayload, OperationTask } from '@baton/task-graph';
import { waitAfterFailMs } from '../../executions/domain/wait-after-fail';
import type { ExecutionRow, InstanceStateRow } from '../../store/rows';

/**
 * Returns all that a worker needs to run an operation of an execution. `timeLeftMs`: the rest of the operation's time limit after
 * its waiting; null: the time limit of its plan applies.
 */
export function assignmentOf(
  execution: ExecutionRow,
  task: OperationTask,
  run: { retries: number; losses: number },
  token: string,
  states: readonly InstanceStateRow[],
  timeLeftMs: number | null,
  retryDefaults: NonNullable<OperationAssignment['retryDefaults']>,
): OperationAssignment {
  const payload = task.payload;
  const relationship = payload.relationship;
  const isSource = relationship?.side === 'source';
  return {
    executionId: execution.id,
    tenant: execution.tenant,
    deploymentId: execution.deployment_id ?? '',
    deploymentDisplayName: execution.deployment_display_name ?? '',
    blueprintId: execution.blueprint_id ?? '',
    workflowId: execution.workflow_id,
    workflowParameters: execution.parameters,
    createdBy: execution.created_by,
    isDryRun: execution.is_dry_run,
    operation: payload.operation,
    mapping: payload.implementation,
    plugin: {
      name: payload.plugin.name,
      packageName: payload.plugin.packageName,
      packageVersion: payload.plugin.packageVersion,
      source: null,
      properties: null,
    },
    ...placeOf(payload),
    ...(payload.isWorkflowCode && {
      isWorkflowCode: true,
      waitAfterFailMs: waitAfterFailMs(execution),
      retryDefaults,
    }),
    self: payload.isWorkflowCode ? null : { nodeInstanceId: payload.nodeInstanceId, nodeId: payload.nodeId },
    related: relationship && {
      nodeInstanceId: isSource ? relationship.targetId : relationship.sourceId,
      nodeId: isSource ? relationship.targetNode : relationship.sourceNode,
      isTarget: isSource,
    },
    hostInstanceId: payload.hostId,
    inputs: payload.inputs,
    hasFunctions: payload.hasIntrinsicFunctions,
    retryNumber: run.retries,
    maxRetries: task.policy.totalRetries,
    timeoutMs: timeLeftMs ?? (payload.timeout ? Math.round(payload.timeout * 1000) : null),
    isTimeoutRecoverable: payload.timeoutRecoverable,
    isResumed: run.losses > 0 || (payload.isWorkflowCode === true && execution.is_resumed),
    executionToken: token,
    states: states.map((state) => ({
      nodeInstanceId: state.node_instance_id,
      state: state.state ?? '',
      seq: state.seq,
      systemProperties: state.edits,
    })),
  };
}

/** Returns where the operation runs; most have neither an agent nor an SSH connection. */
const placeOf = ({
  executor,
  agent,
  isOverSsh,
}: OperationPayload): Pick<OperationAssignment, 'executor' | 'agent' | 'isOverSsh'> => ({
  executor,
  ...(agent !== undefined && { agent }),
  ...(isOverSsh && { isOverSsh }),
});
