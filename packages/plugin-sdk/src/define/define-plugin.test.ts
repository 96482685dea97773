import * as z from 'zod';
import { definePlugin, isResumable, nodeType, type PluginDefinition, sensitive } from '../index';
import { describePlugin } from '../manifest';
import { emptyRecords, samplePlugin } from '../testing/sample-plugin';
import { testNode } from '../testing/test-node';

const withType = (spec: Parameters<typeof nodeType>[0], more: Partial<PluginDefinition> = {}) =>
  definePlugin({ name: 'dns', version: '1.0.0', types: { 'dns.nodes.Record': nodeType(spec) }, ...more });

describe('a declared plugin', () => {
  const plugin = samplePlugin(emptyRecords());

  it('has operations by mapping: written ones, derived ones and raw ones', () => {
    expect(Object.keys(plugin.operations).sort()).toEqual([
      'dns.nodes.Record.check_drift',
      'dns.nodes.Record.check_status',
      'dns.nodes.Record.create',
      'dns.nodes.Record.delete',
      'dns.nodes.Record.heal',
      'dns.nodes.Record.pull',
      'dns.nodes.Record.renew',
      'dns.nodes.Record.update',
      'dns.tasks.old',
    ]);
    expect(plugin).toMatchObject({ name: 'dns', version: '1.2.0', secrets: ['dns_token'] });
  });

  it('lets operations that only read run again after a lost worker, others when their author says so', () => {
    const again = Object.keys(plugin.operations).filter((mapping) =>
      isResumable(plugin.operations[mapping]!),
    );
    expect(again.map((mapping) => mapping.replace('dns.nodes.Record.', '')).sort()).toEqual([
      'check_drift',
      'check_status',
      'create',
      'pull',
    ]);
  });

  it('offers nothing derived without read, no drift without compare, no heal without create', () => {
    expect(Object.keys(withType({ create: () => null }).operations)).toEqual(['dns.nodes.Record.create']);
    expect(Object.keys(withType({ read: () => null }).operations)).toEqual([
      'dns.nodes.Record.check_status',
      'dns.nodes.Record.pull',
    ]);
  });
});

describe('an operation of the lifecycle with inputs and a known mapping', () => {
  const seen: unknown[] = [];
  const run = ({ inputs }: { inputs: unknown }) => void seen.push(inputs);
  const plugin = withType(
    {
      inputs: { create: z.object({ tries: z.int().default(3) }) },
      mappings: { create: 'old.tasks.run', start: 'old.tasks.run', stop: 'dns.tasks.end' },
      create: run,
      start: run,
      stop: () => null,
    },
    { aliases: ['old'] },
  );

  it('is found by both mappings, also when operations share one', () => {
    expect(Object.keys(plugin.operations).sort()).toEqual([
      'dns.nodes.Record.create',
      'dns.nodes.Record.start',
      'dns.nodes.Record.stop',
      'tasks.end',
      'tasks.run',
    ]);
  });

  it('gets checked inputs, and others as they are', async () => {
    const node = testNode(plugin, 'dns.nodes.Record');
    await node.run('create', { more: 'x' });
    await node.run('start', { more: 'y' });
    expect(seen).toEqual([{ tries: 3, more: 'x' }, { more: 'y' }]);
    await expect(node.run('create', { tries: 'x' })).rejects.toThrow('inputs.tries');
  });

  it('stands in plugin.yaml, and each name of the plugin with it', () => {
    const { yaml } = describePlugin(plugin);
    const entry = { executor: 'central_deployment_agent', package_name: 'dns', package_version: '1.0.0' };
    expect(yaml).toMatchObject({
      plugins: { dns: entry, old: entry },
      node_types: {
        'dns.nodes.Record': {
          interfaces: {
            'cloudify.interfaces.lifecycle': {
              create: { implementation: 'old.tasks.run', inputs: { tries: { type: 'integer', default: 3 } } },
              start: { implementation: 'old.tasks.run' },
              stop: { implementation: 'dns.tasks.end' },
            },
          },
        },
      },
    });
  });
});

const T = 'plugin.types.dns.nodes.Record';
const bad = (spec: object) => () => withType(spec as never);
const badPlugin = (more: object) => () => withType({}, more as never);

test.each([
  ['a name of a plugin', badPlugin({ name: '../x' }), 'plugin.name: "../x"; expected'],
  ['a version', badPlugin({ version: '1' }), 'plugin.version: "1"; expected a version such as 1.2.0'],
  [
    'a name of a type',
    badPlugin({ types: { Record: {} } }),
    'plugin.types.Record: "Record" is no name of a type; expected names with dots',
  ],
  ['a type with a blank', badPlugin({ types: { 'dns.a b': {} } }), 'is no name of a type'],
  [
    'an alias that is a type',
    bad({ aliases: ['dns.nodes.Record'] }),
    `${T}.aliases: the type dns.nodes.Record is declared twice`,
  ],
  ['an unknown member', bad({ craete: () => 1 }), `${T}.craete: there is no craete`],
  ['its nearest name', bad({ craete: () => 1 }), 'did you mean create?'],
  ['no function', bad({ create: 1 }), `${T}.create: is no function`],
  [
    'a date',
    bad({ properties: z.object({ at: z.date() }) }),
    `${T}.properties.at: a value of the kind date cannot be written in YAML; expected a string, number`,
  ],
  [
    'a date inside',
    bad({ properties: z.object({ a: z.array(z.object({ at: z.date() })) }) }),
    `${T}.properties.a.[].at: `,
  ],
  [
    'a transformed value',
    bad({ properties: z.object({ n: z.string().transform(Number) }) }),
    `${T}.properties.n: `,
  ],
  [
    'a name of a property',
    bad({ properties: z.object({ 'a b': z.string() }) }),
    `${T}.properties.a b: the name cannot stand in a blueprint`,
  ],
  [
    'no schema',
    bad({ properties: { zone: 'string' } }),
    `${T}.properties: is no schema of an object; expected z.object({...})`,
  ],
  [
    'compare of an unknown property',
    bad({ properties: z.object({ zone: z.string() }), read: () => null, compare: ['zones'] }),
    `${T}.compare: there is no zones; expected zone; did you mean zone?`,
  ],
  [
    'compare without read',
    bad({ properties: z.object({ zone: z.string() }), compare: ['zone'] }),
    `${T}.compare: there is nothing to compare with; expected a function read`,
  ],
  [
    'compare of a secret',
    bad({ properties: z.object({ pw: sensitive(z.string()) }), read: () => null, compare: ['pw'] }),
    'pw is sensitive',
  ],
  [
    'a mark that would be overlooked',
    bad({ properties: z.object({ a: z.object({ pw: sensitive(z.string()) }) }) }),
    `${T}.properties.a.pw: sensitive() stands inside of an object; expected sensitive() around a`,
  ],
  [
    'a reserved runtime property',
    bad({ runtime: z.object({ __baton_steps: z.any() }) }),
    'the name belongs to Baton',
  ],
  [
    'an operation that follows from read',
    bad({ create: () => 1, read: () => null, operations: { heal: { run: () => 1 } } }),
    `${T}.operations.heal: the name is taken`,
  ],
  [
    'an interface that is no name',
    bad({ operations: { renew: { places: [{ interface: 'a b' }], run: () => 1 } } }),
    `${T}.operations.renew.interface`,
  ],
  [
    'a mapping of a stranger',
    bad({ create: () => 1, mappings: { create: 'other.tasks.run' } }),
    `${T}.mappings.create: "other.tasks.run"; expected a mapping after one of dns and a dot`,
  ],
  [
    'a mapping of no operation',
    bad({ create: () => 1, mappings: { strat: 'dns.tasks.run' } }),
    `${T}.mappings.strat: there is no strat; expected create`,
  ],
  [
    'two functions with one mapping',
    bad({ create: () => 1, start: () => 2, mappings: { create: 'dns.t.run', start: 'dns.t.run' } }),
    'start has the same mapping, and is another function',
  ],
  ['inputs of no operation', bad({ inputs: { create: z.object({}) } }), `${T}.inputs.create: there is no`],
  ['an odd alias', badPlugin({ aliases: ['a.b'] }), 'plugin.aliases: "a.b" is no name'],
  ['resumable of nothing', bad({ resumable: ['start'] }), `${T}.resumable: there is no start`],
  [
    'one mapping twice',
    badPlugin({ types: { 'dns.a': { create: () => 1 } }, operations: { 'dns.a.create': () => 1 } }),
    'the mapping dns.a.create is there twice',
  ],
  [
    'a side of a relationship',
    badPlugin({ relationships: { 'dns.in': { source: { establsih: () => 1 } } } }),
    'plugin.relationships.dns.in.source: there is no establsih',
  ],
])('refuses %s', (_, define, message) => expect(define).toThrow(message));
