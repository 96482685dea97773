import { isJsonObject, type Json } from '@baton/kernel';
import type { DeploymentModel, NodeInstance } from '../model';
import type { CallRequest, Stage, StageResult, WorkflowInput } from '../workflow';
import { newRun, type PlannedStage, type Run } from './program';

/**
 * Rehearsals: a program is asked for its next stage although the earlier stages were not carried out. Their effects are
 * assumed in a copy of the model: a dry run of `reinstall` shows that everything is installed again.
 */

/** Returns a run on a copy of the model, which `assume` may change. */
export function rehearsedRun(input: WorkflowInput): Run {
  const { model } = input;
  const copy: DeploymentModel = { ...model, nodeInstances: model.nodeInstances.map((one) => ({ ...one })) };
  return newRun({ ...input, model: copy });
}

/**
 * Applies the assumed effects of a stage to the run's model: states, and created instances. Results of operations are
 * unknown, so status and drift do not change.
 */
export function assume(run: Run, stage: PlannedStage, result: StageResult): void {
  if (result.kind === 'call') return assumeInstances(run, result.error ? null : result.response);
  if (result.outcome.kind !== 'succeeded') return;
  const { ix } = run;
  run.isAssuming = true;
  const made = stage.make();
  run.isAssuming = false;
  if (made.kind !== 'graph') return;
  for (const task of made.spec.tasks) {
    const instance = task.kind === 'set-state' ? ix.instances.get(task.payload.nodeInstanceId) : undefined;
    if (instance) instance.state = (task.payload as { state: string }).state;
  }
}

function assumeInstances(run: Run, response: Json): void {
  if (!isJsonObject(response) || !Array.isArray(response.instances)) return;
  const { nodeInstances } = run.ix.model;
  for (const made of response.instances as unknown as NodeInstance[]) {
    const at = nodeInstances.findIndex((one) => one.id === made.id);
    if (at >= 0) nodeInstances[at] = { ...made };
    else nodeInstances.push({ ...made });
  }
  run.reindex();
}

/** Returns the stage with its call replaced by one that changes nothing. */
export function harmless(stage: Stage): Stage {
  return stage.kind === 'call' ? { ...stage, request: harmlessCall(stage.request) } : stage;
}

function harmlessCall(request: CallRequest): CallRequest {
  switch (request.call) {
    case 'modification-start':
    case 'update-prepare':
      return { call: 'rehearse', of: request };
    case 'rehearse':
      return request;
    case 'note':
    case 'modification-finish':
    case 'modification-rollback':
    case 'system-properties':
    case 'update-begin':
    case 'update-perform':
    case 'update-finish':
    case 'update-state':
    case 'run-execution':
    case 'run-on-services':
      return { call: 'note' };
  }
}
