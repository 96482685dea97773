import type { Kind } from '../wire-policy';

/**
 * Columns of an older storage format, always null. Strict clients of the original read every declared field, so the wire of the
 * original shows them. They are not part of the specification.
 */
const RETIRED: Record<Kind, readonly string[]> = {
  deployment: [
    'inputs',
    'groups',
    'policy_triggers',
    'policy_types',
    'outputs',
    'capabilities',
    'scaling_groups',
    'workflows',
  ],
  deploymentUpdate: [
    'deployment_plan',
    'deployment_update_deployment',
    'deployment_update_nodes',
    'deployment_update_node_instances',
    'modified_entity_ids',
    'central_plugins_to_install',
    'central_plugins_to_uninstall',
    'old_inputs',
    'new_inputs',
  ],
  modification: ['context', 'modified_nodes', 'node_instances'],
  node: ['plugins', 'plugins_to_install', 'properties', 'relationships', 'operations', 'type_hierarchy'],
  nodeInstance: ['relationships', 'runtime_properties', 'scaling_groups'],
  pluginsUpdate: ['deployments_to_update'],
};

/** Returns `item` with the retired columns of the fields that it has. */
export function withRetired(kind: Kind, item: Record<string, unknown>): Record<string, unknown> {
  const retired = RETIRED[kind].filter((name) => name in item).map((name) => [`${name}_p`, null]);
  return { ...item, ...Object.fromEntries(retired) };
}
