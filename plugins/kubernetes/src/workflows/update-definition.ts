import { FatalError, workflow } from '@baton/plugin-sdk';
import * as z from 'zod';

const UPDATE = 'cloudify.interfaces.lifecycle.update';

/** Changes parts of the definition of one instance. */
export const updateResourceDefinition = workflow({
  mapping: 'kubernetes.cloudify_kubernetes.workflows.update_resource_definition',
  parameters: z.object({
    node_instance_id: z.string().describe('Id of the node instance'),
    resource_definition_changes: z
      .record(z.string(), z.json())
      .describe('Parts of the definition; dictionaries are merged, everything else is replaced'),
  }),
  async run(ctx, { node_instance_id: id, resource_definition_changes: changes }) {
    const { instances } = await ctx.model();
    if (!instances.some((one) => one.id === id))
      throw new FatalError(`node_instance_id: there is no node instance ${id}`);
    const graph = ctx.graph();
    graph.operation(id, UPDATE, { kwargs: { resource_definition_changes: changes }, mayOverride: true });
    await graph.execute();
  },
  isResumable: true,
});
