import type { NodeInstance } from '../model';
import type { DriftSlot, FailureHandler, GraphSpec, SuccessHandler } from '../task';
import { addDependency, addSubgraph, type Draft } from './draft';
import { emitOperation } from './emit';
import { othersThan } from './filter';
import { type BuildContext, graphSpec } from './lifecycle-graph';
import { orderInstances } from './order';
import { instanceOperation, readRelationship } from './read-subject';
import { LIFECYCLE, VALIDATION } from './steps';

export interface CheckGraph {
  name: string;
  instances: readonly NodeInstance[];
  inOrder: boolean;
  /** Effect of a failed check on the graph; its result is recorded in any case. */
  ends: 'fail' | 'ignore';
}

/**
 * Runs VAL.check_status on each instance and stores the result in its `status` (reference workflows.md 1.11). Where a
 * failure is ignored, the configured retries apply to checks that request another run.
 */
export function statusGraph(context: BuildContext, graph: CheckGraph): GraphSpec {
  const taskRetries = graph.ends === 'ignore' ? context.config.taskRetries : 0;
  const retrying: BuildContext = { ...context, config: { ...context.config, taskRetries } };
  return checkGraph(retrying, graph, (draft, instance) => {
    const template = instanceOperation(retrying.ix, retrying.config, instance, `${VALIDATION}.check_status`);
    if (!template) return null;
    const onFailure: FailureHandler = { handler: 'record-status', ends: graph.ends };
    return emitOperation(draft, null, template, { onSuccess: { handler: 'record-status' }, onFailure });
  });
}

/**
 * Runs LC.check_drift on each instance, then RLC.check_drift on both sides of each of its relationships. An instance
 * without a check of its own still waits for the instances before it.
 */
export function driftGraph(context: BuildContext, graph: CheckGraph): GraphSpec {
  return checkGraph(context, graph, (draft, instance) => {
    const own = instanceOperation(context.ix, context.config, instance, `${LIFECYCLE}.check_drift`);
    const slot = { nodeInstanceId: instance.id, path: [OWN_DRIFT] };
    const first = own
      ? emitOperation(draft, null, own, driftHandlers(slot, graph.ends))
      : addStub(draft, instance);
    for (const relationship of context.ix.relationshipsOf(instance)) {
      const { source, target } =
        readRelationship(context.ix, context.config, relationship).operations.check_drift ?? {};
      const ends = { source: instance.id, target: relationship.target.id };
      const checks = [
        { template: source, slot: { nodeInstanceId: ends.source, path: [SOURCE_DRIFT, ends.target] } },
        { template: target, slot: { nodeInstanceId: ends.target, path: [TARGET_DRIFT, ends.source] } },
      ];
      for (const check of checks) {
        if (!check.template) continue;
        const task = emitOperation(draft, null, check.template, driftHandlers(check.slot, graph.ends));
        addDependency(draft, task, first);
      }
    }
    return first;
  });
}

export const OWN_DRIFT = 'configuration_drift';
export const SOURCE_DRIFT = 'source_relationships_configuration_drift';
export const TARGET_DRIFT = 'target_relationships_configuration_drift';

function driftHandlers(
  slot: DriftSlot,
  ends: 'fail' | 'ignore',
): { onSuccess: SuccessHandler; onFailure: FailureHandler } {
  return { onSuccess: { handler: 'record-drift', slot }, onFailure: { handler: 'record-drift', slot, ends } };
}

/** One task per instance, directly in the graph; instances without a task only pass the order on. */
function checkGraph(
  context: BuildContext,
  graph: CheckGraph,
  addCheck: (draft: Draft, instance: NodeInstance) => number | null,
): GraphSpec {
  return graphSpec(context, graph.name, (draft) => {
    const places = new Map<string, number>();
    for (const instance of graph.instances)
      places.set(instance.id, addCheck(draft, instance) ?? addStub(draft, instance));
    if (!graph.inOrder) return;
    for (const instance of othersThan(context.ix, graph.instances))
      places.set(instance.id, addStub(draft, instance));
    orderInstances(draft, context.ix, context.ix.model.nodeInstances, places, 'install');
  });
}

function addStub(draft: Draft, instance: NodeInstance): number {
  const of = { nodeInstanceId: instance.id, nodeId: instance.node_id };
  return addSubgraph(draft, null, `stub_${instance.id}`, of, { totalRetries: 0, onFailure: null });
}
