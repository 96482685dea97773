import type { OperationOptions, WorkflowContext, WorkflowFunction } from '@baton/plugin-sdk';
import * as z from 'zod';
import { PLAYBOOK_PROPERTIES } from './settings/schema';

type Kwargs = NonNullable<OperationOptions['kwargs']>;

const PLAYBOOKS = ['cloudify.nodes.ansible.Playbook', 'cloudify.nodes.ansible.Executor'];
const INSTALLATIONS = ['cloudify.nodes.ansible.Ansible'];

const names = z.array(z.string()).default([]);
const installed = z.array(z.string()).default([]);

/** The properties of playbooks, without their defaults: those would go before the values of nodes. */
const wanted = Object.fromEntries(
  Object.keys(PLAYBOOK_PROPERTIES.shape).map((name) => [name, z.any().optional()]),
);
export const RELOAD_PARAMETERS = z.object({ ...wanted, node_instance_ids: names, node_ids: names });
export const VENV_PARAMETERS = z.object({
  extra_packages: installed,
  galaxy_collections: installed,
  roles: installed,
});

/** Runs playbooks again, one after another, with the parameters in place of their properties. */
export const reloadPlaybook: WorkflowFunction = async (ctx, parameters) => {
  const kwargs = Object.fromEntries(
    Object.entries(parameters).filter(([name, value]) => Object.hasOwn(wanted, name) && says(value)),
  );
  const chosen = { instances: namesOf(parameters.node_instance_ids), nodes: namesOf(parameters.node_ids) };
  await inOrder(ctx, PLAYBOOKS, 'ansible.reload', kwargs, chosen);
};

/** Installs further packages, collections and roles beside Ansible. */
export const updatePlaybookVenv: WorkflowFunction = async (ctx, parameters) => {
  const { extra_packages = [], galaxy_collections = [], roles = [] } = parameters;
  const kwargs = { extra_packages, galaxy_collections, roles };
  await inOrder(ctx, INSTALLATIONS, 'ansible.update_venv', kwargs, { instances: [], nodes: [] });
};

/** Runs an operation on the instances of some types: all, or those that are named. */
async function inOrder(
  ctx: WorkflowContext,
  types: readonly string[],
  operation: string,
  kwargs: Kwargs,
  wanted: { instances: readonly string[]; nodes: readonly string[] },
): Promise<void> {
  const { nodes, instances } = await ctx.model();
  const ofTypes = new Set(
    nodes.filter((node) => node.type_hierarchy.some((type) => types.includes(type))).map(({ id }) => id),
  );
  const chosen = instances.filter(
    ({ id, node_id: node }) =>
      ofTypes.has(node) &&
      (wanted.nodes.length === 0 || wanted.nodes.includes(node)) &&
      (wanted.instances.length === 0 || wanted.instances.includes(id)),
  );
  for (const { id } of chosen) {
    const options = { key: `${operation} ${id}`, kwargs, mayOverride: true };
    await ctx.executeOperation(id, operation, options);
  }
}

const namesOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** An empty parameter leaves the value of the node. */
function says(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
