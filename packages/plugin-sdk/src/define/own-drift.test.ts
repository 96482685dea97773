// Drift that is no comparison of properties, computed defaults, and an operation of the plugin that several types name.
import * as z from 'zod';
import { type Difference, defaultFrom, definePlugin, directOperation, isResumable, nodeType } from '../index';
import { describePlugin } from '../manifest';
import { testNode } from '../testing';

const calls: string[] = [];
const inputs = z.object({
  tags: defaultFrom(z.array(z.string()).optional(), { get_property: ['SELF', 'tags'] }),
});
const playType = (drift: Difference[]) =>
  nodeType({
    properties: z.object({ tags: z.array(z.string()).default([]) }),
    inputs: { start: inputs },
    mappings: { start: 'old.tasks.run', check_drift: 'old.tasks.drift' },
    start: () => null,
    read: () => ({}),
    drift: () => drift,
    update: ({ changes }) => void calls.push(JSON.stringify(changes)),
  });
const plugin = (drift: Difference[] = []) =>
  definePlugin({
    name: 'plays',
    version: '1.0.0',
    aliases: ['old'],
    types: { 'old.nodes.Play': playType(drift), 'old.nodes.Other': playType(drift) },
    relationships: {
      'old.runs_on': {
        source: { establish: () => null },
        mappings: { source: { establish: 'old.tasks.run' } },
      },
    },
    operations: { 'tasks.run': directOperation({ isResumable: true, run: () => 'of the plugin' }) },
  });

it('is the result of check_drift, and heal updates with all properties', async () => {
  const found = [{ path: 'host', stored: 'a', present: 'b' }];
  const node = testNode(plugin(found), 'old.nodes.Play', { properties: { tags: ['x'] } });
  expect(await node.run('check_drift')).toEqual(found);
  await node.run('heal');
  expect(calls.splice(0)).toEqual(['{"tags":["x"]}']);
  const fine = testNode(plugin(), 'old.nodes.Play');
  expect(await fine.run('check_drift')).toBeNull();
  await fine.run('heal');
  expect(calls).toEqual([]);
});

it('needs read, and excludes compare', () => {
  const types = { 'old.nodes.Play': nodeType({ drift: () => [] }) };
  expect(() => definePlugin({ name: 'plays', version: '1.0.0', types })).toThrow(
    'plugin.types.old.nodes.Play.drift: it stands beside compare, or without read',
  );
});

it('lets an operation of the plugin stand for all types that name its mapping', async () => {
  const { operations } = plugin();
  expect(isResumable(operations['tasks.run']!)).toBe(true);
  const ctx = { type: 'deployment', operation: { name: 'x' } };
  expect(await operations['tasks.run']!(ctx as never, {})).toBe('of the plugin');
});

it('writes a computed default as a function of the language, without a type', () => {
  const { node_types } = describePlugin(plugin()).yaml as { node_types: Record<string, object> };
  expect(node_types['old.nodes.Play']).toMatchObject({
    interfaces: {
      'cloudify.interfaces.lifecycle': {
        start: {
          implementation: 'old.tasks.run',
          inputs: { tags: { default: { get_property: ['SELF', 'tags'] } } },
        },
      },
    },
  });
});
