import type { NodeDefinition } from '../store/nodes.sql';

/** The built-in relationships from which every other one derives; the stronger one first. */
const KINDS = {
  'cloudify.relationships.contained_in': 'contained_in',
  'cloudify.relationships.connected_to': 'connected_to',
} as const;

export type EdgeKind = (typeof KINDS)[keyof typeof KINDS] | 'depends_on';

export interface TopologyEdge {
  source: string;
  target: string;
  type: string;
  kind: EdgeKind;
}

/** A relationship as the plan stores it. */
interface PlanRelationship {
  type: string;
  type_hierarchy?: string[];
  target_id: string;
}

/** Returns the relationships of a node, in the order of the plan. */
export function edgesOf(
  source: string,
  { relationships }: Pick<NodeDefinition, 'relationships'>,
): TopologyEdge[] {
  return (relationships as PlanRelationship[]).map(
    ({ type, type_hierarchy: types = [], target_id: target }) => {
      const known = Object.entries(KINDS).find(([name]) => type === name || types.includes(name));
      return { source, target, type, kind: known ? known[1] : 'depends_on' };
    },
  );
}
