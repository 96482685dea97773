import { emptyResolver, parseBlueprint, withBuiltinTypes } from '../index';
import { V } from '../testing/parsing';
import { completeBlueprint } from './complete';
import type { BlueprintOutline } from './outline';

const TEXT = `${V(4)}
imports:
  - cloudify/types/types.yaml
data_types:
  my.Port:
    properties:
      number: { type: integer }
      name: {}
inputs:
  size:
    description: How large.
    default: 3
node_types:
  my.Web:
    derived_from: cloudify.nodes.Root
    properties:
      port: { type: my.Port, required: false }
      secure: { type: boolean, default: false }
node_templates:
  host:
    type: cloudify.nodes.Compute
  web:
    type: my.Web
    properties:
      port: 1
    relationships:
      - type: cloudify.relationships.contained_in
        target: host
`;
let outline: BlueprintOutline;
beforeAll(async () => {
  const parsed = await parseBlueprint({
    text: TEXT,
    resolver: withBuiltinTypes(emptyResolver),
    options: { hasOutline: true },
  });
  outline = parsed.outline!;
});

/** Returns the labels at the bar in `typed`, which is appended to the text. */
const at = (typed: string, before = TEXT): string[] => {
  const offset = before.length + typed.indexOf('|');
  return (
    completeBlueprint(before + typed.replace('|', ''), offset, outline)?.options.map(({ label }) => label) ??
    []
  );
};

test('an outline is there of a blueprint with errors, with what types inherit', async () => {
  const { plan, outline: found } = await parseBlueprint({
    text: `${TEXT}  broken:\n    type: no.such.Type\n`,
    resolver: withBuiltinTypes(emptyResolver),
    options: { hasOutline: true },
  });
  expect(plan).toBeNull();
  expect(found!.nodes.map(({ name }) => name)).toEqual(['host', 'web', 'broken']);
  expect([...found!.nodeTypes.get('my.Web')!.properties.keys()]).toEqual([
    'port',
    'secure',
    'use_external_resource',
    'resource_id',
  ]);
  expect(found!.nodes[1]!.relationships[0]!.hierarchy).toEqual([
    'cloudify.relationships.depends_on',
    'cloudify.relationships.contained_in',
  ]);
});

test('nobody pays for an outline that is not asked for', async () =>
  expect((await parseBlueprint({ text: V(4) })).outline).toBeNull());

test('keys of sections, without those that are there', () => {
  expect(at('|')).toEqual(expect.arrayContaining(['outputs', 'workflows', 'groups']));
  expect(at('out|')).toContain('outputs');
  expect(at('|')).not.toContain('inputs');
  expect(at('  db:\n    ty|')).toEqual(expect.arrayContaining(['type', 'properties', 'relationships']));
  expect(at('  db:\n    type: my.Web\n    |')).not.toContain('type');
});

test('types and their properties', () => {
  expect(at('  db:\n    type: my|')).toEqual(expect.arrayContaining(['my.Web', 'cloudify.nodes.Compute']));
  expect(at('  db:\n    type: my.Web\n    properties:\n      |')).toEqual(
    expect.arrayContaining(['port', 'secure', 'resource_id']),
  );
  expect(at('  db:\n    type: my.Web\n    properties:\n      port:\n        |')).toEqual(['number', 'name']);
  expect(at('  db:\n    type: my.Web\n    properties:\n      secure: |')).toEqual(
    expect.arrayContaining(['true', 'false', 'get_input']),
  );
});

test('relationships: their keys, types and targets', () => {
  expect(at('      - |')).toEqual(expect.arrayContaining(['type', 'target']));
  expect(at('      - type: |')).toContain('cloudify.relationships.connected_to');
  expect(at('      - type: cloudify.relationships.connected_to\n        target: |')).toEqual(['host', 'web']);
  expect(at('      - type: cloudify.relationships.connected_to\n        properties:\n          |')).toContain(
    'connection_type',
  );
});

test('a list may stand as far left as its key', () =>
  expect(at('  db:\n    relationships:\n    - type: x\n      target: |')).toEqual(['host', 'web']));

test.each([
  ['outputs:\n  a:\n    value: { get_input: |', ['size']],
  ['outputs:\n  a:\n    value:\n      get_input: s|', ['size']],
  ['outputs:\n  a:\n    value: { get_property: [web, |', ['port', 'secure']],
  ['outputs:\n  a:\n    value:\n      get_property:\n        - web\n        - |', ['port', 'secure']],
  ['outputs:\n  a:\n    value: { concat: ["x, y", { get_attribute: [|', ['host', 'web', 'SELF']],
  ['outputs:\n  a:\n    value:\n      get_attribute:\n        - |', ['host', 'web']],
  ['outputs:\n  a:\n    value: |', ['get_input', 'get_attribute', 'concat']],
  ['outputs:\n  a:\n    value:\n      get_|', ['get_input', 'get_secret']],
])('in %j there are %j', (typed, labels) => expect(at(typed)).toEqual(expect.arrayContaining(labels)));

test('SELF is the node that the cursor is in', () =>
  expect(at('  db:\n    type: my.Web\n    properties:\n      secure: { get_property: [SELF, |')).toContain(
    'port',
  ));

test('nothing in comments, and what is typed already is replaced', () => {
  expect(at('# ty|')).toEqual([]);
  const text = `${TEXT}  db:\n    type: my.W`;
  expect(completeBlueprint(text, text.length, outline)!.from).toBe(text.length - 'my.W'.length);
});

test('hostile texts end', () => {
  const deep = Array.from({ length: 3000 }, (_, i) => `${' '.repeat(i)}a:\n`).join('');
  expect(completeBlueprint(deep, deep.length, outline)).toBeDefined();
  const flow = `a: ${'{ b: ['.repeat(20_000)}`;
  expect(completeBlueprint(flow, flow.length, outline)).toBeDefined();
  const spaces = `${' '.repeat(100_000)}x`;
  expect(completeBlueprint(spaces, spaces.length, null)).toBeDefined();
});
