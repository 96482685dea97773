import { type Diagnostic, parseBlueprint, withBuiltinTypes } from '@baton/dsl';
import { stringify } from 'yaml';
import * as z from 'zod';
import { definePlugin, nodeType } from '../index';
import { emptyRecords, samplePlugin } from '../testing/sample-plugin';
import { describePlugin } from '.';

const { yaml, ...rest } = describePlugin(samplePlugin(emptyRecords()));

/** Parses a blueprint of one node of the given type beside the made plugin.yaml. */
const parsed = (node: string, pluginYaml = stringify(yaml)) =>
  parseBlueprint({
    text: `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml, plugin:dns]
node_templates:
  record:
${node.replace(/^/gm, '    ')}
`,
    location: '/bp/blueprint.yaml',
    resolver: withBuiltinTypes({ read: async () => null, plugin: async () => ({ text: pluginYaml }) }),
  });
const errorsOf = (diagnostics: readonly Diagnostic[]) =>
  diagnostics.filter(({ severity }) => severity === 'error');

it('describes the plugin', () => {
  expect(rest).toEqual({
    name: 'dns',
    version: '1.2.0',
    description: 'Records of zones',
    types: ['dns.nodes.Record'],
    secrets: ['dns_token'],
    comments: [{ path: ['node_types', 'dns.nodes.Record'], text: 'A record' }],
  });
  expect(yaml.plugins).toEqual({
    dns: { executor: 'central_deployment_agent', package_name: 'dns', package_version: '1.2.0' },
  });
});

it('describes properties, inputs and interfaces', () => {
  const types = yaml.node_types as Record<string, { properties: object; interfaces: Record<string, object> }>;
  expect(types['dns.nodes.Record']!.properties).toEqual({
    zone: { type: 'string', description: 'Name of the zone' },
    ip: { type: 'string' },
    ttl: { type: 'integer', required: false, default: 300 },
    kind: { type: 'string', description: 'One of: A, AAAA.', required: false, default: 'A' },
    tags: { type: 'list', required: false },
    limits: { type: 'dns.nodes.Record.limits', required: false },
    password: { type: 'string', required: false },
  });
  expect(yaml.data_types).toEqual({
    'dns.nodes.Record.limits': {
      properties: {
        burst: { type: 'integer', required: false, default: 5 },
        labels: { type: 'dict', required: false },
      },
    },
  });
  expect(types['dns.nodes.Record']!.interfaces).toEqual({
    'cloudify.interfaces.lifecycle': Object.fromEntries(
      ['create', 'delete', 'update', 'check_drift', 'heal', 'pull'].map((name) => [
        name,
        { implementation: `dns.dns.nodes.Record.${name}` },
      ]),
    ),
    'cloudify.interfaces.validation': {
      check_status: { implementation: 'dns.dns.nodes.Record.check_status' },
    },
    dns: {
      renew: {
        implementation: 'dns.dns.nodes.Record.renew',
        inputs: {
          days: {
            type: 'integer',
            required: false,
            default: 30,
            constraints: [{ greater_or_equal: 1 }, { less_or_equal: 90 }],
          },
          why: { type: 'string', required: false, default: null },
          more: { required: false, default: null },
        },
      },
    },
  });
});

it.each(['dns.nodes.Record', 'dns.Record'])('a blueprint imports it and uses the type %s', async (type) => {
  const { plan, diagnostics } = await parsed(
    `type: ${type}\nproperties: {zone: example.org, ip: 10.0.0.1, limits: {labels: {a: b}}}`,
  );
  expect(errorsOf(diagnostics)).toEqual([]);
  const [node] = plan!.nodes;
  expect(node!.properties).toMatchObject({ ttl: 300, kind: 'A', limits: { burst: 5, labels: { a: 'b' } } });
  expect(node!.operations['cloudify.interfaces.lifecycle.heal']).toMatchObject({
    plugin: 'dns',
    operation: 'dns.nodes.Record.heal',
  });
});

it.each([
  ['type: dns.nodes.Record\nproperties: {zone: example.org, ip: 10.0.0.1, ttl: soon}', 6, 'ttl'],
  [
    'type: dns.nodes.Record\nproperties:\n  zone: example.org\n  ip: 10.0.0.1\n  limits:\n    burst: [1]',
    10,
    'burst',
  ],
  ['type: dns.nodes.Record\nproperties: {ip: 10.0.0.1}', 6, 'zone'],
])('the language refuses a wrong value with its place: %s', async (node, line, name) => {
  const { plan, diagnostics } = await parsed(node);
  expect(plan).toBeNull();
  const [first] = errorsOf(diagnostics);
  expect(first).toMatchObject({ line, column: expect.any(Number) });
  expect(JSON.stringify(first)).toContain(name);
});

it('workflows and relationships stand in it', async () => {
  const { yaml: other } = describePlugin(
    definePlugin({
      name: 'dns',
      version: '1.0.0',
      types: { 'dns.nodes.Record': nodeType({ create: () => 1 }) },
      relationships: { 'dns.in_zone': { aliases: ['dns.within'], source: { establish: () => 1 } } },
      workflows: { rotate: { run: () => 1, parameters: z.object({ days: z.int().default(1) }) } },
    }),
  );
  const { plan, diagnostics } = await parsed('type: dns.nodes.Record', stringify(other));
  expect(errorsOf(diagnostics)).toEqual([]);
  expect(plan!.workflows.rotate).toMatchObject({
    operation: 'rotate',
    plugin: 'dns',
    parameters: { days: { type: 'integer', default: 1 } },
  });
  expect(other.relationships).toEqual({
    'dns.in_zone': {
      derived_from: 'cloudify.relationships.connected_to',
      source_interfaces: {
        'cloudify.interfaces.relationship_lifecycle': {
          establish: { implementation: 'dns.dns.in_zone.source.establish' },
        },
      },
    },
    'dns.within': { derived_from: 'dns.in_zone' },
  });
});

it('refuses characters that the language does not allow, with their place', () => {
  const type = nodeType({ properties: z.object({ zone: z.string().describe('Gr\u00f6\u00dfe') }) });
  const plugin = definePlugin({ name: 'dns', version: '1.0.0', types: { 'dns.nodes.Record': type } });
  expect(() => describePlugin(plugin)).toThrow(
    'plugin.yaml.node_types.dns.nodes.Record.properties.zone.description: "Gr\u00f6\u00dfe" has other characters than ASCII',
  );
});

it('says what is missing when the export is no declared plugin', () => {
  expect(() => describePlugin(undefined)).toThrow('expected export default definePlugin(');
  expect(() => describePlugin(definePlugin({ name: 'raw', operations: {} }))).toThrow('declares no types');
});

it('an operation stands in all of its interfaces; without read authors write their own checks', () => {
  const own = describePlugin(
    definePlugin({
      name: 'dns',
      version: '1.2.0',
      types: {
        'dns.nodes.Zone': nodeType({
          operations: {
            check_drift: { interface: 'cloudify.interfaces.lifecycle', run: () => null },
            pull: {
              interface: 'cloudify.interfaces.lifecycle',
              places: [{ interface: 'zone' }],
              run: () => null,
            },
          },
          mappings: { pull: 'dns.tasks.read' },
        }),
      },
    }),
  );
  const types = own.yaml.node_types as Record<string, { interfaces: object }>;
  expect(types['dns.nodes.Zone']!.interfaces).toEqual({
    'cloudify.interfaces.lifecycle': {
      check_drift: { implementation: 'dns.dns.nodes.Zone.check_drift' },
      pull: { implementation: 'dns.tasks.read' },
    },
    zone: { pull: { implementation: 'dns.tasks.read' } },
  });
});
