import { type Change, changedInputs, diffOf, leavesOf } from './diff';

const change = (part: Partial<Change>): Change => ({
  action: 'modify',
  entity_type: 'property',
  node_id: 'web',
  path: ['properties', 'port'],
  before: 80,
  after: 8080,
  effect: 'update',
  ...part,
});

test('a resource has one verdict, and counts come by it', () => {
  const { resources, aside, counts } = diffOf([
    change({}),
    change({
      node_id: 'new',
      action: 'add',
      entity_type: 'node',
      path: [],
      before: null,
      after: {},
      effect: 'install',
    }),
    change({
      node_id: 'old',
      action: 'remove',
      entity_type: 'node',
      path: [],
      after: null,
      effect: 'uninstall',
    }),
    change({ node_id: 'db', effect: 'reinstall' }),
    change({ node_id: 'db', effect: 'update', path: ['properties', 'name'] }),
    change({ node_id: 'quiet', entity_type: 'plugin', effect: 'none' }),
    change({ node_id: null, entity_type: 'output', path: ['outputs', 'x'], effect: 'none' }),
    change({ node_id: 'never', entity_type: 'node', path: [], effect: 'refused' }),
  ]);
  expect(resources.map(({ node, verdict }) => [node, verdict])).toEqual([
    ['never', 'refused'],
    ['old', 'remove'],
    ['db', 'replace'],
    ['web', 'change'],
    ['new', 'add'],
  ]);
  expect(aside.map(({ node }) => node)).toEqual(['quiet', null]);
  expect(counts).toEqual({ refused: 1, remove: 1, replace: 1, change: 1, add: 1, none: 2 });
});

test('the smallest parts that differ are shown', () => {
  const before = { port: 80, tls: { on: false, key: 'a' }, same: [1] };
  const after = { port: 8080, tls: { on: true, key: 'a' }, same: [1], more: null };
  expect(leavesOf('properties.web', before, after)).toEqual([
    { path: 'properties.web.port', before: 80, after: 8080 },
    { path: 'properties.web.tls.on', before: false, after: true },
  ]);
  expect(leavesOf('', { a: [1] }, { a: [1, 2] })).toEqual([{ path: 'a', before: [1], after: [1, 2] }]);
});

test('an operation with two names is shown by its full one', () => {
  const operation = (name: string, after = 'b') =>
    change({
      entity_type: 'operation',
      path: ['operations', name],
      before: { run: 'a' },
      after: { run: after },
    });
  const full = 'cloudify.interfaces.lifecycle.create';
  expect(diffOf([operation('create'), operation(full)]).resources[0]!.lines).toEqual([
    { path: `operations.${full}.run`, before: 'a', after: 'b', effect: 'update' },
  ]);
  expect(diffOf([operation('create', 'c'), operation(full)]).resources[0]!.lines).toHaveLength(2);
});

test('a node that comes has its type and properties in lines of their own', () => {
  const after = { type: 'T', properties: { port: 1 } };
  const [added] = diffOf([
    change({ action: 'add', entity_type: 'node', path: [], before: null, after, effect: 'install' }),
  ]).resources;
  expect(added!.lines).toEqual([
    { path: 'type', before: undefined, after: 'T', effect: 'install' },
    { path: 'properties.port', before: undefined, after: 1, effect: 'install' },
  ]);
});

test('a relationship is one text', () => {
  const link = { type: 'cloudify.relationships.connected_to', target_id: 'db' };
  const path = ['relationships', '0'];
  const [web] = diffOf([
    change({
      action: 'remove',
      entity_type: 'relationship',
      path,
      before: link,
      after: null,
      effect: 'unlink',
    }),
  ]).resources;
  expect(web!.lines).toEqual([
    { path: 'relationships.0', before: 'connected_to db', after: undefined, effect: 'unlink' },
  ]);
});

test('inputs that stay are not said again', () =>
  expect(changedInputs({ a: 1, b: { x: 1 } }, { a: 1, b: { x: 2 }, c: 3 })).toEqual({ b: { x: 2 }, c: 3 }));
