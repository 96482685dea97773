import { FatalError } from '@baton/plugin-sdk';
import { INTERVAL_SECONDS, TIMEOUT_SECONDS } from '../component/execute-start';
import type { Run } from '../executions';
import type { Scope } from '../scope';
import { componentConfigOf } from '../settings';

/** Returns the id of a shared resource's deployment. @throws FatalError when it is missing. */
export function targetIdOf(scope: Pick<Scope, 'inputs' | 'instance' | 'properties'>): string {
  const { id } = componentConfigOf(scope).deployment;
  if (id) return id;
  throw new FatalError('resource_config.deployment.id: the id of a deployment is expected');
}

/** A run of a workflow on the shared deployment; any parameters are allowed (reference/workflows.md 8.2). */
export function sharedRun(deploymentId: string, workflowId: string, slot: string): Run {
  return {
    slot,
    deploymentId,
    workflowId,
    request: { allow_custom_parameters: true },
    isLogged: true,
    timeout: TIMEOUT_SECONDS,
    interval: INTERVAL_SECONDS,
  };
}
