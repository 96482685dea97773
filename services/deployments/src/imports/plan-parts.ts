import type { Item, Label } from '@baton/cloudify-archive';
import { isJsonObject, type JsonObject } from '@baton/kernel';
import { modelDocument } from '../domain/deployment-plan';
import type { PlanWorkflow } from '../domain/workflow-entries';
import type { NodeDefinition } from '../store/nodes.sql';

/**
 * Returns the workflows of a deployment as a plan has them. Archives of the new layout have the list that REST shows; those of the
 * legacy layout have the plan's object.
 */
function planWorkflows(workflows: unknown): Record<string, PlanWorkflow> {
  const entries: [string, unknown][] = Array.isArray(workflows)
    ? workflows.map((one: unknown) => [isJsonObject(one) ? String(one.name ?? '') : '', one])
    : isJsonObject(workflows)
      ? Object.entries(workflows)
      : [];
  return Object.fromEntries(
    entries
      .filter(([name, one]) => name !== '' && isJsonObject(one))
      .map(([name, one]) => [name, planned(one as JsonObject)]),
  );
}

/** What REST adds to a workflow is left out: its name, and whether it is available now. */
const planned = ({ name: _name, is_available: _isAvailable, ...workflow }: JsonObject): PlanWorkflow =>
  workflow as PlanWorkflow;

/** The shared part of the model of a deployment. */
export const modelOf = (item: Item<'deployments'>) =>
  modelDocument({
    workflows: planWorkflows(item.workflows) as unknown as JsonObject,
    groups: item.groups as JsonObject,
    policy_types: item.policy_types as JsonObject,
    policy_triggers: item.policy_triggers as JsonObject,
  });

/** The shared part of a node. */
export function definitionOf(item: Item<'nodes'>): NodeDefinition {
  return {
    type_hierarchy: item.type_hierarchy,
    operations: item.operations as Record<string, unknown>,
    plugins: Array.isArray(item.plugins) ? item.plugins : [],
    plugins_to_install: Array.isArray(item.plugins_to_install) ? item.plugins_to_install : null,
    relationships: item.relationships.map((one) => {
      if (!isJsonObject(one)) return one;
      const { source_interfaces: _source, target_interfaces: _target, ...rest } = one;
      return rest;
    }),
  };
}

/** Labels that are computed here anew. */
const COMPUTED = new Set(['csys-consumer-id']);
export const ownLabels = (labels: readonly Label[]): Label[] =>
  labels.filter(({ key, value }) => key !== '' && value !== '' && !COMPUTED.has(key));
