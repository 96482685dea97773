import * as z from 'zod';
import { definePlugin, directOperation, FatalError, nodeType } from '../index';
import { testNode } from '../testing';

const described = { name: 'p', version: '1.0.0', aliases: ['old'] };

it('inputs of the lifecycle have the types of their schema', async () => {
  const type = nodeType({
    properties: z.object({ size: z.int() }),
    inputs: {
      create: z.object({ days: z.int().default(3), note: z.string().optional() }),
      update: z.object({ a: z.string() }),
    },
    create: ({ inputs, properties }) => {
      const days: number = inputs.days;
      const note: string | undefined = inputs.note;
      // @ts-expect-error a text is no number
      const wrong: number = inputs.note;
      return [days, note ?? wrong ?? null, inputs.other ?? null, properties.size];
    },
    start: ({ inputs }) => inputs.free ?? null,
    update: ({ inputs }) => inputs.a.length,
  });
  const node = testNode(definePlugin({ ...described, types: { 'p.T': type } }), 'p.T', {
    properties: { size: 1 },
  });
  expect(await node.run('create', { other: 'x' })).toEqual([3, null, 'x', 1]);
  expect(await node.run('update', { a: 'four' })).toBe(4);
  await expect(node.run('update', {})).rejects.toThrow('inputs.a: ');
});

describe('a mapping that several operations share', () => {
  const run = ({ ctx, inputs }: { ctx: { operation: { name: string } }; inputs: object }) => [
    ctx.operation.name,
    inputs,
  ];
  const plugin = definePlugin({
    ...described,
    types: {
      'p.A': nodeType({ create: () => 'of A', mappings: { create: 'old.tasks.create' } }),
      'p.B': nodeType({
        aliases: ['p.Bee'],
        create: () => 'of B',
        mappings: { create: 'old.tasks.create', start: 'old.tasks.run', reload: 'old.tasks.run' },
        inputs: { start: z.object({ n: z.int().default(1) }) },
        start: run,
        operations: { reload: { interface: 'old.things', inputs: z.object({ m: z.int().default(2) }), run } },
      }),
    },
  });

  it('runs that of the type of the node', async () => {
    expect(await testNode(plugin, 'p.A').run('tasks.create')).toBe('of A');
    expect(await testNode(plugin, 'p.B').run('tasks.create')).toBe('of B');
    expect(await testNode(plugin, 'cloudify.nodes.Root').run('tasks.create')).toBe('of A');
  });

  it('checks the inputs of the operation that the blueprint calls', async () => {
    const node = testNode(plugin, 'p.B');
    for (const [operationName, inputs] of [
      ['cloudify.interfaces.lifecycle.start', { n: 1 }],
      ['old.things.reload', { m: 2 }],
    ] as const)
      expect(await node.run('tasks.run', {}, { operationName })).toEqual([operationName, inputs]);
  });
});

describe('an operation that blueprints name directly', () => {
  const plugin = definePlugin({
    ...described,
    types: {},
    operations: {
      'tasks.run': directOperation({
        inputs: z.object({ tries: z.int().default(2) }),
        isResumable: true,
        run: async ({ inputs, node, log, hide, step }) => {
          hide(node!.properties.password);
          log.info(`with ${node!.properties.password}`);
          node!.runtime.tries = await step('try', async () => inputs.tries);
          if (inputs.fails === true) throw new FatalError(`not with ${node!.properties.password}`);
          return inputs.more ?? null;
        },
      }),
    },
  });
  const node = () => testNode(plugin, 'cloudify.nodes.Compute', { properties: { password: 'open sesame' } });

  it('gets its inputs checked, and the node as it is', async () => {
    const host = node();
    expect(await host.run('tasks.run', { more: 'x' })).toBe('x');
    expect([host.runtimeProperties, host.log]).toEqual([
      { tries: 2 },
      [{ level: 'info', message: 'with ********' }],
    ]);
    expect(host.isResumable('tasks.run')).toBe(true);
    await expect(host.run('tasks.run', { tries: 'x' })).rejects.toThrow('inputs.tries: ');
    await expect(host.run('tasks.run', { fails: true })).rejects.toThrow('not with ********');
  });
});

describe('a step', () => {
  it('gets the same key in each attempt, and no other step has it', async () => {
    const keys: string[] = [];
    const type = nodeType({
      create: async ({ step }) => {
        for (const name of ['a', 'b'])
          await step(name, async ({ idempotencyKey }) => {
            keys.push(idempotencyKey);
            if (name === 'b' && keys.length === 2) throw new Error('lost');
            return null;
          });
      },
    });
    const node = testNode(definePlugin({ ...described, types: { 'p.T': type } }), 'p.T');
    await node.run('create', {}, { taskId: 't1' }).catch(() => undefined);
    await node.run('create', {}, { taskId: 't1' });
    await node.run('create', {}, { taskId: 't2' });
    const [a, b, again, otherA, otherB] = keys;
    expect(again).toBe(b);
    expect(new Set([a, b, otherA, otherB]).size).toBe(4);
    expect(a).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

it('texts are rendered as files of the blueprint are', async () => {
  const type = nodeType({
    properties: z.object({ zone: z.string() }),
    create: async ({ render, runtime, ctx }) => {
      Object.assign(runtime, { id: 7 });
      const text = await render(
        '{{ a }}-{{ ctx.node.properties.zone }}-{{ ctx.instance.runtime_properties.id }}',
        { a: 1 },
      );
      return [
        text,
        Buffer.from(await ctx.getResource('f')).toString(),
        await render('{{ x', {}).catch(String),
      ];
    },
  });
  const plugin = definePlugin({ ...described, types: { 'p.T': type } });
  const node = testNode(plugin, 'p.T', { properties: { zone: 'z' }, files: { f: 'of the blueprint' } });
  expect(await node.run('create')).toEqual([
    '1-z-7',
    'of the blueprint',
    expect.stringContaining('template text: '),
  ]);
});

it('a mapping of the plugin itself may be named by types and relationships', async () => {
  const run = directOperation({ run: ({ node }) => (node === null ? 'of a relationship' : 'of a node') });
  const plugin = definePlugin({
    ...described,
    types: {
      'p.A': nodeType({ start: () => 'of A', mappings: { start: 'old.tasks.run' } }),
      'p.B': nodeType({ start: () => 'of B', mappings: { start: 'old.tasks.run' } }),
    },
    relationships: {
      'p.on': { source: { establish: () => 1 }, mappings: { source: { establish: 'old.tasks.run' } } },
    },
    operations: { 'tasks.run': run },
  });
  expect(await testNode(plugin, 'p.B').run('tasks.run')).toBe('of a node');
});

describe('drift', () => {
  const seen: string[] = [];
  const found = [{ path: 'vm.size', stored: 1, present: 2 }];
  const plugin = (drift: () => typeof found | null) =>
    definePlugin({
      ...described,
      types: {
        'p.T': nodeType({
          properties: z.object({ size: z.int().default(1) }),
          drift,
          start: () => void seen.push('start'),
          update: ({ changes }) => void seen.push(`update ${JSON.stringify(changes)}`),
        }),
      },
    });
  beforeEach(() => {
    seen.length = 0;
  });

  it('is found by the author, and healed by update with all properties', async () => {
    const node = testNode(
      plugin(() => found),
      'p.T',
    );
    expect(await node.run('check_drift')).toEqual(found);
    await node.run('heal');
    expect(seen).toEqual(['update {"size":1}']);
    await expect(node.run('check_status')).rejects.toThrow('there is no operation check_status');
  });

  it('that is not there needs no work', async () => {
    const node = testNode(
      plugin(() => null),
      'p.T',
    );
    expect(await node.run('check_drift')).toBeNull();
    await node.run('heal');
    expect(seen).toEqual([]);
  });

  it('and compare exclude each other', () => {
    const type = nodeType({
      properties: z.object({ a: z.string() }),
      read: () => null,
      compare: ['a'],
      drift: () => null,
    });
    expect(() => definePlugin({ ...described, types: { 'p.T': type } })).toThrow(
      'drift finds the differences already',
    );
  });
});
