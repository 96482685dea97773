import { isJsonObject, type Json } from '@baton/kernel';
import { lifecycleGraph } from '../build/lifecycle-graph';
import { rollbackSteps } from '../build/rollback-steps';
import type { StageLog, StageResult } from '../workflow';
import {
  callStage,
  type EndStage,
  failed,
  failureOf,
  flag,
  graphStage,
  idsOf,
  instancesOf,
  must,
  type Part,
  type PlannedStage,
  type Program,
  type Run,
  SUCCEEDED,
} from './program';
import { entitiesOf, planScale, readDelta } from './scale-plan';

/**
 * scale (reference workflows.md 1.10): a deployment modification creates or marks instances, a graph installs or
 * uninstalls them, then the modification is finished or rolled back.
 */
export function* scale(run: Run): Program {
  const delta = readDelta(run.parameters.delta === undefined ? 1 : run.parameters.delta);
  if (!delta.ok) return failed(delta.error.type, delta.error.message);
  if (delta.value === 0)
    return { ...SUCCEEDED, log: [info('delta parameter is 0, so no scaling will take place.')] };
  if (flag(run, 'abort_started')) {
    const failure = yield* abortStarted(run);
    if (failure) return failure;
  }
  const started = yield startStage(run, delta.value);
  const failure = failureOf(started);
  if (failure) return failure;
  const modification = readModification(started);
  const worked = yield delta.value > 0 ? installStage(run, modification) : uninstallStage(run, modification);
  const broken = failureOf(worked);
  if (broken) return yield* takeBack(run, modification, delta.value, broken);
  const modificationId = modification.id;
  const finish = callStage('scale-finish', () => ({
    request: { call: 'modification-finish', modificationId },
  }));
  return (yield* must(finish)) ?? SUCCEEDED;
}

interface Modification {
  id: string;
  entity: string;
  added: string[];
  removed: string[];
  related: string[];
}

function startStage(run: Run, delta: number): PlannedStage {
  return callStage('scale-start', () => {
    const plan = planScale(run, delta);
    if (!plan.ok) return failed(plan.error.type, plan.error.message);
    const { blueprintId, deploymentId, executionId, workflowId } = run.input;
    const context = {
      blueprint_id: blueprintId,
      deployment_id: deploymentId,
      execution_id: executionId,
      workflow_id: workflowId,
    };
    const request = { call: 'modification-start' as const, entities: entitiesOf(plan.value), context };
    return { request, memo: plan.value.entity };
  });
}

function readModification(result: StageResult): Modification {
  const response: Json =
    result.kind === 'call' && !result.error && isJsonObject(result.response) ? result.response : {};
  return {
    id: String(response.modification_id),
    entity: String(result.memo),
    added: idsOf(response.added),
    removed: idsOf(response.removed),
    related: idsOf(response.related),
  };
}

function begun(run: Run, { id }: Modification): StageLog[] {
  if (run.input.isRehearsal) return [info('Nothing is changed: no deployment modification is started.')];
  return [info(`Deployment modification started. [modification_id=${id}]`)];
}

function installStage(run: Run, modification: Modification): PlannedStage {
  const name = `${modification.entity}_install`;
  return graphStage(name, () => {
    const processed = instancesOf(run, modification.added);
    const intact = instancesOf(run, modification.related);
    const log = begun(run, modification);
    return { spec: lifecycleGraph(run.context, { name, direction: 'install', processed, intact }), log };
  });
}

function uninstallStage(run: Run, modification: Modification): PlannedStage {
  const name = `${modification.entity}_uninstall`;
  return graphStage(name, () => {
    const processed = instancesOf(run, modification.removed);
    const intact = instancesOf(run, modification.related);
    const isIgnoringFailure = flag(run, 'ignore_failure');
    const log = begun(run, modification);
    const graph = { name, direction: 'uninstall' as const, processed, intact, isIgnoringFailure };
    return { spec: lifecycleGraph(run.context, graph), log };
  });
}

/** After a failed graph: rolls the added instances back, then the modification. The execution fails with the error of the graph. */
function* takeBack(run: Run, modification: Modification, delta: number, broken: EndStage): Program {
  if (!flag(run, 'rollback_if_failed', true)) return broken;
  if (delta > 0) yield rollbackStage(run, modification);
  const modificationId = modification.id;
  const result = yield callStage('scale-rollback', () => ({
    request: { call: 'modification-rollback', modificationId },
  }));
  return failureOf(result) ?? broken;
}

function rollbackStage(run: Run, modification: Modification): PlannedStage {
  const name = `${modification.entity}_rollback`;
  return graphStage(name, () => {
    const graph = {
      name,
      direction: 'uninstall' as const,
      processed: instancesOf(run, modification.added),
      intact: instancesOf(run, modification.related),
      isIgnoringFailure: flag(run, 'ignore_failure'),
      steps: rollbackSteps,
    };
    const log: StageLog[] = [{ level: 'error', message: 'Scale out failed, scaling back in.' }];
    return { spec: lifecycleGraph(run.context, graph), log };
  });
}

/** Modifications left by an earlier scale: uninstalls the instances that they added, then rolls them back. */
function* abortStarted(run: Run): Part {
  const found = yield callStage('scale-abort', () => ({
    request: { call: 'note' },
    memo: (run.input.model.modifications ?? []).map((m) => ({
      id: m.id,
      added: m.added,
      related: m.related,
    })),
  }));
  for (const left of Array.isArray(found.memo) ? found.memo.filter(isJsonObject) : []) {
    const modificationId = String(left.id);
    const name = `abort_${modificationId}_uninstall`;
    const removal = graphStage(name, () => {
      const processed = instancesOf(run, idsOf(left.added));
      const intact = instancesOf(run, idsOf(left.related));
      const isIgnoringFailure = flag(run, 'ignore_failure');
      const graph = { name, direction: 'uninstall' as const, processed, intact, isIgnoringFailure };
      return { spec: lifecycleGraph(run.context, graph) };
    });
    const back = callStage(`abort_${modificationId}`, () => ({
      request: { call: 'modification-rollback', modificationId },
    }));
    const failure = (yield* must(removal)) ?? (yield* must(back));
    if (failure) return failure;
  }
  return null;
}

function info(message: string): StageLog {
  return { level: 'info', message };
}
