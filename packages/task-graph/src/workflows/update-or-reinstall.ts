import type { Json } from '@baton/kernel';
import { driftGraph, statusGraph } from '../build/check-graph';
import { HEAL_FAILED, healGraph } from '../build/heal-graph';
import { containedSubgraph } from '../build/model-index';
import { instanceOperation } from '../build/read-subject';
import { LIFECYCLE } from '../build/steps';
import {
  canUpdateItself,
  hasDrift,
  hasOwnDrift,
  isCheckBroken,
  UPDATE_FAILED,
  updateGraph,
} from '../build/update-graph';
import type { NodeInstance } from '../model';
import type { SystemPropertyEdit } from '../task';
import type { StageResult, UpdateChanges } from '../workflow';
import { divide, failedToHeal, isHealthy } from './heal';
import { reinstallInstances } from './lifecycle';
import {
  callStage,
  flag,
  graphStage,
  idsOf,
  instancesOf,
  type Part,
  type PlannedStage,
  type Run,
} from './program';

/**
 * The instances that an update neither adds nor removes (reference workflows.md 1.13): those that drifted from the new
 * plan are updated in place where they can, else reinstalled with everything contained in them.
 */
export function* updateOrReinstall(run: Run, changes: UpdateChanges): Part {
  if (!flag(run, 'skip_drift_check')) {
    yield graphStage('update-check-drift', () => {
      const graph = {
        name: 'update-check-drift',
        instances: candidatesOf(run, changes),
        inOrder: true,
        ends: 'ignore' as const,
      };
      return { spec: driftGraph(run.context, graph) };
    });
  }
  const marked = yield callStage('update-mark-drift', () => {
    const changed = uncheckedChanges(run, changes);
    const { updates, reinstalls } = sortDrifted(run, changes, changed);
    const value = { ok: true, result: true, task: null };
    const edits = [{ edit: 'set' as const, path: ['configuration_drift'], value }];
    return {
      request: { call: 'system-properties', changes: changesOf(changed, edits) },
      memo: { updates: ids(updates), reinstalls: ids(reinstalls) },
    };
  });
  const memo = (marked.memo ?? {}) as { updates?: Json; reinstalls?: Json };
  const reinstalls = new Set(idsOf(memo.reinstalls));
  let updates = idsOf(memo.updates);
  if (updates.length > 0 && !flag(run, 'skip_heal')) {
    for (const id of yield* healFirst(run, updates)) reinstalls.add(id);
  }
  updates = updates.filter((id) => !reinstalls.has(id));
  for (const id of yield* updateInPlace(run, updates)) reinstalls.add(id);
  const failure = yield* reinstallDrifted(run, changes, reinstalls);
  if (failure) return failure;
  yield callStage('update-clear-drift', () => {
    const drifted = candidatesOf(run, changes).filter(hasOwnDrift);
    const edits = [{ edit: 'set' as const, path: ['configuration_drift'], value: null }];
    return { request: { call: 'system-properties', changes: changesOf(drifted, edits) } };
  });
  return null;
}

/** A part of the program that names instances. */
type Ids = Generator<PlannedStage, string[], StageResult>;

/** Started instances that were there before and stay. */
function candidatesOf(run: Run, changes: UpdateChanges): NodeInstance[] {
  const others = new Set([...changes.added, ...changes.removed]);
  return run.ix.model.nodeInstances.filter((i) => i.state === 'started' && !others.has(i.id));
}

/** Instances of changed nodes for which no drift check says whether they need anything: they count as drifted. */
function uncheckedChanges(run: Run, changes: UpdateChanges): NodeInstance[] {
  const changed = new Set(changes.changed_nodes);
  const isUnchecked = (i: NodeInstance) =>
    flag(run, 'skip_drift_check') ||
    instanceOperation(run.ix, run.input.config, i, `${LIFECYCLE}.check_drift`) === null;
  return candidatesOf(run, changes).filter((i) => changed.has(i.node_id) && isUnchecked(i));
}

function sortDrifted(run: Run, changes: UpdateChanges, changed: NodeInstance[]) {
  const isChecked = !flag(run, 'skip_drift_check');
  const marked = new Set(changed);
  const updates: NodeInstance[] = [];
  const reinstalls = new Set<NodeInstance>();
  for (const instance of candidatesOf(run, changes)) {
    const isBroken = isChecked && isCheckBroken(instance);
    const isDrifted = marked.has(instance) || (isChecked && hasDrift(instance));
    if (!isBroken && !isDrifted) continue;
    const needsOwn = marked.has(instance) || hasOwnDrift(instance);
    const canStay =
      !isBroken && !flag(run, 'force_reinstall') && (!needsOwn || canUpdateItself(run.context, instance));
    if (canStay) updates.push(instance);
    else for (const below of containedSubgraph(run.ix, instance)) reinstalls.add(below);
  }
  return { updates: updates.filter((i) => !reinstalls.has(i)), reinstalls: [...reinstalls] };
}

/** Check and heal what will be updated; ids of those that must be reinstalled instead. */
function* healFirst(run: Run, updates: string[]): Ids {
  yield graphStage('update-check-status', () => {
    const graph = {
      name: 'update-check-status',
      instances: instancesOf(run, updates),
      inOrder: false,
      ends: 'ignore' as const,
    };
    return { spec: statusGraph(run.context, graph) };
  });
  const first = yield graphStage('update-heal', () => {
    const unhealthy = instancesOf(run, updates).filter((i) => !isHealthy(i, false));
    const { heals, reinstalls } = divide(run, unhealthy);
    return {
      spec: healGraph(run.context, 'update-heal', heals, run.input.executionId),
      memo: ids(reinstalls),
    };
  });
  const second = yield unmarkStage('update-heal-failed', HEAL_FAILED, () => failedToHeal(run));
  return [...idsOf(first.memo), ...idsOf(second.memo)];
}

function* updateInPlace(run: Run, updates: string[]): Ids {
  if (updates.length === 0) return [];
  yield graphStage('update', () => ({
    spec: updateGraph(run.context, 'update', instancesOf(run, updates), run.input.executionId),
  }));
  const { executionId, model } = run.input;
  const failures = () =>
    model.nodeInstances.filter((i) => i.system_properties?.[UPDATE_FAILED] === executionId);
  return idsOf((yield unmarkStage('update-failed', UPDATE_FAILED, failures)).memo);
}

/** Take a mark of failure back; the memo names the marked instances, which must be reinstalled. */
function unmarkStage(name: string, mark: string, select: () => NodeInstance[]) {
  return callStage(name, () => {
    const marked = select();
    return {
      request: { call: 'system-properties', changes: changesOf(marked, [{ edit: 'unset', path: [mark] }]) },
      memo: ids(marked),
    };
  });
}

function* reinstallDrifted(run: Run, changes: UpdateChanges, drifted: ReadonlySet<string>): Part {
  const asked = idsOf(run.parameters.reinstall_list);
  const wanted = new Set(flag(run, 'skip_reinstall') ? asked : [...drifted, ...asked]);
  if (wanted.size === 0) return null;
  const select = () => candidatesOf(run, changes).filter((i) => wanted.has(i.id));
  // What the update adds comes later, what it removes has gone: neither is linked to what is installed again.
  const neighbours = () => candidatesOf(run, changes).filter((i) => !wanted.has(i.id));
  return yield* reinstallInstances(run, select, flag(run, 'ignore_failure'), neighbours);
}

function ids(instances: readonly NodeInstance[]): string[] {
  return instances.map((i) => i.id);
}

function changesOf(instances: readonly NodeInstance[], edits: SystemPropertyEdit[]) {
  return instances.map((i) => ({ nodeInstanceId: i.id, edits }));
}
