import { isJsonObject } from '@baton/kernel';
import { statusGraph } from '../build/check-graph';
import { HEAL_FAILED, healGraph } from '../build/heal-graph';
import { containedSubgraph, type ModelIndex } from '../build/model-index';
import { instanceOperation } from '../build/read-subject';
import { LIFECYCLE } from '../build/steps';
import type { NodeInstance } from '../model';
import { reinstallInstances } from './lifecycle';
import {
  callStage,
  type EndStage,
  failed,
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

/** heal (reference workflows.md 1.9): checks, heals what can be healed, reinstalls the rest. */
export function* heal(run: Run): Program {
  const target = targetOf(run);
  if (target !== null && !run.ix.instances.has(target)) {
    return failed('ValueError', `No node instance with id \`${target}\` was found`);
  }
  const isIgnoring = flag(run, 'ignore_failure', true);
  if (flag(run, 'force_reinstall')) {
    return (yield* reinstallInstances(run, () => scopeOf(run, target), isIgnoring)) ?? SUCCEEDED;
  }
  if (flag(run, 'check_status', true)) {
    const unknown = yield* must(statusStage(run, 'check_status', () => scopeOf(run, target)));
    if (unknown) return unknown;
  }
  const first = yield graphStage('heal', () => {
    const unhealthy = scopeOf(run, target).filter((i) => !isHealthy(i, target !== null));
    const { heals, reinstalls } = divide(run, unhealthy);
    const refusal = refuseReinstall(run, reinstalls);
    return (
      refusal ?? {
        spec: healGraph(run.context, 'heal', heals, run.input.executionId),
        memo: idsOfAll(reinstalls),
      }
    );
  });
  return (yield* reinstallUnhealed(run, idsOf(first.memo), isIgnoring)) ?? SUCCEEDED;
}

/**
 * Runs check_status on these instances. A failed check is an answer. A check that exceeds its retries by its own
 * requests has none, and fails the stage.
 */
export function statusStage(run: Run, name: string, select: () => NodeInstance[]): PlannedStage {
  return graphStage(name, () => {
    const graph = { name, instances: select(), inOrder: false, ends: 'ignore' as const };
    return { spec: statusGraph(run.context, graph) };
  });
}

/**
 * Removes the marks of failed healing, then reinstalls the marked instances together with those that could not be
 * healed. A healthy instance inside one whose healing failed stays: it is only unlinked and linked again.
 */
function* reinstallUnhealed(run: Run, ids: string[], isIgnoring: boolean): Part {
  const marked = yield callStage('heal-failed', () => {
    const failures = failedToHeal(run);
    const all = new Set([...instancesOf(run, ids), ...failures]);
    return { request: { call: 'system-properties', changes: unmark(failures) }, memo: idsOfAll([...all]) };
  });
  const reinstalls = idsOf(marked.memo);
  if (reinstalls.length === 0) return null;
  const refusal = refuseReinstall(run, instancesOf(run, reinstalls));
  return refusal ?? (yield* reinstallInstances(run, () => instancesOf(run, reinstalls), isIgnoring));
}

export function failedToHeal(run: Run): NodeInstance[] {
  const { executionId, model } = run.input;
  return model.nodeInstances.filter((i) => i.system_properties?.[HEAL_FAILED] === executionId);
}

function unmark(instances: NodeInstance[]) {
  return instances.map((i) => ({
    nodeInstanceId: i.id,
    edits: [{ edit: 'unset' as const, path: [HEAL_FAILED] }],
  }));
}

function targetOf(run: Run): string | null {
  const id = run.parameters.node_instance_id;
  return typeof id === 'string' && id !== '' ? id : null;
}

/** The instances to check: everything on the host of the target instance, or of each instance. */
function scopeOf(run: Run, target: string | null): NodeInstance[] {
  const { ix } = run;
  const roots = target === null ? ix.model.nodeInstances : instancesOf(run, [target]);
  const found = new Set<NodeInstance>();
  for (const instance of roots) {
    const host = (instance.host_id && ix.instances.get(instance.host_id)) || instance;
    if (!found.has(host)) for (const below of containedSubgraph(ix, host)) found.add(below);
    found.add(instance);
  }
  return ix.model.nodeInstances.filter((i) => found.has(i));
}

/**
 * Whether the last status check found the instance healthy. Without any check, an instance that was requested by name
 * counts as broken, any other as healthy.
 */
export function isHealthy(instance: NodeInstance, isTargeted: boolean): boolean {
  const status = instance.system_properties?.status;
  if (!isJsonObject(status) || status.task === null || status.task === undefined) return !isTargeted;
  return Boolean(status.ok);
}

/**
 * Divides unhealthy instances: those with a heal operation are healed, unless they are contained in one that must be
 * reinstalled.
 */
export function divide(
  run: Run,
  unhealthy: NodeInstance[],
): { heals: NodeInstance[]; reinstalls: NodeInstance[] } {
  const reinstalls = new Set<NodeInstance>();
  for (const instance of unhealthy) {
    if (hasHeal(run.ix, instance)) continue;
    for (const below of containedSubgraph(run.ix, instance)) reinstalls.add(below);
  }
  return { heals: unhealthy.filter((i) => !reinstalls.has(i)), reinstalls: [...reinstalls] };
}

function hasHeal(ix: ModelIndex, instance: NodeInstance): boolean {
  return (
    instanceOperation(
      ix,
      { tenant: '', taskRetries: 0, taskRetryIntervalMs: 0 },
      instance,
      `${LIFECYCLE}.heal`,
    ) !== null
  );
}

function refuseReinstall(run: Run, instances: NodeInstance[]): EndStage | null {
  if (instances.length === 0 || flag(run, 'allow_reinstall', true)) return null;
  const shown = instances
    .slice(0, 5)
    .map((i) => i.id)
    .join(', ');
  const more = instances.length > 5 ? ` (and ${instances.length - 5} more)` : '';
  return failed(
    'RuntimeError',
    `allow_reinstall is false, but would need to reinstall instances: ${shown}${more}`,
  );
}

function idsOfAll(instances: NodeInstance[]): string[] {
  return instances.map((i) => i.id);
}
