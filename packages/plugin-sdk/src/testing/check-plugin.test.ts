import * as language from '@baton/dsl';
import * as z from 'zod';
import { definePlugin, nodeType, sensitive } from '../index';
import { checkPlugin, type TypeSample, testNode } from '.';

const PASSWORD = 'open sesame';
const properties = { password: PASSWORD };

type Spec = Parameters<typeof nodeType>[0];
const pluginOf = (more: Spec) => {
  const type = nodeType({
    description: 'A thing',
    properties: z.object({ password: sensitive(z.string()) }),
    ...more,
  } as never);
  return definePlugin({ name: 'p', version: '1.0.0', types: { 'p.T': type } });
};
const check = (more: Spec, sample: Partial<TypeSample> = {}, counted: string[] = []) => {
  const plugin = pluginOf(more);
  const make = (given: typeof properties) => {
    counted.length = 0;
    return testNode(plugin, 'p.T', { properties: given });
  };
  return checkPlugin(plugin, {
    language,
    samples: { 'p.T': { properties, make: make as never, ...sample } },
  });
};

it('says what it has looked at', async () => {
  const counted: string[] = [];
  const good: Spec = {
    create: async ({ step }) => void (await step('make', async () => counted.push('made'))),
    stop: () => undefined,
    resumable: ['create'],
  };
  expect(await check(good, { effects: () => counted }, counted)).toEqual({
    types: ['p.T'],
    ran: ['p.T.create', 'p.T.stop'],
    survived: ['p.T.create'],
    withoutSample: [],
  });
  expect((await checkPlugin(pluginOf(good))).withoutSample).toEqual(['p.T']);
});

it.each<[string, Spec, Partial<TypeSample>, string]>([
  [
    'a password in the log by the way of console or ctx of the author',
    { create: ({ ctx }) => void ctx.sendEvent(`with ${PASSWORD}`) },
    {},
    'p.T.create shows a value in a log line that must be hidden',
  ],
  [
    'a password in a runtime property',
    {
      create: ({ properties: given, runtime }) =>
        void Object.assign(runtime, { copy: (given as typeof properties).password }),
    },
    {},
    'p.T.create shows a value in a runtime property that must be hidden',
  ],
  [
    'an effect beside the steps',
    {
      create: async ({ step }) => void (outside.push('beside'), await step('a', async () => 1)),
      resumable: ['create'],
    },
    { effects: () => outside },
    'beside happened more than once',
  ],
  [
    'an operation that does not bear to run again',
    {
      create: ({ ctx }) => {
        if (ctx.isResumed) throw new Error('there already');
      },
      resumable: ['create'],
    },
    {},
    'p.T.create: it is resumable, and failed when it ran again: there already',
  ],
  [
    'a resumable operation that nobody runs',
    { create: () => 1, start: () => 1, resumable: ['start'] },
    { order: ['create'] },
    'does not run start',
  ],
  ['an operation that fails', { create: () => Promise.reject(new Error('no')) }, {}, 'p.T.create: no'],
  [
    'a value that the language refuses',
    { create: () => 1 },
    { properties: { password: PASSWORD, colour: 'red' } },
    'the language refuses',
  ],
  ['a type without a description', { description: undefined, create: () => 1 }, {}, 'p.T has no description'],
])('finds %s', async (_, spec, sample, problem) => {
  outside.length = 0;
  await expect(check(spec, sample)).rejects.toThrow(problem);
});
const outside: string[] = [];

it('finds a sample of no type', async () => {
  const samples = { 'p.S': { make: () => testNode(pluginOf({ create: () => 1 }), 'p.T') } };
  await expect(checkPlugin(pluginOf({ create: () => 1 }), { samples })).rejects.toThrow(
    'a sample of p.S, which is no type',
  );
});
