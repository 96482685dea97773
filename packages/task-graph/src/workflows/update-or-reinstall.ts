import type { Json } from '@baton/kernel';
import { driftGraph, OWN_DRIFT, SOURCE_DRIFT, TARGET_DRIFT } from '../build/check-graph';
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
import { divide, failedToHeal, isHealthy, statusStage } from './heal';
import { reinstallInstances } from './lifecycle';
import {
  callStage,
  flag,
  graphStage,
  idsOf,
  instancesOf,
  must,
  newRun,
  type Part,
  type PlannedStage,
  type Run,
} from './program';

/**
 * The instances that an update neither adds nor removes (reference workflows.md 1.13). Instances that drifted from the
 * new plan are updated in place where possible, else reinstalled with everything contained in them. Instances of
 * `reinstall_list` are reinstalled without any check.
 */
export function* updateOrReinstall(run: Run, changes: UpdateChanges): Part {
  const unchecked = flag(run, 'skip_drift_check') ? null : yield* must(driftStage(run, changes));
  if (unchecked) return unchecked;
  const marked = yield callStage('update-mark-drift', () => {
    const changed = uncheckedChanges(run, changes);
    const { updates, reinstalls } = sortDrifted(run, changes, changed);
    const value = { ok: true, result: true, task: null };
    const edits = [{ edit: 'set' as const, path: [OWN_DRIFT], value }];
    return {
      request: { call: 'system-properties', changes: changesOf(changed, edits) },
      memo: { marked: ids(changed), updates: ids(updates), reinstalls: ids(reinstalls) },
    };
  });
  const memo = (marked.memo ?? {}) as { marked?: Json; updates?: Json; reinstalls?: Json };
  const reinstalls = new Set(idsOf(memo.reinstalls));
  const drifted = idsOf(memo.updates);
  if (drifted.length > 0 && !flag(run, 'skip_heal')) {
    const check = statusStage(run, 'update-check-status', () => instancesOf(run, drifted));
    const unknown = yield* must(check);
    if (unknown) return unknown;
    for (const id of yield* healFirst(run, drifted)) reinstalls.add(id);
  }
  const updates = drifted.filter((id) => !reinstalls.has(id));
  for (const id of yield* updateInPlace(run, updates)) reinstalls.add(id);
  const wanted = reinstallsOf(run, reinstalls);
  const failure = yield* reinstallDrifted(run, changes, wanted);
  if (failure) return failure;
  yield callStage('update-clear-drift', () => {
    const fresh = flag(run, 'skip_drift_check')
      ? []
      : candidatesOf(run, changes).filter((i) => wanted.has(i.id));
    const changed = instancesOf(run, idsOf(memo.marked)).filter((i) => !fresh.includes(i));
    const request = {
      call: 'system-properties' as const,
      changes: [...changesOf(changed, [forget(OWN_DRIFT)]), ...changesOf(fresh, ALL_DRIFT.map(forget))],
    };
    return { request };
  });
  return null;
}

/**
 * For a check, a failure is the answer. A check that exceeds its retries by its own requests has no answer, and fails
 * the update.
 */
function driftStage(run: Run, changes: UpdateChanges): PlannedStage {
  return graphStage('update-check-drift', () => {
    const instances = consideredOf(run, changes);
    const graph = { name: 'update-check-drift', instances, inOrder: true, ends: 'ignore' as const };
    return { spec: driftGraph(run.context, graph) };
  });
}

/** A part of the program that returns ids of instances. */
type Ids = Generator<PlannedStage, string[], StageResult>;

/** Started instances that existed before the update and stay. */
function candidatesOf(run: Run, changes: UpdateChanges): NodeInstance[] {
  const others = new Set([...changes.added, ...changes.removed]);
  return run.ix.model.nodeInstances.filter((i) => i.state === 'started' && !others.has(i.id));
}

/** The candidates to check. Instances of `reinstall_list` need no check. */
function consideredOf(run: Run, changes: UpdateChanges): NodeInstance[] {
  const asked = new Set(idsOf(run.parameters.reinstall_list));
  return candidatesOf(run, changes).filter((i) => !asked.has(i.id));
}

/** Instances of changed nodes without a drift check: they count as drifted. */
function uncheckedChanges(run: Run, changes: UpdateChanges): NodeInstance[] {
  const changed = new Set(changes.changed_nodes);
  const isUnchecked = (i: NodeInstance) =>
    flag(run, 'skip_drift_check') ||
    instanceOperation(run.ix, run.input.config, i, `${LIFECYCLE}.check_drift`) === null;
  return consideredOf(run, changes).filter((i) => changed.has(i.node_id) && isUnchecked(i));
}

/**
 * Divides drifted instances into those to update in place and those to reinstall. `force_reinstall` moves the former to
 * the latter.
 */
function sortDrifted(run: Run, changes: UpdateChanges, changed: NodeInstance[]) {
  const isChecked = !flag(run, 'skip_drift_check');
  const marked = new Set(changed);
  const updates: NodeInstance[] = [];
  const reinstalls = new Set<NodeInstance>();
  for (const instance of consideredOf(run, changes)) {
    const isBroken = isChecked && isCheckBroken(instance);
    const isDrifted = marked.has(instance) || (isChecked && hasDrift(instance));
    if (!isBroken && !isDrifted) continue;
    const needsOwn = marked.has(instance) || hasOwnDrift(instance);
    if (!isBroken && (!needsOwn || canUpdateItself(run.context, instance))) updates.push(instance);
    else for (const below of containedSubgraph(run.ix, instance)) reinstalls.add(below);
  }
  if (flag(run, 'force_reinstall'))
    return { updates: [], reinstalls: [...new Set([...reinstalls, ...updates])] };
  return { updates: updates.filter((i) => !reinstalls.has(i)), reinstalls: [...reinstalls] };
}

/** Heals unhealthy instances before their update. Returns the ids of instances that must be reinstalled instead. */
function* healFirst(run: Run, updates: string[]): Ids {
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

/** Removes a failure mark; the memo names the marked instances, which must be reinstalled. */
function unmarkStage(name: string, mark: string, select: () => NodeInstance[]) {
  return callStage(name, () => {
    const marked = select();
    return {
      request: { call: 'system-properties', changes: changesOf(marked, [{ edit: 'unset', path: [mark] }]) },
      memo: ids(marked),
    };
  });
}

function reinstallsOf(run: Run, drifted: ReadonlySet<string>): ReadonlySet<string> {
  const asked = idsOf(run.parameters.reinstall_list);
  return new Set(flag(run, 'skip_reinstall') ? asked : [...drifted, ...asked]);
}

function* reinstallDrifted(run: Run, changes: UpdateChanges, wanted: ReadonlySet<string>): Part {
  if (wanted.size === 0) return null;
  const staying = runWithout(run, new Set(changes.removed));
  const select = () => candidatesOf(staying, changes).filter((i) => wanted.has(i.id));
  // Added instances come later, and removed ones are gone: neither is linked to reinstalled instances.
  const neighbours = () => candidatesOf(staying, changes).filter((i) => !wanted.has(i.id));
  return yield* reinstallInstances(staying, select, flag(run, 'ignore_failure'), neighbours);
}

/** Returns the run on a model without relationships to these instances. */
function runWithout(run: Run, removed: ReadonlySet<string>): Run {
  if (removed.size === 0) return run;
  const { model } = run.input;
  const nodeInstances = model.nodeInstances.map((i) => ({
    ...i,
    relationships: i.relationships.filter((r) => !removed.has(r.target_id)),
  }));
  return newRun({ ...run.input, model: { ...model, nodeInstances } });
}

function ids(instances: readonly NodeInstance[]): string[] {
  return instances.map((i) => i.id);
}

const ALL_DRIFT = [OWN_DRIFT, SOURCE_DRIFT, TARGET_DRIFT];

function forget(name: string): SystemPropertyEdit {
  return { edit: 'unset', path: [name] };
}

function changesOf(instances: readonly NodeInstance[], edits: SystemPropertyEdit[]) {
  return instances.map((i) => ({ nodeInstanceId: i.id, edits }));
}
