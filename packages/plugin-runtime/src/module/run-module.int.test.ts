// Operations of TypeScript plugins in processes of their own, on each isolation that this machine has.
import type { IsolationName } from '@baton/isolation';
import { eventually } from '@baton/testkit';
import { MODES, type ModuleRig, makeModuleRig, moduleFolder } from '../testing/module-rig';

const OPERATIONS = `
  echo: (ctx, inputs) => ({ inputs, tenant: ctx.tenant, type: ctx.type, plugin: ctx.plugin, resumed: ctx.isResumed }),
  model: async (ctx) => {
    const [node, instance] = [await ctx.node(), await ctx.instance()];
    instance.runtimeProperties.made = { by: node.id, port: node.properties.port };
    return [node.type, instance.id];
  },
  related: async (ctx) => {
    const [source, target] = [await ctx.source(), await ctx.target()];
    source.instance.runtimeProperties.peer = target.node.id;
    await source.instance.update();
    return target.instance.id;
  },
  files: async (ctx) => {
    const text = Buffer.from(await ctx.getResource('plain.txt')).toString();
    const path = await ctx.downloadResource('plain.txt');
    const rendered = await ctx.downloadResourceAndRender('t.txt', undefined, { who: 'you' });
    const read = (file) => require('node:fs').readFileSync(file, 'utf8');
    return [text, read(path), read(rendered), (await ctx.getResource('large.bin')).length];
  },
  logs: (ctx) => {
    ctx.logger.warning('careful');
    console.log('printed', { by: 'console' });
    ctx.sendEvent('happened');
    ctx.progress(1, 4, 'copying');
  },
  secret: async (ctx) => {
    const value = await ctx.secret('token');
    ctx.logger.info('the value is ' + value);
    return value.length;
  },
  undeclared: (ctx) => ctx.secret('other'),
  fatal: () => { throw failure('fatal', 'no way'); },
  thrown: () => { throw new TypeError('odd'); },
  retry: (ctx) => ctx.operation.retry('later', 7),
  deferred: () => { throw failure('deferred', 'waits', 3); },
  steps: async (ctx) => {
    const runs = [];
    const first = await ctx.step('first', async () => { runs.push(1); return { n: 1 }; });
    if (ctx.operation.retryNumber === 0) throw failure('retryable', 'half way');
    const second = await ctx.step('second', async () => { runs.push(2); return 2; });
    return { first, second, runs };
  },
  look: async (ctx) => (await ctx.instance()).id,
  pid: () => process.pid,
  wait: (ctx) => new Promise((resolve, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('aborted')))),
  environment: () => process.env,
  sizes: () => ({ big: 1n }),
`;

const folder = (): string => moduleFolder(OPERATIONS);

function rigOf(mode: IsolationName): ModuleRig {
  const rig = makeModuleRig(mode, folder());
  rig.host.files = {
    'plain.txt': 'of the blueprint',
    't.txt': 'for {{ who }} on {{ ctx.node.id }}',
    'large.bin': 'x'.repeat(2_500_000),
  };
  rig.host.secrets = { token: 'very-secret-value', other: 'not declared' };
  return rig;
}

describe.each(MODES)('with isolation %s', (mode) => {
  let rig: ModuleRig;
  beforeAll(() => {
    rig = rigOf(mode);
  });

  it('gives inputs, facts and the model, and stores runtime properties', async () => {
    expect(await rig.module('echo', { inputs: { a: [1, null] } })).toEqual({
      kind: 'succeeded',
      result: {
        inputs: { a: [1, null] },
        tenant: 'default_tenant',
        type: 'node-instance',
        plugin: expect.objectContaining({ name: 'mine', properties: { region: 'x' } }),
        resumed: false,
      },
    });
    expect(await rig.module('model')).toEqual({ kind: 'succeeded', result: ['t.Node', 'web_abc123'] });
    expect(rig.host.instances.get('web_abc123')).toMatchObject({
      runtime_properties: { made: { by: 'web', port: 8080 } },
    });
    const related = { nodeInstanceId: 'db_def456', nodeId: 'db', isTarget: true };
    expect(await rig.module('related', { related })).toEqual({ kind: 'succeeded', result: 'db_def456' });
    expect(rig.host.instances.get('web_abc123')!.runtime_properties.peer).toBe('db');
    rig.task.related = null;
  });

  it('reads and renders files, also those larger than one message part', async () => {
    expect(await rig.module('files')).toEqual({
      kind: 'succeeded',
      result: ['of the blueprint', 'of the blueprint', 'for you on web', 2_500_000],
    });
  });

  it('passes on lines, events, progress and what is printed, and hides a secret from then on', async () => {
    rig.host.lines.length = 0;
    await rig.module('logs');
    expect(rig.host.lines).toEqual([
      { kind: 'log', level: 'warning', message: 'careful' },
      { kind: 'log', level: 'info', message: "printed { by: 'console' }" },
      { kind: 'event', level: 'info', message: 'happened' },
      { kind: 'log', level: 'info', message: 'progress 1/4 (25 %): copying' },
    ]);
    expect(await rig.module('secret')).toMatchObject({ kind: 'succeeded', result: 17 });
    expect(rig.host.logged().at(-1)).toBe('the value is ********');
    expect(await rig.module('undeclared')).toMatchObject({
      kind: 'failed',
      isRecoverable: false,
      failure: { message: expect.stringMatching(/does not declare the secret other; it declares: token/) },
    });
  });

  it('ends as the operation says', async () => {
    expect(await rig.module('fatal')).toMatchObject({
      kind: 'failed',
      isRecoverable: false,
      failure: { exceptionType: 'Odd', message: 'no way' },
    });
    expect(await rig.module('thrown')).toMatchObject({
      kind: 'failed',
      isRecoverable: true,
      failure: {
        exceptionType: 'TypeError',
        message: 'odd',
        traceback: expect.stringContaining('index.js'),
      },
    });
    expect(await rig.module('retry')).toMatchObject({
      kind: 'retry',
      retryAfter: 7,
      failure: { message: 'later' },
    });
    expect(await rig.module('deferred')).toEqual({
      kind: 'deferred',
      message: 'waits',
      untilExecution: null,
      checkAfter: 3,
    });
    expect(await rig.module('sizes')).toMatchObject({
      kind: 'failed',
      failure: { message: expect.stringContaining('JSON') },
    });
    expect(await rig.module('dolete', {})).toMatchObject({
      kind: 'failed',
      isRecoverable: false,
      failure: { message: expect.stringContaining('no operation dolete in plugin mine') },
    });
  });

  it('a step that is stored is not repeated by the next try, and is forgotten by the next operation', async () => {
    expect(await rig.module('steps')).toMatchObject({ kind: 'failed', isRecoverable: true });
    expect(rig.host.instances.get('web_abc123')!.runtime_properties.__baton_steps).toEqual({
      '0199-task': { first: { n: 1 } },
    });
    expect(await rig.module('steps', { retryNumber: 1 })).toEqual({
      kind: 'succeeded',
      result: { first: { n: 1 }, second: 2, runs: [2] },
    });
    // The worker may be lost before it has reported the end.
    expect(await rig.module('steps', { retryNumber: 2 })).toMatchObject({ result: { second: 2, runs: [] } });
    expect(await rig.module('look', { taskId: '0199-next' })).toMatchObject({ kind: 'succeeded' });
    expect(rig.host.instances.get('web_abc123')!.runtime_properties).not.toHaveProperty('__baton_steps');
    Object.assign(rig.task, { retryNumber: 0, taskId: '0199-task' });
  });

  it('has nothing of the environment of the worker', async () => {
    process.env.BATON_TEST_KEY = 'of the worker';
    const { result } = (await rig.module('environment')) as { result: Record<string, string> };
    delete process.env.BATON_TEST_KEY;
    expect(Object.keys(result).filter((name) => /BATON|DATABASE|AMQP/.test(name))).toEqual([]);
    expect(result).toMatchObject({ REST_HOST: '127.0.0.1', TMPDIR: expect.any(String) });
  });

  it('keeps its process for the next operation, and stops an operation that is cancelled', async () => {
    const [first, second] = [await rig.module('pid'), await rig.module('pid')];
    expect(second).toEqual(first);
    const cancel = new AbortController();
    const waiting = rig.module('wait', {}, cancel.signal);
    cancel.abort('cancelled');
    expect(await waiting).toEqual({ kind: 'stopped', reason: 'cancelled' });
    expect(await rig.module('wait', { timeoutMs: 300 })).toMatchObject({ kind: 'timed-out' });
    expect(await rig.module('pid', { timeoutMs: null })).toEqual(first);
  });
});

it('an idle process ends, and one that is worn is replaced', async () => {
  const idle = makeModuleRig('none', folder(), { idleMs: 50 });
  const first = (await idle.module('pid')) as { result: number };
  await eventually(async () => expect(() => process.kill(first.result, 0)).toThrow());
  const worn = makeModuleRig('none', folder(), { recycleOperations: 2 });
  const pids: unknown[] = [];
  for (let i = 0; i < 4; i++) pids.push(((await worn.module('pid')) as { result: number }).result);
  expect([pids[0] === pids[1], pids[1] === pids[2], pids[2] === pids[3]]).toEqual([true, false, true]);
});

it('code that cannot be loaded fails for good and says why', async () => {
  const rig = makeModuleRig('none', moduleFolder('a: () => 1', 'require("./absent")'));
  expect(await rig.module('a')).toMatchObject({
    kind: 'failed',
    isRecoverable: false,
    failure: { message: expect.stringMatching(/cannot be loaded: Cannot find module '\.\/absent'/) },
  });
});
