import { isJsonObject } from '@baton/kernel';
import { callStage, failed, failureOf, type Program, type Run, SUCCEEDED } from './program';

/**
 * csys_update_deployment (reference workflows.md 1.15): a deployment update like one that is asked for directly, so that an
 * execution group may run it on many deployments. It ends as the execution of `update` that it starts.
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
      // Dependents were looked at when this execution was accepted, and it holds the deployment itself.
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
