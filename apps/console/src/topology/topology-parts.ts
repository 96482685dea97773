/** Nodes and relationships in the shape that drawings need, from any source. The API's topology of a deployment has this shape. */

export type EdgeKind = 'contained_in' | 'connected_to' | 'depends_on';

export interface TopologyNode {
  id: string;
  type: string;
  instances: { total: number; by_state: Readonly<Record<string, number>> };
  has_drift: boolean;
}

export interface TopologyEdge {
  source: string;
  target: string;
  kind: EdgeKind;
}

export interface TopologyParts {
  nodes: readonly TopologyNode[];
  edges: readonly TopologyEdge[];
}

/** Ways to show a topology; the first is the default. */
export const TOPOLOGY_LOOKS = ['graph', 'table'] as const;
export type TopologyLook = (typeof TOPOLOGY_LOOKS)[number];
