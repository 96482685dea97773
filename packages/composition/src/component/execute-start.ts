import type { Json, JsonObject } from '@baton/kernel';
import { storeCapabilities } from '../capabilities';
import { type Run, runWorkflow } from '../executions';
import { isRefusal } from '../failures';
import type { Scope } from '../scope';
import { componentConfigOf, deploymentIdOf, secondsInput } from '../settings';

export const TIMEOUT_SECONDS = 1_800;
export const INTERVAL_SECONDS = 1;

/** Runs a workflow of the component's deployment: `start` installs it, `stop` uninstalls it (reference/workflows.md 8.1). */
export async function executeStart(scope: Scope): Promise<Json> {
  const { ctx, inputs, instance } = scope;
  const config = componentConfigOf(scope);
  const deploymentId = deploymentIdOf(instance, config);
  const workflowId =
    typeof inputs.workflow_id === 'string' ? inputs.workflow_id : 'create_deployment_environment';
  const run: Run = {
    slot: 'execute_start',
    deploymentId,
    workflowId,
    request: { ...config.startArgs, ...parentParameters(scope, workflowId) },
    isLogged: config.deployment.logs ?? true,
    timeout: secondsInput(inputs, 'timeout', TIMEOUT_SECONDS),
    interval: secondsInput(inputs, 'interval', INTERVAL_SECONDS),
  };
  if (!(await runOrNothing(scope, run))) return true;
  ctx.logger.info(`Execution succeeded for "${deploymentId}" deployment`);
  await storeCapabilities(scope, deploymentId, instance);
  return true;
}

/**
 * Returns the parameters of the parent's workflow, when the component runs the same workflow. Parameters that name
 * nodes and node instances of the parent are left out: the component's workflow would refuse them.
 */
export function parentParameters(
  { ctx }: { ctx: Pick<Scope['ctx'], 'workflowId' | 'workflowParameters'> },
  workflowId: string,
): JsonObject {
  if (workflowId !== ctx.workflowId) return {};
  const { node_ids, node_instance_ids, ...parameters } = ctx.workflowParameters as JsonObject;
  return { parameters };
}

/**
 * Runs the workflow. An uninstall is refused when no instance is active, e.g. after an install that failed early. Then
 * nothing is done if no node instance has begun either (returns false); otherwise the uninstall is forced.
 */
async function runOrNothing(scope: Scope, run: Run): Promise<boolean> {
  try {
    await runWorkflow(scope, run);
    return true;
  } catch (error) {
    if (run.workflowId !== 'uninstall' || !isRefusal(error, 'unavailable_workflow_error')) throw error;
  }
  const { items } = await scope.manager.client.call('listNodeInstances', {
    query: { deployment_id: run.deploymentId, _include: 'id,state', _get_all_results: true },
  });
  if (items.every(({ state }) => state === 'uninitialized' || state === 'deleted')) {
    scope.ctx.logger.info(`Nothing of deployment "${run.deploymentId}" is installed`);
    return false;
  }
  await runWorkflow(scope, { ...run, request: { ...run.request, force: true } });
  return true;
}
