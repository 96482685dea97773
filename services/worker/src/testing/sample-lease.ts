import type { executionsRpc, OperationAssignment } from '@baton/contracts';

const assignment: OperationAssignment = {
  executionId: 'e',
  tenant: 't',
  deploymentId: 'd',
  deploymentDisplayName: 'd',
  blueprintId: 'b',
  workflowId: 'install',
  workflowParameters: {},
  createdBy: 'admin',
  isDryRun: false,
  operation: 'create',
  mapping: 'probe.op',
  plugin: { name: 'probe', packageName: null, packageVersion: null, source: null, properties: null },
  executor: 'central_deployment_agent',
  self: null,
  related: null,
  hostInstanceId: null,
  inputs: {},
  hasFunctions: false,
  retryNumber: 0,
  maxRetries: 0,
  timeoutMs: null,
  isTimeoutRecoverable: false,
  isResumed: false,
  executionToken: 'x',
  states: [],
};

/** Returns a lease of the first attempt of an operation, in the form of the engine's answer. */
export function sampleLease(given: Partial<OperationAssignment> = {}): executionsRpc.TaskLease {
  return {
    taskId: 'a',
    executionId: 'e',
    attempt: 1,
    leaseMs: 15_000,
    assignmentJson: JSON.stringify({ ...assignment, ...given }),
    proof: '',
  };
}
