import { isJsonObject } from '@baton/kernel';
import { callStage, failed, failureOf, type Program, type Run, SUCCEEDED } from './program';

/**
 * csys_update_deployment (reference workflows.md 1.15): a deployment update like a direct one, as a workflow, so that
 * an execution group can run it on many deployments. It ends with the end of the execution of `update` that it starts.
 */
export function* updateDeployment(run: Run): Program {
  const { parameters, input } = run;
  const begun = yield callStage('update-begin', () => ({ request: { call: 'update-begin', parameters } }));
  const failure = failureOf(begun);
  if (failure) return failure;
  if (input.isRehearsal) return SUCCEEDED;
  const response =
    begun.kind === 'call' && !begun.error && isJsonObject(begun.response) ? begun.response : {};
  const ran = yield callStage('update-run', () => ({
    request: {
      call: 'run-execution',
      deploymentId: input.deploymentId,
      workflowId: 'update',
      parameters: isJsonObject(response.parameters) ? response.parameters : {},
      // Dependents were checked when this execution was accepted, and this execution holds the deployment.
      force: true,
      allowCustomParameters: true,
      timeoutMs: null,
      isSystem: true,
    },
  }));
  const broken = failureOf(ran);
  if (broken) return broken;
  const end = ran.kind === 'call' && !ran.error && isJsonObject(ran.response) ? ran.response : {};
  if (end.status === 'terminated') return SUCCEEDED;
  return failed(
    'WorkflowFailed',
    `The update ${response.update_id} (execution ${end.execution_id}) is ${end.status}`,
  );
}
