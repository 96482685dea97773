import { planTopology } from './plan-topology';

test('nodes have the instances that the plan wants, edges the kind of what they derive from', () =>
  expect(
    planTopology([
      { id: 'host', type: 'cloudify.nodes.Compute' },
      {
        name: 'web',
        type: 'my.Web',
        capabilities: { scalable: { properties: { default_instances: 3 } } },
        relationships: [
          {
            type: 'my.inside',
            target_id: 'host',
            type_hierarchy: ['cloudify.relationships.depends_on', 'cloudify.relationships.contained_in'],
          },
          { type: 'cloudify.relationships.connected_to', target_id: 'db' },
          { type: 'my.own', target_id: 'cache' },
        ],
      },
    ]),
  ).toEqual({
    nodes: [
      {
        id: 'host',
        type: 'cloudify.nodes.Compute',
        instances: { total: 1, by_state: { uninitialized: 1 } },
        has_drift: false,
      },
      {
        id: 'web',
        type: 'my.Web',
        instances: { total: 3, by_state: { uninitialized: 3 } },
        has_drift: false,
      },
    ],
    edges: [
      { source: 'web', target: 'host', kind: 'contained_in' },
      { source: 'web', target: 'db', kind: 'connected_to' },
      { source: 'web', target: 'cache', kind: 'depends_on' },
    ],
  }));

test('a number that a function works out is one for now', () =>
  expect(
    planTopology([
      {
        id: 'a',
        type: 't',
        capabilities: { scalable: { properties: { default_instances: { get_input: 'n' } } } },
      },
    ]).nodes[0]!.instances.total,
  ).toBe(1));
