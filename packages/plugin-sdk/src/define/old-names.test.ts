// What plugins need that carry on the names of older ones.
import { definePlugin, isResumable, nodeType, type OperationContext, workflow } from '../index';
import { describePlugin } from '../manifest';

const about = { name: 'dns', version: '1.0.0', aliases: ['old'] };
type Yaml = Record<string, Record<string, never>>;

const record = nodeType({
  aliases: ['record'],
  operations: { update: { interface: 'cloudify.interfaces.operations', run: () => 'own update' } },
  mappings: { update: 'old.tasks.reserve' },
  resumable: ['update'],
});
const plugin = definePlugin({
  ...about,
  types: { 'dns.nodes.Record': record },
  relationships: {
    'dns.in': {
      aliases: ['in_zone'],
      target: { preconfigure: () => 'of the relationship' },
      mappings: { target: { preconfigure: 'old.tasks.reserve' } },
      resumable: ['target.preconfigure'],
    },
  },
  workflows: { rotate: workflow({ availableWhen: ['all'], run: () => null }) },
});

it('an alias may be a name without a dot', () => {
  const { node_types, relationships } = describePlugin(plugin).yaml as Yaml;
  expect(node_types).toHaveProperty('record', { derived_from: 'dns.nodes.Record' });
  expect(relationships).toHaveProperty('in_zone', { derived_from: 'dns.in' });
  expect(() => definePlugin({ ...about, types: { record } })).toThrow('"record" is no name of a type');
});

it('an operation in an interface of its own may have a name of the lifecycle that the type does not use', () => {
  const { node_types } = describePlugin(plugin).yaml as Yaml;
  expect(node_types!['dns.nodes.Record']).toHaveProperty('interfaces', {
    'cloudify.interfaces.operations': { update: { implementation: 'old.tasks.reserve' } },
  });
  const taken = nodeType({ update: () => 1, operations: { update: { interface: 'own', run: () => 2 } } });
  expect(() => definePlugin({ ...about, types: { 'dns.nodes.Record': taken } })).toThrow('the name is taken');
});

it('a type of nodes and one of relationships may share a mapping', async () => {
  const shared = plugin.operations['tasks.reserve']!;
  expect(isResumable(shared)).toBe(true);
  const ctx = { logger: {}, signal: new AbortController().signal } as unknown as OperationContext;
  expect(await shared({ ...ctx, type: 'relationship-instance' }, {})).toBe('of the relationship');
});

it('plugin.yaml says when a workflow may run', () => {
  const { workflows } = describePlugin(plugin).yaml as Yaml;
  expect(workflows!.rotate).toMatchObject({ availability_rules: { node_instances_active: ['all'] } });
});
