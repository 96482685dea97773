/** Layout of a topology: nodes in layers by dependency, containers left of their content. Pure arithmetic, no DOM. */
import type { EdgeKind, TopologyNode, TopologyParts } from './topology-parts';

export interface DrawnNode {
  /** Id of the node; of a collapsed group `type:` followed by the type. */
  id: string;
  title: string;
  subtitle: string;
  total: number;
  byState: Readonly<Record<string, number>>;
  hasDrift: boolean;
  x: number;
  y: number;
}

export interface DrawnEdge {
  source: string;
  target: string;
  kind: EdgeKind;
  /** Number of relationships that the edge represents. */
  count: number;
}

export interface Drawing {
  nodes: DrawnNode[];
  edges: DrawnEdge[];
  width: number;
  height: number;
  isCollapsed: boolean;
}

export const NODE_WIDTH = 196;
export const NODE_HEIGHT = 58;
const GAP_X = 84;
const GAP_Y = 18;
const MARGIN = 12;
/** Above this number, nodes are collapsed into one per type. */
export const MOST_DRAWN = 300;

/** Returns the drawing of a topology. A cycle is cut where a node is reached a second time. */
export function layoutTopology(topology: TopologyParts, most = MOST_DRAWN): Drawing {
  const isCollapsed = topology.nodes.length > most;
  const { nodes, edges } = isCollapsed ? collapse(topology) : plain(topology);
  const layers = layersOf(nodes, edges);
  const places = placesOf(layers, edges);
  const deepest = Math.max(0, ...layers.map(({ length }) => length));
  return {
    nodes: nodes.map((node) => ({ ...node, ...places.get(node.id)! })),
    edges,
    width: Math.max(1, layers.length) * (NODE_WIDTH + GAP_X) - GAP_X + 2 * MARGIN,
    height: Math.max(1, deepest) * (NODE_HEIGHT + GAP_Y) - GAP_Y + 2 * MARGIN,
    isCollapsed,
  };
}

type Unplaced = Omit<DrawnNode, 'x' | 'y'>;

const shortType = (type: string): string => type.split('.').slice(-2).join('.');

function plain({ nodes, edges }: TopologyParts): {
  nodes: Unplaced[];
  edges: DrawnEdge[];
} {
  const known = new Set(nodes.map(({ id }) => id));
  return {
    nodes: nodes.map(({ id, type, instances, has_drift }) => ({
      id,
      title: id,
      subtitle: shortType(type),
      total: instances.total,
      byState: instances.by_state,
      hasDrift: has_drift,
    })),
    edges: joined(edges.filter(({ source, target }) => known.has(source) && known.has(target))),
  };
}

function collapse({ nodes, edges }: TopologyParts): {
  nodes: Unplaced[];
  edges: DrawnEdge[];
} {
  const groups = new Map<string, TopologyNode[]>();
  for (const node of nodes) groups.set(node.type, [...(groups.get(node.type) ?? []), node]);
  const groupOf = new Map(nodes.map(({ id, type }) => [id, `type:${type}`]));
  return {
    nodes: [...groups].map(([type, members]) => ({
      id: `type:${type}`,
      title: shortType(type),
      subtitle: `× ${members.length}`,
      total: members.reduce((sum, { instances }) => sum + instances.total, 0),
      byState: sumOf(members.map(({ instances }) => instances.by_state)),
      hasDrift: members.some(({ has_drift }) => has_drift),
    })),
    edges: joined(
      edges.flatMap(({ source, target, kind }) => {
        const [from, to] = [groupOf.get(source), groupOf.get(target)];
        return from && to && from !== to ? [{ source: from, target: to, kind }] : [];
      }),
    ),
  };
}

function sumOf(counts: Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const one of counts) for (const [state, n] of Object.entries(one)) sum[state] = (sum[state] ?? 0) + n;
  return sum;
}

/** Merges all relationships of one kind between two nodes into one edge. */
function joined(edges: { source: string; target: string; kind: EdgeKind }[]): DrawnEdge[] {
  const drawn = new Map<string, DrawnEdge>();
  for (const { source, target, kind } of edges) {
    const key = `${source}\0${target}\0${kind}`;
    const before = drawn.get(key);
    if (before) before.count++;
    else drawn.set(key, { source, target, kind, count: 1 });
  }
  return [...drawn.values()];
}

/** Assigns layers: a node stands right of all nodes it depends on. */
function layersOf(nodes: Unplaced[], edges: DrawnEdge[]): string[][] {
  const targets = new Map<string, string[]>();
  for (const { source, target } of edges) targets.set(source, [...(targets.get(source) ?? []), target]);
  const depths = new Map<string, number>();
  for (const { id } of nodes) deepen(id, targets, depths);
  const layers: string[][] = [];
  for (const { id } of nodes) (layers[depths.get(id)!] ??= []).push(id);
  return layers.map((layer) => layer ?? []);
}

/** Depth-first search without recursion: chains may be longer than the call stack. */
function deepen(start: string, targets: ReadonlyMap<string, string[]>, depths: Map<string, number>): void {
  const open = new Set<string>();
  const stack = [start];
  while (stack.length > 0) {
    const id = stack.at(-1)!;
    const waiting = open.has(id)
      ? []
      : (targets.get(id) ?? []).filter((target) => !depths.has(target) && !open.has(target));
    open.add(id);
    if (depths.has(id) || waiting.length === 0) {
      stack.pop();
      if (depths.has(id)) continue;
      depths.set(id, Math.max(0, ...(targets.get(id) ?? []).map((target) => (depths.get(target) ?? -1) + 1)));
    } else stack.push(...waiting);
  }
}

/** Orders each layer so that a node stands near the middle of its dependencies, which keeps edges short. */
function placesOf(layers: string[][], edges: DrawnEdge[]): Map<string, { x: number; y: number }> {
  const needs = new Map<string, string[]>();
  for (const { source, target } of edges) needs.set(source, [...(needs.get(source) ?? []), target]);
  const places = new Map<string, { x: number; y: number }>();
  layers.forEach((layer, column) => {
    const wish = (id: string): number => {
      const ys = (needs.get(id) ?? []).flatMap((target) => places.get(target)?.y ?? []);
      return ys.length === 0 ? Number.POSITIVE_INFINITY : ys.reduce((sum, y) => sum + y, 0) / ys.length;
    };
    const sorted = column === 0 ? layer : [...layer].sort((a, b) => wish(a) - wish(b) || 0);
    sorted.forEach((id, row) =>
      places.set(id, {
        x: MARGIN + column * (NODE_WIDTH + GAP_X),
        y: MARGIN + row * (NODE_HEIGHT + GAP_Y),
      }),
    );
  });
  return places;
}

/** Returns the path of an edge: from the left side of a node to the right side of its dependency. */
export function edgePath(from: { x: number; y: number }, to: { x: number; y: number }): string {
  const [x1, y1] = [from.x, from.y + NODE_HEIGHT / 2];
  const [x2, y2] = [to.x + NODE_WIDTH, to.y + NODE_HEIGHT / 2];
  const bend = Math.max(28, Math.abs(x1 - x2) / 2);
  return `M${x1} ${y1}C${x1 - bend} ${y1} ${x2 + bend} ${y2} ${x2} ${y2}`;
}
