import { FatalError, type WorkflowScope, workflow } from '@baton/plugin-sdk';
import * as z from 'zod';
import { flagsOf, setValues } from '../types/schema';

type Kwargs = NonNullable<Parameters<ReturnType<WorkflowScope['graph']>['operation']>[2]>['kwargs'];

const INSTANCES = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .describe('Ids of node instances; none: all of the type');

/** Runs an operation on instances of a type, one after the other. @throws FatalError for an id that is none of them */
async function runOn(
  ctx: WorkflowScope,
  type: string,
  given: string | string[] | undefined,
  operation: string,
  kwargs: Kwargs,
): Promise<void> {
  const { nodes, instances } = await ctx.model();
  const ids = new Set(nodes.filter(({ type_hierarchy: types }) => types.includes(type)).map(({ id }) => id));
  const known = instances.filter(({ node_id: id }) => ids.has(id)).map(({ id }) => id);
  const wanted = [given ?? []].flat().filter((id) => id !== '');
  for (const id of wanted)
    if (!known.includes(id))
      throw new FatalError(`node_instance_id: ${id} is no ${type}: there are ${known.join(', ') || 'none'}`);
  const graph = ctx.graph();
  graph.sequence(
    ...(wanted.length > 0 ? wanted : known).map((id) =>
      graph.operation(id, operation, { kwargs, mayOverride: true }),
    ),
  );
  await graph.execute();
}

export const updateRepositories = workflow({
  mapping: 'helm.cloudify_helm.workflows.update_repositories',
  parameters: z.object({ node_instance_id: INSTANCES, flags: flagsOf() }),
  run: async (ctx, { node_instance_id: id, flags }) =>
    await runOn(ctx, 'cloudify.nodes.helm.Repo', id, 'helm.update_repo', { flags } as Kwargs),
  isResumable: true,
});

export const upgradeReleases = workflow({
  mapping: 'helm.cloudify_helm.workflows.upgrade_release',
  parameters: z.object({
    node_instance_id: INSTANCES,
    chart: z.string().default('').describe('The chart to upgrade to'),
    flags: flagsOf(),
    set_values: setValues,
    values_file: z.string().default('').describe('File of the blueprint with values'),
  }),
  run: async (ctx, { node_instance_id: id, ...inputs }) =>
    await runOn(ctx, 'cloudify.nodes.helm.Release', id, 'helm.upgrade_release', inputs as Kwargs),
  isResumable: true,
});
