/** The topology of a blueprint's plan, before anything is deployed. The plan comes from the API, or from packages/dsl. */
import type { EdgeKind, TopologyParts } from './topology-parts';

/**
 * The used fields of a node in a plan. Where a number is expected, the plan may contain a function, whose value is unknown here.
 */
export interface PlannedNode {
  name?: string;
  id?: string;
  type: string;
  capabilities?: { scalable?: { properties?: { default_instances?: unknown } } };
  relationships?: readonly { type: string; target_id: string; type_hierarchy?: readonly string[] }[];
}

/** State of planned instances; the drawing shows them as not existing. */
const PLANNED = 'uninitialized';

/** Kinds of edges, stronger before weaker; every other relationship is a dependency. */
const KINDS: readonly (readonly [type: string, kind: EdgeKind])[] = [
  ['cloudify.relationships.contained_in', 'contained_in'],
  ['cloudify.relationships.connected_to', 'connected_to'],
];

export function planTopology(nodes: readonly PlannedNode[]): TopologyParts {
  return {
    nodes: nodes.map((node) => {
      const total = instancesOf(node);
      return {
        id: nameOf(node),
        type: node.type,
        instances: { total, by_state: { [PLANNED]: total } },
        has_drift: false,
      };
    }),
    edges: nodes.flatMap((node) =>
      (node.relationships ?? []).map(({ type, target_id: target, type_hierarchy: types = [] }) => ({
        source: nameOf(node),
        target,
        kind: KINDS.find(([name]) => type === name || types.includes(name))?.[1] ?? 'depends_on',
      })),
    ),
  };
}

const nameOf = ({ id, name }: PlannedNode): string => id ?? name ?? '';

function instancesOf({ capabilities }: PlannedNode): number {
  const count = capabilities?.scalable?.properties?.default_instances;
  return typeof count === 'number' && count >= 0 ? count : 1;
}
