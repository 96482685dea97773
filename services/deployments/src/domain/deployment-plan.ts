import type { JsonObject } from '@baton/kernel';
import type { NodeDefinition } from '../store/nodes.sql';

/** Converts a prepared plan (reference/dsl.md ch. 6 and 7) into rows of the model. Pure. */

export interface PlanNode extends JsonObject {
  id: string;
  type: string;
}

export interface PlanInstance {
  id: string;
  node_id: string;
  host_id?: string;
  relationships: { type: string; target_name: string; target_id: string }[];
  scaling_groups?: { name: string; id: string }[];
}

export interface InterDeploymentFunction {
  function_identifier: string;
  /** The literal id or null, and the first argument of the function. */
  target_deployment: [string | null, unknown];
  context: JsonObject;
}

export interface NodeParts {
  id: string;
  position: number;
  type: string;
  host_id: string | null;
  properties: JsonObject;
  number_of_instances: number;
  planned_number_of_instances: number;
  deploy_number_of_instances: number;
  min_number_of_instances: number;
  max_number_of_instances: number;
  definition: NodeDefinition;
}

/** The part of the model that deployments of equal blueprints share. */
export interface ModelDocument {
  workflows: unknown;
  groups: unknown;
  policy_types: unknown;
  policy_triggers: unknown;
}

const integer = (value: unknown, absent: number): number =>
  typeof value === 'number' && Number.isInteger(value) ? value : absent;

/** Returns the columns and the shared part of a node of the plan. */
export function nodeParts(node: PlanNode, position: number): NodeParts {
  const scalable = ((node.capabilities as JsonObject | undefined)?.scalable as JsonObject | undefined)
    ?.properties as JsonObject | undefined;
  const deploy = integer(scalable?.default_instances, 1);
  const current = integer(scalable?.current_instances, deploy);
  return {
    id: node.id,
    position,
    type: node.type,
    host_id: (node.host_id as string | undefined) ?? null,
    properties: (node.properties as JsonObject | undefined) ?? {},
    number_of_instances: current,
    planned_number_of_instances: integer(scalable?.planned_instances, current),
    deploy_number_of_instances: deploy,
    min_number_of_instances: integer(scalable?.min_instances, 0),
    max_number_of_instances: integer(scalable?.max_instances, -1),
    definition: {
      type_hierarchy: (node.type_hierarchy as string[] | undefined) ?? [node.type],
      operations: (node.operations as JsonObject | undefined) ?? {},
      plugins: (node.plugins as unknown[] | undefined) ?? [],
      plugins_to_install: (node.plugins_to_install as unknown[] | undefined) ?? null,
      relationships: relationshipParts(node.relationships),
      ...(node.former_relationships !== undefined && {
        former_relationships: relationshipParts(node.former_relationships),
      }),
    },
  };
}

/** Returns relationships without their normalised interfaces, which only the parser needs. */
function relationshipParts(relationships: unknown): JsonObject[] {
  return ((relationships as JsonObject[] | undefined) ?? []).map(
    ({ source_interfaces: _source, target_interfaces: _target, ...rest }) => rest,
  );
}

export function modelDocument(plan: JsonObject): ModelDocument {
  return {
    workflows: plan.workflows ?? {},
    groups: plan.groups ?? {},
    policy_types: plan.policy_types ?? {},
    policy_triggers: plan.policy_triggers ?? {},
  };
}

/** Returns every type in the hierarchy of some node, sorted. */
export function nodeTypes(nodes: readonly NodeParts[]): string[] {
  return [...new Set(nodes.flatMap((node) => node.definition.type_hierarchy))].sort();
}

/** Returns instances with their 1-based index per node; `taken`: the number of indexes that each node has used already. */
export function instanceRows(
  instances: readonly PlanInstance[],
  taken: ReadonlyMap<string, number> = new Map(),
) {
  const counts = new Map(taken);
  return instances.map((instance) => {
    const index = (counts.get(instance.node_id) ?? 0) + 1;
    counts.set(instance.node_id, index);
    return {
      id: instance.id,
      node_id: instance.node_id,
      index,
      host_id: instance.host_id ?? null,
      relationships: instance.relationships,
      scaling_groups: instance.scaling_groups ?? [],
    };
  });
}

/** This plugin runs only in agents and is installed with them; no manager has it. */
const AGENTS_ONLY = 'cloudify-diamond-plugin';

/** Returns the plugins of the plan that must be on the manager, each package once. */
export function requiredPlugins(
  plan: JsonObject,
): { packageName: string; packageVersion: string; distribution: string; name: string }[] {
  const lists = [
    plan.deployment_plugins_to_install,
    plan.workflow_plugins_to_install,
    plan.host_agent_plugins_to_install,
  ];
  const found = new Map<
    string,
    { packageName: string; packageVersion: string; distribution: string; name: string }
  >();
  for (const plugin of lists.flatMap((list) => (Array.isArray(list) ? (list as JsonObject[]) : []))) {
    // A plugin with a source is installed from there; one without a package cannot be looked up.
    if (plugin.install === false || plugin.source || typeof plugin.package_name !== 'string') continue;
    if (plugin.package_name === AGENTS_ONLY) continue;
    const one = {
      packageName: plugin.package_name,
      packageVersion: typeof plugin.package_version === 'string' ? plugin.package_version : '',
      distribution: typeof plugin.distribution === 'string' ? plugin.distribution : '',
      name: String(plugin.name ?? plugin.package_name),
    };
    found.set(`${one.packageName} ${one.packageVersion} ${one.distribution}`, one);
  }
  return [...found.values()];
}
