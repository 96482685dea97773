import type { WorkflowScope } from '@baton/plugin-sdk';
import type { Dict } from '../json';
import { hasOperation, type Model, placed, textsOf } from '../selection/select';

/** An operation for all nodes that have it. */
export interface FreezeStage {
  operation: string;
  /** Types of which a node must have all. */
  include?: readonly string[];
  /** Types of which a node may have none. */
  exclude?: readonly string[];
}

/**
 * Runs operations one after the other, each on one instance after the other. A node may name operations in its property
 * `skip_actions`. `parameters`: of the workflow; they are inputs of the operations too.
 */
export async function runOnAll(
  ctx: WorkflowScope,
  stages: readonly FreezeStage[],
  parameters: Readonly<Dict>,
): Promise<void> {
  const model: Model = await ctx.model();
  const graph = ctx.graph();
  const instances = textsOf(parameters.include_instances);
  const links = stages.flatMap((stage) => {
    const { operation } = stage;
    const include = stage.include ?? textsOf(parameters.include_node_types);
    const exclude = stage.exclude ?? textsOf(parameters.exclude_node_types);
    const chosen = placed(model).filter(
      ({ node, instance }) =>
        include.every((type) => node.type_hierarchy.includes(type)) &&
        !exclude.some((type) => node.type_hierarchy.includes(type)) &&
        !textsOf(node.properties.skip_actions).includes(operation) &&
        hasOperation(node, operation) &&
        (instances.length === 0 || instances.includes(instance.id)),
    );
    const kwargs = { ...parameters, include_node_types: [...include], exclude_node_types: [...exclude] };
    return chosen.flatMap(({ instance: { id } }) => [
      graph.nodeEvent(id, `Starting to ${operation}`),
      graph.operation(id, operation, { kwargs }),
      graph.nodeEvent(id, `Done ${operation}`),
    ]);
  });
  graph.sequence(...links);
  await graph.execute();
}
