import type { WorkflowContext, WorkflowInstance } from '@baton/plugin-sdk';
import * as z from 'zod';

const WHICH = {
  node_instance_ids: z.array(z.string()).default([]).describe('Only these node instances'),
  node_ids: z.array(z.string()).default([]).describe('Only instances of these nodes'),
};
const VALUES = z.record(z.string(), z.any());
const SOURCE = {
  ...WHICH,
  source: z.any().default(''),
  source_path: z.string().default(''),
  variables: VALUES.default({}),
  environment_variables: VALUES.default({}),
};

type Parameters = Readonly<Record<string, unknown>>;
const MODULE = 'cloudify.nodes.terraform.Module';
const HOST = 'cloudify.nodes.terraform';

/** Runs an operation on all instances of a type that the parameters choose, one after another. */
const onEach =
  (
    type: string,
    operation: string,
    before?: (ctx: WorkflowContext, instance: WorkflowInstance) => Promise<void>,
  ) =>
  async (ctx: WorkflowContext, parameters: Parameters): Promise<void> => {
    const { node_instance_ids: instanceIds, node_ids: nodeIds, ...kwargs } = parameters;
    const { nodes, instances } = await ctx.model();
    const ofType = new Set(nodes.filter((node) => node.type_hierarchy.includes(type)).map(({ id }) => id));
    const chosen = instances.filter(
      (one) => ofType.has(one.node_id) && isChosen(instanceIds, one.id) && isChosen(nodeIds, one.node_id),
    );
    if (chosen.length === 0)
      throw new Error(`the deployment has no instance of ${type} that the parameters choose`);
    for (const instance of chosen.sort((a, b) => a.id.localeCompare(b.id))) {
      await before?.(ctx, instance);
      await ctx.executeOperation(instance.id, operation, { kwargs: kwargs as never, mayOverride: true });
    }
  };

const isChosen = (wanted: unknown, id: string): boolean =>
  !Array.isArray(wanted) || wanted.length === 0 || wanted.includes(id);

/** A plan is also made for a module that is not installed yet: its program must be there. */
async function provideHost(ctx: WorkflowContext, instance: WorkflowInstance): Promise<void> {
  if (instance.state !== 'uninitialized') return;
  const { nodes, instances } = await ctx.model();
  const host = new Set(nodes.filter((node) => node.type_hierarchy.includes(HOST)).map(({ id }) => id));
  for (const { target_id: id, target_name: name } of instance.relationships) {
    if (!host.has(name)) continue;
    const target = instances.find((one) => one.id === id);
    if (target?.state !== 'uninitialized') continue;
    await ctx.executeOperation(id, 'cloudify.interfaces.lifecycle.create');
  }
  for (const { target_id: id, target_name: name } of instance.relationships) {
    if (!host.has(name)) continue;
    const graph = ctx.graph();
    graph.relationshipOperation(
      instance.id,
      id,
      'source',
      'cloudify.interfaces.relationship_lifecycle.preconfigure',
    );
    await graph.execute();
  }
}

/** Workflows under the names of the original; those of one module run one after another. */
export const workflows = {
  refresh_terraform_resources: {
    mapping: 'tf.cloudify_tf.workflows.refresh_resources',
    parameters: z.object(WHICH),
    run: onEach(MODULE, 'terraform.refresh'),
  },
  terraform_plan: {
    mapping: 'tf.cloudify_tf.workflows.terraform_plan',
    parameters: z.object(SOURCE),
    run: onEach(MODULE, 'terraform.plan', provideHost),
  },
  reload_terraform_template: {
    mapping: 'tf.cloudify_tf.workflows.reload_resources',
    parameters: z.object({
      ...SOURCE,
      destroy_previous: z.boolean().default(false),
      force: z.boolean().default(false),
    }),
    run: onEach(MODULE, 'terraform.reload'),
  },
  update_terraform_binary: {
    mapping: 'tf.cloudify_tf.workflows.update_terraform_binary',
    parameters: z.object({
      ...WHICH,
      installation_source: z.string().describe('Address of the new program'),
    }),
    run: onEach(HOST, 'cloudify.interfaces.lifecycle.create'),
  },
  import_terraform_resource: {
    mapping: 'tf.cloudify_tf.workflows.import_resource',
    parameters: z.object({ ...SOURCE, resource_address: z.string(), resource_id: z.string() }),
    run: onEach(MODULE, 'terraform.import_resource'),
  },
  run_infracost: {
    mapping: 'tf.cloudify_tf.workflows.run_infracost',
    parameters: z.object({ ...SOURCE, infracost_config: VALUES.default({}) }),
    run: onEach(MODULE, 'terraform.infracost'),
  },
  migrate_state: {
    mapping: 'tf.cloudify_tf.workflows.migrate_state',
    parameters: z.object({ ...WHICH, backend: VALUES, backend_config: VALUES.default({}) }),
    run: onEach(MODULE, 'terraform.migrate_state'),
  },
};
