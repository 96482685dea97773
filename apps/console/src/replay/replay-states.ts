/** Computes the topology with the states of a past moment. Pure. */
import type { TopologyNode, TopologyParts } from '../topology/topology-parts';

interface Instance {
  node_id: string;
  state: string;
}

/** Instances that the execution had not touched yet: their states at that moment are unknown. */
const UNTOUCHED = 'untouched';

/** Returns the nodes with the past states. Nodes that were deleted since then are included, without relationships. */
export function withStates(topology: TopologyParts, instances: readonly Instance[]): TopologyParts {
  const byNode = new Map<string, Record<string, number>>();
  for (const { node_id, state } of instances) {
    const counts = byNode.get(node_id) ?? {};
    counts[state] = (counts[state] ?? 0) + 1;
    byNode.set(node_id, counts);
  }
  const known = topology.nodes.map((node) => nodeOfThen(node, byNode.get(node.id) ?? {}));
  const ids = new Set(topology.nodes.map(({ id }) => id));
  const gone = [...byNode]
    .filter(([id]) => !ids.has(id))
    .map(([id, by_state]) => ({
      id,
      type: '',
      instances: { total: sumOf(by_state), by_state },
      has_drift: false,
    }));
  return { nodes: [...known, ...gone], edges: topology.edges };
}

function nodeOfThen(node: TopologyNode, counts: Record<string, number>): TopologyNode {
  const touched = sumOf(counts);
  // Instances may have been removed since then.
  const total = Math.max(node.instances.total, touched);
  const by_state = touched < total ? { ...counts, [UNTOUCHED]: total - touched } : counts;
  return { ...node, instances: { total, by_state }, has_drift: false };
}

const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, n) => sum + n, 0);

/** A replay plays all events in about this many steps. */
const STEPS = 60;

/** Returns the number of events per step of a replay. */
export const stepOf = (last: number): number => Math.max(1, Math.ceil(last / STEPS));
