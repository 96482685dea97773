import {
  definePlugin,
  FatalError,
  OperationDeferred,
  type PluginOperation,
  RetryableError,
  resumable,
} from '@baton/plugin-sdk';
import { buildRegistry } from './registry';
import { makeRig } from './testing/memory-host';

async function call(operation: PluginOperation, task = {}, signal?: AbortSignal) {
  const rig = makeRig();
  rig.deps.operations = buildRegistry([
    definePlugin({ name: 'probe', operations: { 'probe.op': operation } }),
  ]);
  const end = await rig.run(
    { mapping: 'probe.op', plugin: { ...rig.task.plugin, name: 'probe' }, ...task },
    signal,
  );
  return { rig, end };
}

const REVOKED = Proxy.revocable(new Error('x'), {});
REVOKED.revoke();

describe('operations in the process', () => {
  it('get their inputs and return a result without opening the model', async () => {
    const { rig, end } = await call((ctx, inputs) => ({ id: ctx.deployment.id, ...inputs }), {
      inputs: { a: 1 },
    });
    expect([end, rig.host.opened]).toEqual([{ kind: 'succeeded', result: { id: 'dep', a: 1 } }, 0]);
  });

  it('run again after a lost worker only when they say that they bear it', async () => {
    let runs = 0;
    const operation: PluginOperation = () => ++runs;
    expect((await call(operation, { isResumed: true })).end).toMatchObject({
      kind: 'failed',
      isRecoverable: false,
      failure: { message: expect.stringContaining('Cannot resume - operation not resumable: probe.op') },
    });
    expect(runs).toBe(0);
    expect((await call(resumable(operation), { isResumed: true })).end).toEqual({
      kind: 'succeeded',
      result: 1,
    });
  });

  it('have changed runtime properties stored, also after a failure', async () => {
    const { rig, end } = await call(async (ctx) => {
      (await ctx.instance()).runtimeProperties.nested = { a: [1] };
      ctx.logger.warning('hm');
      throw new RetryableError('slow', { retryAfter: 3 });
    });
    expect(end).toMatchObject({
      kind: 'failed',
      isRecoverable: true,
      retryAfter: 3,
      failure: { exceptionType: 'RecoverableError' },
    });
    expect(rig.host.instances.get('web_abc123')).toMatchObject({
      version: 2,
      runtime_properties: { nested: { a: [1] } },
    });
    expect(rig.host.lines).toEqual([{ kind: 'log', level: 'warning', message: 'hm' }]);
  });

  it('that wait have changed runtime properties stored', async () => {
    const untilExecution = '0198d7a0-0000-7000-8000-000000000001';
    const { rig, end } = await call(async (ctx) => {
      (await ctx.instance()).runtimeProperties.child = untilExecution;
      throw new OperationDeferred('the install of child', { untilExecution, checkAfter: 5 });
    });
    expect(end).toEqual({ kind: 'deferred', message: 'the install of child', untilExecution, checkAfter: 5 });
    expect(rig.host.instances.get('web_abc123')).toMatchObject({
      runtime_properties: { child: untilExecution },
    });
  });

  it('fail recoverably when another writer was first', async () => {
    const rig = makeRig();
    const operation: PluginOperation = async (ctx) => {
      const instance = await ctx.instance();
      instance.runtimeProperties.n = 1;
      await rig.host.saveRuntimeProperties({ instanceId: instance.id, version: 1, properties: { n: 7 } });
    };
    rig.deps.operations = buildRegistry([{ name: 'p', version: '', operations: { op: operation } }]);
    expect(await rig.run({ mapping: 'op' })).toMatchObject({
      kind: 'failed',
      isRecoverable: true,
      failure: { exceptionType: 'CloudifyClientError' },
    });
    expect(rig.host.instances.get('web_abc123')?.runtime_properties).toEqual({ n: 7 });
  });

  it.each([
    [
      () => {
        throw new FatalError('never');
      },
      {
        kind: 'failed',
        isRecoverable: false,
        failure: { exceptionType: 'NonRecoverableError', message: 'never' },
      },
    ],
    [
      () => {
        throw new TypeError('bug');
      },
      {
        kind: 'failed',
        isRecoverable: true,
        failure: { exceptionType: 'TypeError', traceback: expect.stringContaining('invoke.test') },
      },
    ],
    [
      (ctx: Parameters<PluginOperation>[0]) => {
        ctx.operation.retry('later', 4);
        return 'ignored';
      },
      { kind: 'retry', retryAfter: 4, failure: { message: 'later' } },
    ],
    [(ctx: Parameters<PluginOperation>[0]) => ctx.source(), { kind: 'failed', isRecoverable: false }],
  ])('end as they say %#', async (operation, expected) => {
    expect((await call(operation as PluginOperation)).end).toMatchObject(expected);
  });

  it.each<[unknown, object]>([
    [Object.create(null), { failure: { exceptionType: 'Error', message: '{}' } }],
    [Symbol('s'), { failure: { message: 'Symbol(s)' } }],
    [{ code: 5 }, { failure: { message: '{"code":5}' } }],
    [REVOKED.proxy, { failure: { exceptionType: 'Error', message: expect.any(String) } }],
    [
      Object.assign(new Error(), { message: { a: 1 }, name: 5, stack: [] }),
      { failure: { exceptionType: 'Error', message: '{"a":1}', traceback: '' } },
    ],
    [
      Object.assign(new TypeError(), { message: null }),
      { failure: { exceptionType: 'TypeError', message: '' } },
    ],
    [
      Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('no');
        },
      }),
      { failure: { exceptionType: 'Error', message: '' } },
    ],
    [
      Object.assign(new FatalError('no'), { causes: 'none', exceptionType: {} }),
      { isRecoverable: false, failure: { exceptionType: 'FatalError', causes: [{ message: 'no' }] } },
    ],
    [
      Object.assign(new FatalError('no'), { causes: [null, 5, { message: { a: 1 } }] }),
      { failure: { causes: [{ type: '', message: '{"a":1}', traceback: '' }, { message: 'no' }] } },
    ],
    [new RetryableError('x', { retryAfter: Number.NaN }), { retryAfter: null }],
    [new RetryableError('x', { retryAfter: '5' as never }), { retryAfter: null }],
    [new RetryableError('x', { retryAfter: Number.POSITIVE_INFINITY }), { retryAfter: 3_153_600_000 }],
    [
      Object.assign(new OperationDeferred('x'), { untilExecution: 5, retryAfter: Number.NaN }),
      { kind: 'deferred', untilExecution: null, checkAfter: 60 },
    ],
  ])('end with texts and numbers, whatever they throw: %#', async (thrown, expected) => {
    const { end } = await call(() => {
      throw thrown;
    });
    expect(end).toMatchObject({ kind: 'failed', ...expected });
  });

  it.each([[[1]], ['text'], [null], [undefined]])(
    'cannot make %j their runtime properties',
    async (value) => {
      const { rig, end } = await call(async (ctx) => {
        (await ctx.instance()).runtimeProperties = value as never;
      });
      expect(end).toMatchObject({
        kind: 'failed',
        isRecoverable: false,
        failure: { message: 'runtime properties of web_abc123 must be a dictionary' },
      });
      expect(rig.host.instances.get('web_abc123')?.runtime_properties).toEqual({});
    },
  );

  it('send texts as events and log lines, whatever they hand over', async () => {
    const { rig } = await call((ctx) => {
      ctx.sendEvent({ a: 1 } as never);
      ctx.logger.info(Object.create(null));
    });
    expect(rig.host.lines.map(({ message }) => message)).toEqual(['{"a":1}', '{}']);
  });

  it('are given up at the time limit and when they are cancelled', async () => {
    const untilAborted: PluginOperation = (ctx) =>
      new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
    const timed = await call(untilAborted, { timeoutMs: 20, isTimeoutRecoverable: true });
    expect(timed.end).toMatchObject({ kind: 'timed-out', failure: { exceptionType: 'RecoverableError' } });
    const control = new AbortController();
    const cancelled = call(untilAborted, {}, control.signal);
    setImmediate(() => control.abort('cancelled'));
    expect((await cancelled).end).toEqual({ kind: 'stopped', reason: 'cancelled' });
  });

  it('are refused with the nearest name when nobody has them', async () => {
    const { end } = await call(() => 1, { mapping: 'probe.opp' });
    expect(end).toMatchObject({
      kind: 'failed',
      isRecoverable: false,
      failure: { message: 'no operation probe.opp in plugin probe on this worker; did you mean probe.op?' },
    });
  });
});
