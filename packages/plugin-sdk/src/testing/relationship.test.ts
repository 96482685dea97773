import * as z from 'zod';
import { definePlugin, nodeType, sensitive } from '../index';
import { testRelationship } from '.';

const plugin = definePlugin({
  name: 'p',
  version: '1.0.0',
  types: { 'p.T': nodeType({ create: () => 1 }) },
  relationships: {
    'p.on': {
      inputs: {
        source: {
          preconfigure: z.object({
            group: z.string().default('all'),
            password: sensitive(z.string()).optional(),
          }),
        },
      },
      mappings: { source: { preconfigure: 'p.tasks.add' } },
      source: {
        preconfigure: async ({ ctx, inputs, log, step }) => {
          const [source, target] = [await ctx.source(), await ctx.target()];
          log.info(`with ${String(inputs.password)}`);
          await step('add', async () => {
            source.instance.runtimeProperties.hosts = {
              [String(inputs.group)]: target.instance.runtimeProperties.ip!,
            };
            return null;
          });
          target.instance.runtimeProperties.used = true;
          return [source.node.properties.a!, ctx.type, inputs.group!];
        },
      },
      resumable: ['source.preconfigure'],
    },
  },
});
const relationship = () =>
  testRelationship(plugin, 'p.on', {
    source: { properties: { a: 1 } },
    target: { runtime: { ip: '10.0.0.1' } },
  });

it('runs an operation of a relationship, by its name and by its mapping', async () => {
  for (const name of ['source.preconfigure', 'tasks.add']) {
    const one = relationship();
    expect(await one.run(name, { password: 'open sesame' })).toEqual([1, 'relationship-instance', 'all']);
    expect(one.source.runtimeProperties).toEqual({ hosts: { all: '10.0.0.1' } });
    expect(one.target.runtimeProperties).toEqual({ ip: '10.0.0.1', used: true });
    expect(one.log).toEqual([{ level: 'info', message: 'with ********' }]);
  }
  expect(relationship().isResumable('source.preconfigure')).toBe(true);
});

it('checks inputs, and knows the names', async () => {
  await expect(relationship().run('source.preconfigure', { group: 1 })).rejects.toThrow('inputs.group: ');
  await expect(relationship().run('source.preconfig')).rejects.toThrow('did you mean source.preconfigure?');
});
