import { FatalError, type WorkflowScope, workflow } from '@baton/plugin-sdk';
import * as z from 'zod';
import { type Dict, dictOf, type Json, listOf } from '../json';

const MAPPING = 'cloudify_custom_workflow.cloudify_custom_workflow.tasks';

const DEPLOY = {
  blueprint_id: z.string().describe('An uploaded blueprint'),
  parent_deployments: z
    .any()
    .describe('Deployments; each gets a new one, with its id as the input deployment'),
  group_id: z.string().default('').describe('Name of the group. Empty: after the blueprint'),
  new_deployment_ids: z.any().default([]).describe('Names of the new deployments. Empty: after the group'),
  inputs: z.any().default([]).describe('Inputs of the new deployments, in their order'),
  labels: z.any().default([]).describe('Labels of the new deployments'),
};
const SCHEMA = z.object({
  ...DEPLOY,
  add_parent_labels: z.boolean().default(false).describe('Label each new deployment as a part of its parent'),
});
type Parameters = z.output<typeof SCHEMA>;

/** Makes a group with one deployment for each parent, and returns its name. */
async function deploy(ctx: WorkflowScope, parameters: Parameters): Promise<string> {
  const parents = parentsOf(parameters.parent_deployments);
  const blueprint = parameters.blueprint_id;
  const group =
    parameters.group_id || String(await ctx.step('name of the group', () => freeName(ctx, blueprint)));
  const names = listOf(parameters.new_deployment_ids).map(String);
  const inputs = listOf(parameters.inputs);
  const labels = listOf(parameters.labels);
  const made = parents.map((parent, i) => {
    const name = names[i] ?? `${group}-${i}`;
    return {
      id: name,
      display_name: name,
      inputs: { ...dictOf(inputs[i]), deployment: parent },
      ...(parameters.add_parent_labels ? { labels: [{ 'csys-obj-parent': parent }] } : {}),
    };
  });
  const address = `/deployment-groups/${encodeURIComponent(group)}`;
  await ctx.step('group', async () => {
    await ctx.manager().put(address, { json: { blueprint_id: blueprint, labels, visibility: 'tenant' } });
    return null;
  });
  for (const one of made)
    await ctx.step(`deployment ${one.id}`, async () => {
      await addOnce(ctx, address, one);
      return null;
    });
  ctx.logger.info(`The group ${group} has ${made.length} new deployments of ${blueprint}`);
  return group;
}

/** Adds a new deployment to the group. One that an attempt that was lost has made is taken as it is. */
async function addOnce(ctx: WorkflowScope, address: string, one: { id: string } & Dict): Promise<void> {
  const { deployment_ids: members } = await ctx
    .manager()
    .get<{ deployment_ids: string[] | null }>(address, { query: { _get_data: true } });
  if (members?.includes(one.id)) return;
  await ctx.manager().patch(address, { json: { add: { new_deployments: [one] } } });
}

/** @throws FatalError for anything but a list, or a text of JSON with one */
function parentsOf(value: unknown): string[] {
  const read = typeof value === 'string' ? fromJson(value) : value;
  if (!Array.isArray(read)) throw new FatalError('parent_deployments: expected a list of ids of deployments');
  return read.map(String);
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new FatalError('parent_deployments: the text is no JSON', { cause });
  }
}

/** A name after the blueprint and the number of its deployments. */
async function freeName(ctx: WorkflowScope, blueprint: string): Promise<Json> {
  const { metadata } = await ctx
    .manager()
    .get<{ metadata: { pagination: { total: number } } }>('/deployments', {
      query: { blueprint_id: blueprint, _size: 1, _include: 'id' },
    });
  const count = metadata.pagination.total;
  return count === 0 ? `${blueprint}-group` : `${blueprint}-group-${count}`;
}

/** Begins the installation of all deployments of the group. Their executions go on when this one has ended. */
async function install(ctx: WorkflowScope, group: string): Promise<void> {
  await ctx.step('install', async () => {
    const json = { deployment_group_id: group, workflow_id: 'install' };
    const { id } = await ctx.manager().post<{ id: string }>('/execution-groups', { json });
    ctx.logger.info(`The group of executions ${id} installs ${group}`);
    return id;
  });
}

export const batchDeploy = workflow({
  mapping: `${MAPPING}.batch_deploy`,
  availableWhen: ['none'],
  isResumable: true,
  parameters: z.object(DEPLOY),
  run: async (ctx, parameters) => void (await deploy(ctx, { add_parent_labels: false, ...parameters })),
});

export const batchInstall = workflow({
  mapping: `${MAPPING}.batch_install`,
  availableWhen: ['none'],
  isResumable: true,
  parameters: z.object({ group_id: z.string().describe('Name of the group') }),
  run: async (ctx, { group_id: group }) => await install(ctx, group),
});

export const batchDeployAndInstall = workflow({
  mapping: `${MAPPING}.batch_deploy_and_install`,
  availableWhen: ['none'],
  isResumable: true,
  parameters: SCHEMA,
  run: async (ctx, parameters) => await install(ctx, await deploy(ctx, parameters)),
});
