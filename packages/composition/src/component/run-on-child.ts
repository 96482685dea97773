import { runWorkflow } from '../executions';
import type { Scope } from '../scope';
import { componentConfigOf, deploymentIdOf, secondsInput } from '../settings';
import { INTERVAL_SECONDS, TIMEOUT_SECONDS } from './execute-start';

/** Runs a workflow of the component. The workflow may fail: the condition of its deployment is the result. */
export async function runOnChild(
  scope: Scope,
  workflowId: string,
  start?: (idempotencyKey: string) => Promise<string>,
): Promise<string> {
  const { inputs, instance } = scope;
  const deploymentId = deploymentIdOf(instance, componentConfigOf(scope));
  await runWorkflow(scope, {
    slot: workflowId,
    deploymentId,
    workflowId,
    isLogged: false,
    mayFail: true,
    timeout: secondsInput(inputs, 'timeout', TIMEOUT_SECONDS),
    interval: INTERVAL_SECONDS,
    ...(start && { start }),
  });
  return deploymentId;
}
