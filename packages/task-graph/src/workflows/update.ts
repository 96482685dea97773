import { isJsonObject, type Json } from '@baton/kernel';
import { lifecycleGraph } from '../build/lifecycle-graph';
import { localGraph } from '../build/local-graph';
import { relationshipGraph } from '../build/relationship-graph';
import type { CallRequest, StageLog, StageResult, UpdateChanges } from '../workflow';
import {
  callStage,
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
import { updateOrReinstall } from './update-or-reinstall';

/** Steps inside the calls of an update, reported as tasks: the original reports each of these steps. */
const COMPARED = ['prepare_plan', 'compare_plans'];
const UNSUPPORTED = 'Cannot update: unsupported steps found';
const PREPARED = [...COMPARED, 'read_changes', 'read_plugin_changes'];
const PERFORMED = ['set_deployment_attributes', 'set_dependencies', 'change_nodes', 'change_instances'];
const FINISHED = [
  'remove_relationships',
  'remove_instances',
  'remove_nodes',
  'set_schedules',
  'refresh_operations',
];

/** update, the workflow of a deployment update (reference workflows.md 1.13). */
export function* update(run: Run): Program {
  const updateId = String(run.parameters.update_id ?? '');
  const prepared = yield callStage('update-prepare', () => ({
    request: { call: 'update-prepare', updateId, parameters: run.parameters },
  }));
  const unprepared = failureOf(prepared);
  if (unprepared) return unprepared;
  const refusal = refuseUnsupported(prepared);
  if (refusal) {
    yield told(run, 'update-refused', COMPARED, UNSUPPORTED);
    return refusal;
  }
  const failure = yield* must(told(run, 'update-prepared', PREPARED));
  if (failure) return failure;
  if (run.input.isRehearsal) return { ...SUCCEEDED, log: stepsOf(prepared) };
  if (flag(run, 'preview')) {
    const state = callStage('update-state', () => ({
      request: { call: 'update-state', updateId, state: 'successful' },
    }));
    return (yield* must(state)) ?? SUCCEEDED;
  }
  const performed = yield callStage('update-perform', () => ({
    request: { call: 'update-perform', updateId },
  }));
  const broken = failureOf(performed) ?? (yield* must(told(run, 'update-performed', PERFORMED)));
  if (broken) return broken;
  const changes = readChanges(performed);
  const custom = run.parameters.workflow_id;
  const applied =
    typeof custom === 'string' && custom !== ''
      ? runCustom(run, custom, changes)
      : applyChanges(run, changes);
  const end =
    (yield* applied) ??
    (yield* must(callStage('update-finish', () => ({ request: { call: 'update-finish', updateId } }))));
  return end ?? (yield* must(told(run, 'update-finished', FINISHED))) ?? SUCCEEDED;
}

function told(run: Run, name: string, steps: readonly string[], failure: string | null = null): PlannedStage {
  return graphStage(name, () => ({ spec: localGraph(run.context, name, steps, failure) }));
}

/** The changes of the update, one line each. The new model itself is known only when it is in place. */
function stepsOf(prepared: StageResult): StageLog[] {
  const response = prepared.kind === 'call' && !prepared.error ? prepared.response : null;
  const steps = isJsonObject(response) ? idsOf(response.steps) : [];
  return steps.map((step) => ({ level: 'info', message: `The update would change: ${step}` }));
}

function refuseUnsupported(prepared: StageResult) {
  const response = prepared.kind === 'call' && !prepared.error ? prepared.response : null;
  const unsupported = isJsonObject(response) ? idsOf(response.unsupported) : [];
  if (unsupported.length === 0) return null;
  const log = unsupported.map((message) => ({ level: 'error' as const, message }));
  return { ...failed('RuntimeError', UNSUPPORTED), log };
}

/**
 * Stage C without a custom workflow: removes, changes and adds, in that order. A relationship of a staying instance is
 * disconnected or connected once: together with its target when the target is removed or added, else in its own graph.
 */
function* applyChanges(run: Run, changes: UpdateChanges): Part {
  const { reduced, extended } = betweenStaying(changes);
  if (!flag(run, 'skip_uninstall')) {
    const failure =
      (yield* relationshipStage(run, 'update-unlink', 'uninstall', reduced)) ??
      (yield* lifecycleStage(run, {
        name: 'update-uninstall',
        direction: 'uninstall',
        ids: changes.removed,
        related: changes.removed_related,
      }));
    if (failure) return failure;
  }
  const failure = yield* updateOrReinstall(run, changes);
  if (failure || flag(run, 'skip_install')) return failure;
  return (
    (yield* lifecycleStage(run, {
      name: 'update-install',
      direction: 'install',
      ids: changes.added,
      related: changes.added_related,
    })) ?? (yield* relationshipStage(run, 'update-establish', 'install', extended))
  );
}

/** Added and removed relationships between staying instances, as pairs of source and target. */
function betweenStaying(changes: UpdateChanges) {
  const [added, removed] = [new Set(changes.added), new Set(changes.removed)];
  return {
    extended: changes.extended_relationships.filter(([, target]) => !added.has(target)),
    reduced: changes.reduced_relationships.filter(([, target]) => !removed.has(target)),
  };
}

interface LifecycleChange {
  name: string;
  direction: 'install' | 'uninstall';
  ids: string[];
  related: string[];
}

function* lifecycleStage(run: Run, change: LifecycleChange): Part {
  const { name, direction, ids, related } = change;
  if (ids.length === 0) return null;
  const isIgnoringFailure = direction === 'uninstall' && flag(run, 'ignore_failure');
  return yield* must(
    graphStage(name, () => {
      const processed = instancesOf(run, ids);
      const intact = instancesOf(run, related);
      const graph = { name, direction, processed, intact, isIgnoringFailure };
      return { spec: lifecycleGraph(run.context, graph) };
    }),
  );
}

function* relationshipStage(
  run: Run,
  name: string,
  direction: 'install' | 'uninstall',
  pairs: [string, string][],
): Part {
  if (pairs.length === 0) return null;
  return yield* must(
    graphStage(name, () => {
      const intact = instancesOf(run, new Set(pairs.flat()));
      return { spec: relationshipGraph(run.context, name, direction, intact, pairs) };
    }),
  );
}

/** Stage C by a custom workflow. Its failure does not fail the update, as in the original. */
function* runCustom(run: Run, workflowId: string, changes: UpdateChanges): Part {
  const limit = run.parameters.custom_workflow_timeout;
  const result = yield callStage('update-workflow', () => ({
    request: customRequest(run, workflowId, changes, limit),
  }));
  if (result.kind !== 'call' || !result.error) return null;
  return failureOf(result);
}

function customRequest(
  run: Run,
  workflowId: string,
  changes: UpdateChanges,
  limit: Json | undefined,
): CallRequest {
  const { reduced, extended } = betweenStaying(changes);
  const targets = (pairs: [string, string][]) => [...new Set(pairs.map(([, target]) => target))];
  return {
    call: 'run-execution',
    deploymentId: run.input.deploymentId,
    workflowId,
    force: true,
    allowCustomParameters: true,
    timeoutMs: typeof limit === 'number' ? limit * 1000 : null,
    parameters: {
      update_id: run.parameters.update_id ?? null,
      modified_entity_ids: changes.modified_entity_ids ?? {},
      added_instance_ids: changes.added,
      added_target_instances_ids: changes.added_related,
      removed_instance_ids: changes.removed,
      remove_target_instance_ids: changes.removed_related,
      extended_instance_ids: changes.extended,
      extend_target_instance_ids: targets(extended),
      reduced_instance_ids: changes.reduced,
      reduce_target_instance_ids: targets(reduced),
      skip_install: flag(run, 'skip_install'),
      skip_uninstall: flag(run, 'skip_uninstall'),
      ignore_failure: flag(run, 'ignore_failure'),
      install_first: false,
      node_instances_to_reinstall: null,
      central_plugins_to_install: null,
      central_plugins_to_uninstall: null,
      update_plugins: true,
    },
  };
}

function readChanges(result: StageResult): UpdateChanges {
  const response =
    result.kind === 'call' && !result.error && isJsonObject(result.response) ? result.response : {};
  return {
    added: idsOf(response.added),
    added_related: idsOf(response.added_related),
    removed: idsOf(response.removed),
    removed_related: idsOf(response.removed_related),
    extended: idsOf(response.extended),
    reduced: idsOf(response.reduced),
    extended_relationships: pairsOf(response.extended_relationships),
    reduced_relationships: pairsOf(response.reduced_relationships),
    changed_nodes: idsOf(response.changed_nodes),
    modified_entity_ids: isJsonObject(response.modified_entity_ids) ? response.modified_entity_ids : {},
  };
}

function pairsOf(value: Json | undefined): [string, string][] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((pair) => {
    const [source, target] = idsOf(pair);
    return source && target ? [[source, target] as [string, string]] : [];
  });
}
