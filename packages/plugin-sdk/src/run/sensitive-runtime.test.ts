import * as z from 'zod';
import { definePlugin, FatalError, nodeType, RetryableError, sensitive } from '../index';
import { crashEverywhere, testNode } from '../testing';
import { MemoryInstance } from '../testing/memory-instance';
import { memorySecrets } from '../testing/memory-secrets';
import { Mask } from './mask';
import { SensitiveRuntime } from './sensitive-runtime';

const TOKEN = 'token-of-the-server';

/** A type that makes a token, shows how it is read, and changes it. */
const plugin = definePlugin({
  name: 'p',
  version: '1.0.0',
  types: {
    'p.Server': nodeType({
      runtime: z.object({
        id: z.string(),
        token: sensitive(z.string()),
        login: sensitive(z.object({ user: z.string(), password: z.string() })),
      }),
      create: async ({ runtime, step, log }) => {
        runtime.id = await step('make', async () => {
          runtime.token = TOKEN;
          runtime.login = { user: 'admin', password: 'open sesame' };
          return 'r1';
        });
        log.info(`has ${runtime.token}`);
      },
      start: ({ runtime, log }) => {
        log.info(`with ${runtime.token} and ${runtime.login?.password}`);
        return [
          runtime.token === TOKEN,
          Object.keys({ ...runtime })
            .filter((name) => name !== '__baton_steps')
            .sort(),
          'login' in runtime,
        ];
      },
      stop: ({ runtime }) => {
        delete runtime.token;
      },
      delete: () => undefined,
      operations: {
        change: {
          run: ({ runtime, inputs }) => {
            runtime.token = inputs.to as string;
            if (inputs.fails === true) throw new FatalError(`not with ${String(inputs.to)}`);
          },
        },
        copy: { run: ({ runtime }) => void Object.assign(runtime, { all: { ...runtime } }) },
        stepResult: {
          run: async ({ runtime, step }) => (runtime.token = await step('get', async () => 'another-token')),
        },
        store: {
          run: async ({ ctx, runtime }) => {
            runtime.token = 'stored-before-the-end';
            await (await ctx.instance()).update();
            throw new RetryableError('lost');
          },
        },
      },
      resumable: ['create', 'delete'],
    }),
  },
});
const node = (runtime = {}) => testNode(plugin, 'p.Server', { runtime });
const valuesOf = (one: { runtimeSecrets: ReadonlyMap<string, string> }): string[] => [
  ...one.runtimeSecrets.values(),
];

it('is stored as a reference, and a later operation reads the value', async () => {
  const server = node();
  await server.run('create');
  const [token, login] = [...server.runtimeSecrets.keys()];
  expect(token).toMatch(/^runtime\.test\.node_abc123\.token\.[0-9a-f]{16}$/);
  expect(server.runtimeProperties).toEqual({
    id: 'r1',
    token: { get_secret: token },
    login: { get_secret: [login, 'value'] },
  });
  expect(valuesOf(server)).toEqual([TOKEN, '{"value":{"user":"admin","password":"open sesame"}}']);
  expect(await server.run('start')).toEqual([true, ['id', 'login', 'token'], true]);
  expect(server.log.map(({ message }) => message)).toEqual(['has ********', 'with ******** and ********']);
});

it('a changed value changes the secret, also when the operation fails; the error is masked', async () => {
  const server = node();
  await server.run('create');
  const before = server.runtimeProperties;
  await expect(server.run('change', { to: 'second-value', fails: true })).rejects.toThrow(
    'not with ********',
  );
  expect([server.runtimeProperties, valuesOf(server)[0]]).toEqual([before, 'second-value']);
});

it('is removed with its secret; the end of delete removes all', async () => {
  const server = node();
  await server.run('create');
  await server.run('stop');
  expect([Object.keys(server.runtimeProperties).sort(), server.runtimeSecrets.size]).toEqual([
    ['id', 'login'],
    1,
  ]);
  await server.run('delete');
  expect([Object.keys(server.runtimeProperties), server.runtimeSecrets.size]).toEqual([['id'], 0]);
});

it('is written before the instance is stored in the middle of an operation', async () => {
  const server = node();
  await expect(server.run('store')).rejects.toThrow('lost');
  expect(valuesOf(server)).toEqual(['stored-before-the-end']);
});

it('a copy in the clear is refused, in another property and in the result of a step', async () => {
  const server = node();
  await server.run('create');
  await expect(server.run('copy')).rejects.toThrow(
    'runtime.all holds the value of runtime.token, which is sensitive',
  );
  const other = node();
  await expect(other.run('stepResult')).rejects.toThrow('set runtime.token in the work of the step');
});

it('a value that stands there in the clear moves into a secret', async () => {
  const server = node({ token: 'from-an-old-version' });
  await server.run('start');
  expect(valuesOf(server)).toEqual(['from-an-old-version']);
  expect(JSON.stringify(server.runtimeProperties)).not.toContain('from-an-old-version');
  expect(server.log[0]!.message).toBe('with ******** and undefined');
});

it('a reference whose secret is gone is undefined, and said', async () => {
  const server = node({ token: { get_secret: 'gone' } });
  expect(await server.run('start')).toEqual([false, [], false]);
  expect(server.log[0]).toMatchObject({
    level: 'warning',
    message: expect.stringContaining('The secret gone of'),
  });
});

it('survives a crash behind the step that made it', async () => {
  const crashes = await crashEverywhere(() => node(), 'create');
  expect(crashes.map(({ node: after }) => valuesOf(after)[0])).toEqual([TOKEN]);
});

it('a type that keeps one must have an operation that ends it', () => {
  const type = nodeType({ runtime: z.object({ token: sensitive(z.string()) }), create: () => undefined });
  expect(() => definePlugin({ name: 'p', version: '1.0.0', types: { 'p.T': type } })).toThrow(
    'plugin.types.p.T.runtime.token: is kept in a secret, which nobody would remove; expected an operation delete',
  );
});

describe('a crash between the secret and its reference', () => {
  const opened = async (instance: MemoryInstance, store: ReturnType<typeof memorySecrets>) => {
    const log = { debug() {}, info() {}, warning() {}, error() {}, critical() {} };
    const parts = { names: ['token'], deployment: 'd', instance, store, mask: new Mask(), log };
    const made = new SensitiveRuntime(parts);
    await made.load();
    return made;
  };

  it('of a new value: the next attempt writes the same secret', async () => {
    const store = memorySecrets();
    const first = await opened(new MemoryInstance({}), store);
    first.set('token', 'first-value');
    // The process dies: the instance is not stored.
    await first.save();
    const instance = new MemoryInstance({});
    const second = await opened(instance, store);
    second.set('token', 'second-value');
    await second.save();
    expect([...store.values]).toEqual([
      [(instance.runtimeProperties.token as { get_secret: string }).get_secret, 'second-value'],
    ]);
  });

  it('of a removed one: the reference goes first, and delete removes what is left', async () => {
    const store = memorySecrets();
    const instance = new MemoryInstance({});
    const first = await opened(instance, store);
    first.set('token', 'first-value');
    await first.save();
    first.remove('token');
    const dead = { ...store, remove: () => Promise.reject(new RetryableError('lost')) };
    const dying = await opened(instance, dead);
    dying.remove('token');
    await expect(dying.save()).rejects.toThrow('lost');
    expect([instance.stored, store.values.size]).toEqual([{}, 1]);
    await (await opened(instance, store)).clear();
    expect(store.values.size).toBe(0);
  });
});
