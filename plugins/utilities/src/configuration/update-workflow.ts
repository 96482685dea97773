import { type WorkflowScope, workflow } from '@baton/plugin-sdk';
import * as z from 'zod';
import type { Dict } from '../json';
import { type Model, type Placed, placed, textsOf } from '../selection/select';
import { parametersOf } from './merge';

const LIFECYCLE = 'cloudify.interfaces.lifecycle';

/** Gives a configuration new parameters, and brings the nodes up to date that use one of them. */
export const configurationUpdate = workflow({
  mapping: 'configuration.cloudify_configuration.tasks.update',
  availableWhen: ['all'],
  isResumable: true,
  parameters: z.object({
    params: z.any().describe('Parameters: a dictionary, or a text of JSON'),
    configuration_node_id: z.string().default('configuration_loader').describe('Node with the configuration'),
    merge_dict: z.boolean().default(false).describe('Merge dictionaries into present ones'),
    node_types_to_update: z
      .any()
      .default(['juniper_node_config', 'fortinet_vnf_type'])
      .describe('Types of the nodes that are brought up to date'),
  }),
  async run(ctx, given) {
    const params = parametersOf(given.params);
    const model = await ctx.model();
    const users = usersOf(
      model,
      given.configuration_node_id,
      textsOf(given.node_types_to_update),
      Object.keys(params),
    );
    await oneByOne(ctx, users, `${LIFECYCLE}.is_alive`);
    await reload(ctx, model, users, given.configuration_node_id, {
      parameters: params,
      merge_dict: given.merge_dict,
      merge_dicts: given.merge_dict,
    });
    await oneByOne(ctx, users, `${LIFECYCLE}.update`);
  },
});

/** Instances that are connected to the configuration, and whose list of parameters has one of the new ones. */
function usersOf(
  model: Model,
  configuration: string,
  types: readonly string[],
  names: readonly string[],
): Placed[] {
  return placed(model).filter(
    ({ node, instance }) =>
      types.some((type) => node.type_hierarchy.includes(type)) &&
      instance.relationships.some(({ target_name: target }) => target === configuration) &&
      textsOf(node.properties.params_list).some((name) => names.includes(name)),
  );
}

async function oneByOne(ctx: WorkflowScope, users: readonly Placed[], operation: string): Promise<void> {
  const graph = ctx.graph();
  graph.sequence(...users.map(({ instance }) => graph.operation(instance.id, operation)));
  await graph.execute();
}

/** Loads the parameters, and hands them on to the nodes that use them. */
async function reload(
  ctx: WorkflowScope,
  model: Model,
  users: readonly Placed[],
  configuration: string,
  kwargs: Dict,
): Promise<void> {
  const graph = ctx.graph();
  const loads = model.instances
    .filter(({ node_id: node }) => node === configuration)
    .map(({ id }) => graph.operation(id, `${LIFECYCLE}.configure`, { kwargs, mayOverride: true }));
  const handOvers = users.flatMap(({ instance }) =>
    instance.relationships
      .filter(({ target_name: target }) => target === configuration)
      .map(({ target_id: target }) =>
        graph.relationshipOperation(
          instance.id,
          target,
          'target',
          'cloudify.interfaces.relationship_lifecycle.preconfigure',
        ),
      ),
  );
  graph.sequence(...loads, ...handOvers);
  await graph.execute();
}
