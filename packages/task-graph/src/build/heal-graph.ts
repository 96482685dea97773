import type { NodeInstance } from '../model';
import type { GraphSpec, SystemPropertyEdit } from '../task';
import { addSubgraph } from './draft';
import { emitLinks } from './emit';
import { othersThan } from './filter';
import { type BuildContext, graphSpec } from './lifecycle-graph';
import { orderInstances } from './order';
import { readSubject } from './read-subject';
import { event, LIFECYCLE, type Link, operation } from './steps';

export const HEAL_FAILED = 'heal_failed';

/** Runs LC.preheal, heal, postheal on each instance. A failed instance is marked and does not stop the others (reference 1.9). */
export function healGraph(
  context: BuildContext,
  name: string,
  instances: readonly NodeInstance[],
  executionId: string,
): GraphSpec {
  // Other members of the status, which the check wrote, stay.
  const healed = Object.entries({ ok: true, task: null, healed: true });
  return markedGraph(context, instances, {
    name,
    subgraph: (instance) => `heal_${instance.id}`,
    onSuccess: healed.map(([name, value]) => ({ edit: 'set', path: ['status', name], value })),
    onFailure: [{ edit: 'set', path: [HEAL_FAILED], value: executionId }],
    links: (instance) => {
      const subject = readSubject(context.ix, context.config, instance);
      const steps = ['preheal', 'heal', 'postheal'].flatMap((op) => operation(subject, `${LIFECYCLE}.${op}`));
      return [[event('Healing node instance')], ...steps, [event('Node instance healed')]];
    },
  });
}

export interface MarkedGraph {
  name: string;
  subgraph: (instance: NodeInstance) => string;
  links: (instance: NodeInstance) => Link[];
  /** System properties of the instance to write when its subgraph has ended. */
  onSuccess: SystemPropertyEdit[];
  onFailure: SystemPropertyEdit[];
}

/** One subgraph per instance, sources after targets. Each ends with an edit of system properties and never fails the graph. */
export function markedGraph(
  context: BuildContext,
  instances: readonly NodeInstance[],
  graph: MarkedGraph,
): GraphSpec {
  const { ix } = context;
  return graphSpec(context, graph.name, (draft) => {
    const places = new Map<string, number>();
    for (const instance of instances) {
      const of = { nodeInstanceId: instance.id, nodeId: instance.node_id };
      const mark = { handler: 'edit-system-properties' as const, nodeInstanceId: instance.id };
      const subgraph = addSubgraph(draft, null, graph.subgraph(instance), of, {
        totalRetries: 0,
        onSuccess: { ...mark, edits: graph.onSuccess },
        onFailure: { ...mark, edits: graph.onFailure, ends: 'ignore' },
      });
      places.set(instance.id, subgraph);
      const subject = { instanceId: instance.id, nodeId: instance.node_id };
      emitLinks(draft, subgraph, subject, graph.links(instance), { onFailure: null });
    }
    for (const instance of othersThan(ix, instances)) {
      const of = { nodeInstanceId: instance.id, nodeId: instance.node_id };
      places.set(
        instance.id,
        addSubgraph(draft, null, `stub_${instance.id}`, of, { totalRetries: 0, onFailure: null }),
      );
    }
    orderInstances(draft, ix, ix.model.nodeInstances, places, 'install');
  });
}
