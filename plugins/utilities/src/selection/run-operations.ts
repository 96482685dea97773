import type { TaskPlace, WorkflowGraph, WorkflowScope, WorkflowTask } from '@baton/plugin-sdk';
import type { Dict } from '../json';
import type { Model, Placed } from './select';

/** An operation for many instances. */
export interface ManyOperations {
  operation: string;
  kwargs: Dict;
  mayOverride?: boolean;
  /** An instance waits for those that it has relationships to, also over instances that are not chosen. */
  inOrder: boolean;
  ignoresFailure: boolean;
}

/** A failed task is told of, and its failure has no effect. */
export const ignoring = (ctx: WorkflowScope, instanceId: string, operation: string) => ({
  onFailure: async () => {
    ctx.logger.warning(`Ignoring task ${operation} failure of ${instanceId}`);
    return 'ignore' as const;
  },
});

/** Runs an operation on the chosen instances; in parallel, or in the order of the relationships. */
export async function runOperations(
  ctx: WorkflowScope,
  model: Model,
  chosen: readonly Placed[],
  { operation, kwargs, mayOverride, inOrder, ignoresFailure }: ManyOperations,
): Promise<void> {
  const graph = ctx.graph();
  const groups = new Map<string, WorkflowTask & TaskPlace>();
  for (const { instance } of chosen) {
    const group = graph.subgraph(instance.id);
    const options = { kwargs, mayOverride, ...(ignoresFailure ? ignoring(ctx, instance.id, operation) : {}) };
    graph.sequence(
      group.nodeEvent(instance.id, `Starting operation ${operation}`),
      group.operation(instance.id, operation, options),
      group.nodeEvent(instance.id, `Finished operation ${operation}`),
    );
    groups.set(instance.id, group);
  }
  if (inOrder) {
    // An empty group for each other instance: their number stays that of the relationships.
    for (const { id } of model.instances) if (!groups.has(id)) groups.set(id, graph.subgraph(id));
    orderByRelationships(graph, model, groups);
  }
  await graph.execute();
}

function orderByRelationships(
  graph: WorkflowGraph,
  model: Model,
  groups: ReadonlyMap<string, WorkflowTask>,
): void {
  for (const { id, relationships } of model.instances)
    for (const target of new Set(relationships.map(({ target_id: of }) => of))) {
      const [source, on] = [groups.get(id), groups.get(target)];
      if (source !== undefined && on !== undefined && id !== target) graph.dependency(source, on);
    }
}
