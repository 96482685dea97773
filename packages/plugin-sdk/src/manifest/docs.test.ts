import * as z from 'zod';
import { defaultFrom, definePlugin, directOperation, nodeType, sensitive, workflow } from '../index';
import { emptyRecords, samplePlugin } from '../testing/sample-plugin';
import { describePlugin, documentPlugin } from '.';

const lines = (page: string): string[] => page.split('\n');

it('a page names types, values, operations and mappings', () => {
  const { page } = documentPlugin(samplePlugin(emptyRecords()), z.toJSONSchema as never);
  expect(lines(page)).toEqual(
    expect.arrayContaining([
      '# dns 1.2.0',
      'It reads these secrets of the tenant: `dns_token`.',
      '## dns.nodes.Record',
      'Derived from `cloudify.nodes.Root`. Other names: `dns.Record`.',
      'It drifts when one of these differs: `ip`, `ttl`.',
      '| `zone` | string | required | Name of the zone |',
      '| `ttl` | integer, at least 1 | `300` |  |',
      '| `kind` | string, `A`, `AAAA` | `A` |  |',
      '| `limits.burst` | integer | `5` |  |',
      '| `password` | string |  | Hidden. |',
      '| `token` | string | Hidden. |',
      '| `cloudify.interfaces.lifecycle.create` | `dns.dns.nodes.Record.create` | runs again |',
      '| `cloudify.interfaces.lifecycle.delete` | `dns.dns.nodes.Record.delete` | fails, a person decides |',
      '| `cloudify.interfaces.validation.check_status` | `dns.dns.nodes.Record.check_status` | runs again |',
      '**Inputs of renew**',
    ]),
  );
});

const plugin = definePlugin({
  name: 'p',
  version: '1.0.0',
  types: {
    'p.T': nodeType({
      properties: z.object({ tags: z.array(z.string()).default([]) }),
      inputs: {
        create: z.object({ tags: defaultFrom(z.array(z.string()), { get_property: ['SELF', 'tags'] }) }),
      },
      create: ({ inputs }) => inputs.tags,
    }),
  },
  relationships: {
    'p.on': {
      inputs: { source: { establish: z.object({ host: z.string().describe('<b>name</b> | more\nlines') }) } },
      mappings: { source: { establish: 'p.tasks.link' } },
      source: { establish: () => 1 },
    },
  },
  operations: {
    'tasks.run': directOperation({ inputs: z.object({ key: sensitive(z.string()) }), run: () => 1 }),
  },
  workflows: { rotate: workflow({ parameters: z.object({ days: z.int().default(1) }), run: () => 1 }) },
});

it('a page names relationships, operations by mapping and workflows; texts stay in their cells', () => {
  expect(lines(documentPlugin(plugin, z.toJSONSchema as never).page)).toEqual(
    expect.arrayContaining([
      '| `source.establish` | `p.tasks.link` |',
      '| `host` | string | required | &lt;b>name&lt;/b> \\| more lines |',
      '| `p.tasks.run` |',
      '| `key` | string | required | Hidden. |',
      '| `rotate` | `p.rotate` |',
      '**Parameters of rotate**',
    ]),
  );
});

it('the schema has a definition for each set of values, and says what is hidden', () => {
  const { schema } = documentPlugin(plugin, z.toJSONSchema as never);
  expect(Object.keys(schema.$defs as object)).toEqual([
    'p.T',
    'p.T.create.inputs',
    'p.on.source.establish.inputs',
    'tasks.run.inputs',
    'rotate.parameters',
  ]);
  expect((schema.$defs as Record<string, unknown>)['tasks.run.inputs']).toEqual({
    type: 'object',
    properties: { key: { type: 'string', writeOnly: true } },
    required: ['key'],
  });
  expect(JSON.stringify(schema)).not.toContain('baton');
});

it('a default that the language computes stands in plugin.yaml as a function without a type', () => {
  const types = describePlugin(plugin).yaml.node_types as Record<
    string,
    { interfaces: Record<string, object> }
  >;
  expect(types['p.T']!.interfaces['cloudify.interfaces.lifecycle']).toEqual({
    create: {
      implementation: 'p.p.T.create',
      inputs: { tags: { required: false, default: { get_property: ['SELF', 'tags'] } } },
    },
  });
});
