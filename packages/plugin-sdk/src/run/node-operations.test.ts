import * as z from 'zod';
import { definePlugin, FatalError, isMarkedError, nodeType, operationErrorMark } from '../index';
import { testNode } from '../testing';
import { emptyRecords, type Records, samplePlugin } from '../testing/sample-plugin';

const TYPE = 'dns.nodes.Record';
const PASSWORD = 'open sesame';
const properties = { zone: 'example.org', ip: '10.0.0.1', password: PASSWORD };

let records: Records;
const node = (more: object = {}) =>
  testNode(samplePlugin(records), TYPE, {
    properties: { ...properties, ...more },
    secrets: { dns_token: 's3cr3t' },
  });
beforeEach(() => {
  records = emptyRecords();
});

const failureOf = async (work: Promise<unknown>): Promise<Error & { kind: string }> => {
  const thrown = await work.then(
    () => new Error('it did not fail'),
    (error: Error) => error,
  );
  return Object.assign(thrown, { kind: isMarkedError(thrown) ? thrown[operationErrorMark] : 'unmarked' });
};

describe('values', () => {
  it('get defaults, and inherited properties and nulls do not disturb', async () => {
    const record = node({ install_agent: true, tags: null });
    await record.run('create');
    expect(records.byId.get('r1')).toEqual({ ip: '10.0.0.1', ttl: 300 });
    expect(record.runtimeProperties).toEqual({ id: 'r1' });
  });

  it('are refused for good, by name and without the value, before anything happens', async () => {
    const failure = await failureOf(node({ ttl: 0, kind: 'MX' }).run('create'));
    expect(failure.kind).toBe('fatal');
    expect(failure.message).toMatch(/^properties\.ttl: .+; properties\.kind: /);
    expect(records.calls).toEqual([]);
    const wrong = await failureOf(node({ password: 5_551_212 }).run('create'));
    expect(wrong.message).toMatch(/^properties\.password: /);
    expect(wrong.message).not.toContain('5551212');
  });

  it('of inputs are checked the same way', async () => {
    expect(await node().run('renew', { why: 'new' })).toBe('30 days: new');
    const failure = await failureOf(node().run('renew', { days: 91 }));
    expect(failure.message).toMatch(/inputs\.days: .*; inputs\.why: /);
  });
});

describe('secrets and sensitive values', () => {
  it('are masked in log lines', async () => {
    const record = node();
    await record.run('create');
    expect(record.log.map(({ message }) => message)).toEqual(['with ******** and ********']);
  });

  it('are masked in errors, also of the logger of ctx and of causes', async () => {
    const plugin = definePlugin({
      name: 'p',
      version: '1.0.0',
      secrets: ['key'],
      types: {
        'p.T': nodeType({
          create: async ({ ctx, secret }) => {
            const key = await secret('key');
            ctx.logger.error(`ctx: ${key}`);
            ctx.logger.info('second line of the key');
            throw new FatalError(`refused ${key}`, { cause: new AggregateError([new Error(`by ${key}`)]) });
          },
        }),
      },
    });
    const record = testNode(plugin, 'p.T', { secrets: { key: 'abcd1234\nsecond line of the key\n' } });
    const failure = await failureOf(record.run('create'));
    const [inner] = (failure.cause as AggregateError).errors;
    expect([failure.message, inner.message]).toEqual(['refused ********', 'by ********']);
    expect(failure.stack).not.toContain('abcd1234');
    expect(record.log).toEqual([
      { level: 'error', message: 'ctx: ********' },
      { level: 'info', message: '********' },
    ]);
  });

  it('cannot be read without a declaration, by ctx either', async () => {
    const plugin = definePlugin({
      name: 'p',
      version: '1.0.0',
      types: {
        'p.T': nodeType({ create: ({ ctx }) => ctx.secret('other'), start: ({ secret }) => secret('other') }),
      },
    });
    const record = testNode(plugin, 'p.T', { secrets: { other: 'x' } });
    for (const operation of ['create', 'start'])
      expect((await failureOf(record.run(operation))).message).toContain('does not declare the secret other');
  });
});

it('runtime shows the present properties, also after a step has replaced them, and can be copied', async () => {
  const plugin = definePlugin({
    name: 'p',
    version: '1.0.0',
    types: {
      'p.T': nodeType({
        runtime: z.object({ a: z.number(), b: z.number(), c: z.number() }),
        create: async ({ runtime, step, ctx }) => {
          runtime.a = 1;
          await step('first', async () => null);
          runtime.b = 2;
          delete runtime.a;
          Object.assign(runtime, { c: 3 });
          return [{ ...runtime }.b, 'a' in runtime, (await ctx.instance()).runtimeProperties.b!];
        },
      }),
    },
  });
  const record = testNode(plugin, 'p.T');
  expect(await record.run('create')).toEqual([2, false, 2]);
  expect(record.runtimeProperties).toEqual({ b: 2, c: 3 });
});

describe('derived operations', () => {
  const created = async () => {
    const record = node();
    await record.run('create');
    records.calls.length = 0;
    return record;
  };

  it('check_status: nothing to say while the thing is there, a sentence when it is gone', async () => {
    const record = await created();
    expect(await record.run('check_status')).toBeNull();
    records.byId.clear();
    const failure = await failureOf(record.run('check_status'));
    expect([failure.kind, failure.message]).toEqual([
      'fatal',
      'what the plugin dns made for this node instance does not exist any more',
    ]);
  });

  it('check_drift: data, and null without a difference', async () => {
    const record = await created();
    expect(await record.run('check_drift')).toBeNull();
    records.byId.set('r1', { ip: '10.9.9.9', ttl: 300 });
    expect(await record.run('check_drift')).toEqual([
      { path: 'ip', stored: '10.0.0.1', present: '10.9.9.9' },
    ]);
  });

  it('update: gets what differs', async () => {
    const record = await created();
    record.properties.ttl = 60;
    await record.run('update');
    expect(records.calls).toEqual(['update {"ttl":60}']);
    expect(await record.run('check_drift')).toBeNull();
  });

  it('heal: nothing to do, an update in place, or a new one when the thing is gone', async () => {
    const record = await created();
    await record.run('heal');
    expect(records.calls).toEqual([]);
    records.byId.set('r1', { ip: '10.9.9.9', ttl: 300 });
    await record.run('heal');
    expect(records.calls).toEqual(['update {"ip":"10.0.0.1"}']);
    records.byId.clear();
    records.byId.set('r7', { ip: 'of somebody else', ttl: 1 });
    await record.run('heal');
    expect(records.calls.slice(1)).toEqual(['delete', 'make', 'announce']);
    expect(record.runtimeProperties).toEqual({ id: 'r2' });
  });

  it('heal without update: removed and made again', async () => {
    const { definition } = samplePlugin(records);
    const type = { ...definition.types[TYPE]!, update: undefined };
    const plugin = definePlugin({ ...definition, types: { [TYPE]: type } });
    const record = testNode(plugin, TYPE, { properties, secrets: { dns_token: 's3cr3t' } });
    await record.run('create');
    records.byId.set('r1', { ip: '10.9.9.9', ttl: 300 });
    records.calls.length = 0;
    await record.run('heal');
    expect(records.calls).toEqual(['delete', 'make', 'announce']);
    expect(await record.run('check_drift')).toBeNull();
  });

  it('pull: stores present values of declared names only', async () => {
    const record = await created();
    records.byId.set('r1', { ip: '10.9.9.9', ttl: 7, owner: 'x' } as never);
    await record.run('pull');
    expect(record.runtimeProperties).toEqual({ id: 'r1', ip: '10.9.9.9', ttl: 7 });
  });

  it('an answer of read that is no object is said to be the mistake', async () => {
    const plugin = definePlugin({
      name: 'p',
      version: '1.0.0',
      types: { 'p.T': nodeType({ properties: z.object({}), read: (() => 'here') as never }) },
    });
    const failure = await failureOf(testNode(plugin, 'p.T').run('check_status'));
    expect(failure.message).toBe(
      'read must answer an object, or null when the thing is gone; it answered string',
    );
  });
});
