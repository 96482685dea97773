import { err, type JsonObject, ok, type Result } from '@baton/kernel';
import type { NodeInstance } from '../model';
import type { GraphSpec } from '../task';
import { addSubgraph } from './draft';
import { emitLinks } from './emit';
import { othersThan } from './filter';
import { type BuildContext, graphSpec } from './lifecycle-graph';
import { orderInstances } from './order';
import { instanceOperation } from './read-subject';
import { event } from './steps';

export interface OperationGraph {
  name: string;
  operation: string;
  kwargs: JsonObject;
  mayOverride: boolean;
  inOrder: boolean;
  instances: readonly NodeInstance[];
}

/**
 * Builds a graph of one operation on each instance that implements it, in parallel or sources after targets (reference
 * workflows.md 1.8). Fails when `kwargs` name a declared input and may not override it.
 */
export function operationGraph(context: BuildContext, graph: OperationGraph): Result<GraphSpec, string> {
  const duplicate = graph.mayOverride ? null : findDuplicate(context, graph);
  if (duplicate) {
    return err(
      `Duplicate definition of ${duplicate} in operation properties and in kwargs. ` +
        `To allow redefinition, pass 'allow_kwargs_override'`,
    );
  }
  const { ix } = context;
  return ok(
    graphSpec(context, graph.name, (draft) => {
      const places = new Map<string, number>();
      const intact = graph.inOrder ? othersThan(ix, graph.instances) : [];
      for (const instance of [...graph.instances, ...intact]) {
        const of = { nodeInstanceId: instance.id, nodeId: instance.node_id };
        places.set(
          instance.id,
          addSubgraph(draft, null, instance.id, of, { totalRetries: 0, onFailure: null }),
        );
      }
      for (const instance of graph.instances) {
        const template = instanceOperation(ix, context.config, instance, graph.operation, graph.kwargs);
        if (!template) continue;
        const links = [
          [event(`Starting operation ${graph.operation}${describeKwargs(graph.kwargs)}`)],
          [{ item: 'operation' as const, template }],
          [event(`Finished operation ${graph.operation}`)],
        ];
        const subject = { instanceId: instance.id, nodeId: instance.node_id };
        emitLinks(draft, places.get(instance.id)!, subject, links, { onFailure: null });
      }
      if (graph.inOrder) orderInstances(draft, ix, ix.model.nodeInstances, places, 'install');
    }),
  );
}

function findDuplicate({ ix, config }: BuildContext, graph: OperationGraph): string | null {
  for (const instance of graph.instances) {
    const inputs = instanceOperation(ix, config, instance, graph.operation)?.payload.inputs ?? {};
    for (const key of Object.keys(graph.kwargs)) if (Object.hasOwn(inputs, key)) return key;
  }
  return null;
}

function describeKwargs(kwargs: JsonObject): string {
  return Object.keys(kwargs).length === 0 ? '' : ` (Operation parameters: ${JSON.stringify(kwargs)})`;
}
