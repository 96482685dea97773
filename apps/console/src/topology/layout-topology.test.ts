import { edgePath, layoutTopology } from './layout-topology';
import type { TopologyParts } from './topology-parts';

const node = (id: string, type = 'a.nodes.Root', state = 'started') => ({
  id,
  type,
  instances: { total: 1, by_state: { [state]: 1 } },
  has_drift: false,
});
const edge = (source: string, target: string) => ({ source, target, kind: 'depends_on' as const });
const draw = (nodes: TopologyParts['nodes'], edges: TopologyParts['edges'], most?: number) =>
  layoutTopology({ nodes, edges }, most);
const columnsOf = (drawing: ReturnType<typeof draw>) => {
  const xs = [...new Set(drawing.nodes.map(({ x }) => x))].sort((a, b) => a - b);
  return Object.fromEntries(drawing.nodes.map(({ id, x }) => [id, xs.indexOf(x)]));
};

test('a node stands right of all that it needs', () => {
  const drawing = draw(
    [node('web'), node('db'), node('host')],
    [edge('web', 'db'), edge('db', 'host'), edge('web', 'host')],
  );
  expect(columnsOf(drawing)).toEqual({ host: 0, db: 1, web: 2 });
});

test('no two nodes share a place', () => {
  const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
  const drawing = draw(
    names.map((name) => node(name)),
    names.slice(1).map((name, i) => edge(name, names[Math.floor(i / 3)]!)),
  );
  expect(new Set(drawing.nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(40);
  expect(drawing.nodes.every(({ x, y }) => x < drawing.width && y < drawing.height)).toBe(true);
});

test('cycles and long chains end', () => {
  expect(columnsOf(draw([node('a'), node('b')], [edge('a', 'b'), edge('b', 'a')]))).toMatchObject({});
  const names = Array.from({ length: 5000 }, (_, i) => `n${i}`);
  const chain = names.slice(1).map((name, i) => edge(name, names[i]!));
  expect(
    Math.max(
      ...Object.values(
        columnsOf(
          draw(
            names.map((name) => node(name)),
            chain,
            9999,
          ),
        ),
      ),
    ),
  ).toBe(4999);
});

test('above the limit nodes of a type are one', () => {
  const nodes = [node('a1', 't.A'), node('a2', 't.A', 'stopped'), node('b', 't.B')];
  const drawing = draw(nodes, [edge('a1', 'b'), edge('a2', 'b'), edge('a1', 'a2')], 2);
  expect(drawing.isCollapsed).toBe(true);
  expect(drawing.nodes.map(({ id, subtitle, byState }) => [id, subtitle, byState])).toEqual([
    ['type:t.A', '× 2', { started: 1, stopped: 1 }],
    ['type:t.B', '× 1', { started: 1 }],
  ]);
  expect(drawing.edges).toEqual([{ source: 'type:t.A', target: 'type:t.B', kind: 'depends_on', count: 2 }]);
});

test('an edge to a node that is not there is not drawn, and nothing at all can be drawn', () => {
  expect(draw([node('a')], [edge('a', 'gone')]).edges).toEqual([]);
  expect(draw([], [])).toMatchObject({ nodes: [], edges: [] });
});

test('a line begins at the left of the one and ends at the right of the other', () =>
  expect(edgePath({ x: 300, y: 0 }, { x: 0, y: 0 })).toBe('M300 29C248 29 248 29 196 29'));
