import { type TaskPlace, type WorkflowScope, type WorkflowTask, workflow } from '@baton/plugin-sdk';
import * as z from 'zod';
import { ignoring } from '../selection/run-operations';
import { hasOperation, type Placed, SELECTION, select, selectionOf } from '../selection/select';

const LIFECYCLE = 'cloudify.interfaces.lifecycle';
const UNLINK = 'cloudify.interfaces.relationship_lifecycle.unlink';
/** States in which an installation was left, and what an operation back leads to. */
const UNRESOLVED = ['creating', 'configuring', 'starting'];

type Group = WorkflowTask & TaskPlace;
type Link = WorkflowTask | WorkflowTask[];

/** Undoes what an installation that has failed had begun, with the operations of the other direction. */
export const rollback = workflow({
  mapping: 'lifecycle_operations.cloudify_rollback_workflow.workflows.rollback',
  availableWhen: ['all', 'partial'],
  isResumable: true,
  parameters: z.object({
    ...SELECTION,
    full_rollback: z.boolean().default(false).describe('Uninstall everything afterwards'),
  }),
  async run(ctx, parameters) {
    const model = await ctx.model();
    const unresolved = select(model, selectionOf(parameters)).filter(({ instance }) =>
      UNRESOLVED.includes(instance.state),
    );
    const ids = unresolved.map(({ instance }) => instance.id);
    const others = model.instances.map(({ id }) => id).filter((id) => !ids.includes(id));
    ctx.logger.debug(`Unresolved: ${ids.join(', ') || 'none'}`);
    if (!parameters.full_rollback) {
      await rollbackAll(ctx, unresolved);
      return;
    }
    if (ids.length > 0) await ctx.uninstall(ids, others, true);
    await ctx.uninstall([...ids, ...others], [], false);
  },
});

async function rollbackAll(ctx: WorkflowScope, unresolved: readonly Placed[]): Promise<void> {
  const graph = ctx.graph();
  const groups = new Map<string, Group>();
  for (const one of unresolved) {
    const group = graph.subgraph(one.instance.id);
    graph.sequence(
      ...(one.instance.state === 'starting' ? stopped(ctx, group, one) : deleted(ctx, group, one)),
    );
    groups.set(one.instance.id, group);
  }
  // Backwards: what is connected to an instance goes first.
  for (const { instance } of unresolved)
    for (const target of new Set(instance.relationships.map(({ target_id: id }) => id))) {
      const [source, on] = [groups.get(instance.id), groups.get(target)];
      if (source !== undefined && on !== undefined && source !== on) graph.dependency(on, source);
    }
  await graph.execute();
}

/** From starting back to configured. */
function stopped(ctx: WorkflowScope, group: Group, { node, instance: { id } }: Placed): Link[] {
  const run = (operation: string): Link[] =>
    hasOperation(node, operation) ? [group.operation(id, operation, ignoring(ctx, id, operation))] : [];
  return [
    [group.setState(id, 'stopping'), group.nodeEvent(id, 'Stopping node instance')],
    ...run('cloudify.interfaces.validation.delete'),
    ...run('cloudify.interfaces.monitoring.stop'),
    ...run(`${LIFECYCLE}.prestop`),
    ...run(`${LIFECYCLE}.stop`),
    group.nodeEvent(id, 'Stopped node instance'),
    group.setState(id, 'configured'),
    group.nodeEvent(id, 'Rollbacked node instance'),
  ];
}

/** From creating or configuring back to uninitialized. */
function deleted(ctx: WorkflowScope, group: Group, { node, instance }: Placed): Link[] {
  const { id } = instance;
  const run = (operation: string): Link[] =>
    hasOperation(node, operation) ? [group.operation(id, operation, ignoring(ctx, id, operation))] : [];
  const unlinks = [...instance.relationships]
    .reverse()
    .map(
      ({ target_id: target }): Link =>
        (['source', 'target'] as const).map((side) =>
          group.relationshipOperation(id, target, side, UNLINK, ignoring(ctx, id, UNLINK)),
        ),
    );
  return [
    ...unlinks,
    [group.setState(id, 'deleting'), group.nodeEvent(id, 'Deleting node instance')],
    ...run(`${LIFECYCLE}.delete`),
    ...run(`${LIFECYCLE}.postdelete`),
    group.setState(id, 'uninitialized'),
    group.nodeEvent(id, 'Rollbacked node instance'),
  ];
}
