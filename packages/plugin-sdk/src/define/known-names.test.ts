// Plugins whose blueprints know mappings, interfaces and inputs from an earlier plugin.
import * as z from 'zod';
import {
  type Difference,
  defaultFrom,
  definePlugin,
  isResumable,
  type MappedScope,
  nodeType,
  sensitive,
} from '../index';
import { describePlugin } from '../manifest';
import { testNode } from '../testing';

const calls: string[] = [];
const runInputs = z.object({
  tags: defaultFrom(z.array(z.string()).optional(), { get_property: ['SELF', 'tags'] }),
});
const run = ({ inputs, log }: MappedScope): void => void log.info(`run with ${JSON.stringify(inputs)}`);

const play = (drift: Difference[] = []) =>
  nodeType({
    properties: z.object({ tags: z.array(z.string()).default([]) }),
    inputs: { start: runInputs },
    mappings: { start: 'old.tasks.run', again: 'old.tasks.run', check_drift: 'old.tasks.drift' },
    precreate: () => void calls.push('precreate'),
    start: () => void calls.push('start'),
    poststart: () => void calls.push('poststart'),
    read: () => ({}),
    drift: () => drift,
    update: ({ changes }) => void calls.push(`update ${JSON.stringify(changes)}`),
    operations: { again: { interface: 'old', inputs: runInputs, run: () => null } },
  });

const plugin = (type = play()) =>
  definePlugin({
    name: 'new-plugin',
    version: '1.0.0',
    aliases: ['old'],
    types: { 'old.nodes.Play': type },
    relationships: {
      'old.runs_on': {
        source: { establish: () => null, unlink: () => null },
        inputs: { 'source.establish': z.object({ group: z.string().default('') }) },
        mappings: { 'source.establish': 'old.tasks.run', 'source.unlink': 'old.tasks.end' },
      },
    },
    workflows: { reload: { run: () => null, mapping: 'old.flows.reload' } },
    operations: {
      'tasks.run': { inputs: z.object({ password: sensitive(z.string()).optional() }), resumable: true, run },
    },
  });

it('names what blueprints know', () => {
  const { yaml } = describePlugin(plugin());
  const tags = { default: { get_property: ['SELF', 'tags'] } };
  expect(yaml).toMatchObject({
    node_types: {
      'old.nodes.Play': {
        interfaces: {
          'cloudify.interfaces.lifecycle': {
            precreate: { implementation: 'new-plugin.old.nodes.Play.precreate' },
            start: { implementation: 'old.tasks.run', inputs: { tags } },
            check_drift: { implementation: 'old.tasks.drift' },
          },
          old: { again: { implementation: 'old.tasks.run', inputs: { tags } } },
        },
      },
    },
    relationships: {
      'old.runs_on': {
        source_interfaces: {
          'cloudify.interfaces.relationship_lifecycle': {
            establish: {
              implementation: 'old.tasks.run',
              inputs: { group: { type: 'string', default: '' } },
            },
            unlink: { implementation: 'old.tasks.end' },
          },
        },
      },
    },
    workflows: { reload: { mapping: 'old.flows.reload' } },
  });
});

it('has one operation for each mapping; one of the plugin itself serves all types', () => {
  const { operations, workflows } = plugin();
  expect(Object.keys(operations)).toEqual(
    expect.arrayContaining(['tasks.run', 'tasks.drift', 'tasks.end', 'old.nodes.Play.start']),
  );
  expect(isResumable(operations['tasks.run']!)).toBe(true);
  expect(Object.keys(workflows!)).toEqual(['flows.reload']);
});

it('masks sensitive inputs of an operation by mapping', async () => {
  const lines: string[] = [];
  const logger = { info: (text: string) => void lines.push(text) };
  await plugin().operations['tasks.run']!({ logger } as never, { password: 'open sesame', more: 1 });
  expect(lines).toEqual(['run with {"password":"********","more":1}']);
});

describe('drift that is no comparison of properties', () => {
  const found = [{ path: 'host', stored: 'a', present: 'b' }];

  it('is the result of check_drift, and heal updates', async () => {
    const node = testNode(plugin(play(found)), 'old.nodes.Play', { properties: { tags: ['x'] } });
    expect(await node.run('check_drift')).toEqual(found);
    calls.length = 0;
    await node.run('heal');
    expect(calls).toEqual(['update {"tags":["x"]}']);
    calls.length = 0;
    const fine = testNode(plugin(), 'old.nodes.Play');
    expect(await fine.run('check_drift')).toBeNull();
    await fine.run('heal');
    expect(calls).toEqual([]);
  });

  it('needs read, and excludes compare', () => {
    const type = nodeType({ drift: () => [] });
    expect(() => plugin(type as never)).toThrow(
      'plugin.types.old.nodes.Play.drift: it stands beside compare',
    );
  });
});

it.each([
  [{ mappings: { 'source.establsh': 'old.x' } }, 'did you mean source.establish?'],
  [{ mappings: { 'source.establish': 'other.x' } }, 'a mapping after one of new-plugin, old and a dot'],
])('refuses a wrong mapping of a relationship: %j', (more, text) => {
  const relationships = { 'old.runs_on': { source: { establish: () => null }, ...more } };
  expect(() => definePlugin({ ...plugin().definition, relationships } as never)).toThrow(text);
});
