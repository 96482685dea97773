import type { Wire } from '@baton/http';

/**
 * Fields that only the original's answers have: columns of an older storage format, always null. Strict clients of it
 * read every declared field, so BATON_WIRE=cloudify shows them; they are no part of the spec.
 */
const RETIRED: Record<string, readonly string[]> = {
  deployment: ['inputs', 'groups', 'policy_triggers', 'policy_types', 'outputs', 'capabilities', 'scaling_groups', 'workflows'],
  node: ['plugins', 'plugins_to_install', 'properties', 'relationships', 'operations', 'type_hierarchy'],
  nodeInstance: ['relationships', 'runtime_properties', 'scaling_groups'],
};

/** `item` with the retired fields of the attributes it carries. */
export function onWire(wire: Wire, kind: string, item: Record<string, unknown>): Record<string, unknown> {
  if (wire !== 'cloudify') return item;
  const retired = (RETIRED[kind] ?? []).filter((name) => name in item).map((name) => [`${name}_p`, null]);
  return { ...item, ...Object.fromEntries(retired) };
}
