import {
  definePlugin,
  FatalError,
  nodeType,
  OperationDeferred,
  OperationRetry,
  RetryableError,
} from '../index';
import { fakeClock, type TestNodeOptions, testNode } from '.';

type Create = NonNullable<Parameters<typeof nodeType>[0]['create']>;
const nodeOf = (create: Create, options: TestNodeOptions = {}) =>
  testNode(
    definePlugin({ name: 'p', version: '1.0.0', types: { 'p.T': nodeType({ create }) } }),
    'p.T',
    options,
  );

it('a sleep ends at once, and the time is later then; sleeps beside each other end in their order', async () => {
  const clock = fakeClock();
  const seen: unknown[] = [];
  const node = nodeOf(
    async ({ clock: time }) => {
      const start = time.now();
      const waited = async (ms: number) => {
        await time.sleep(ms);
        seen.push([ms, time.now() - start]);
      };
      await Promise.all([waited(3_600_000), waited(1000), waited(60_000)]);
    },
    { clock },
  );
  await node.run('create');
  expect(seen).toEqual([
    [1000, 1000],
    [60_000, 60_000],
    [3_600_000, 3_600_000],
  ]);
});

it('retries come when a manager would make them', async () => {
  const at: number[] = [];
  const node = nodeOf(({ ctx, clock }) => {
    at.push(clock.now());
    if (at.length === 1) throw new RetryableError('later', { retryAfter: 60 });
    if (at.length === 2) throw new OperationRetry('not yet');
    if (at.length === 3) ctx.operation.retry('once more', 5);
    return ctx.operation.retryNumber;
  });
  expect(await node.runToEnd('create')).toEqual({
    result: 3,
    runs: 4,
    retries: 3,
    deferrals: 0,
    tookMs: 80_000,
  });
  expect(at.map((ms) => ms - at[0]!)).toEqual([0, 60_000, 75_000, 80_000]);
});

it('a deferral is no retry, and the state of the next look lies in runtime properties', async () => {
  const node = nodeOf(({ runtime }) => {
    const state = runtime as { looks?: number };
    state.looks = (state.looks ?? 0) + 1;
    if (state.looks < 5) throw new OperationDeferred('the server', { checkAfter: 600 });
    return state.looks;
  });
  const ended = await node.runToEnd('create', {}, { maxRetries: 0 });
  expect(ended).toEqual({ result: 5, runs: 5, retries: 0, deferrals: 4, tookMs: 2_400_000 });
});

it('the last failure is thrown: a fatal one at once, others after the last retry', async () => {
  let runs = 0;
  const node = nodeOf(({ inputs }) => {
    runs++;
    throw inputs.fatal ? new FatalError('no') : new Error('busy');
  });
  await expect(node.runToEnd('create', { fatal: true })).rejects.toThrow('no');
  expect(runs).toBe(1);
  await expect(node.runToEnd('create', {}, { maxRetries: 3 })).rejects.toThrow('busy');
  expect(runs).toBe(5);
});

it('the time limit stops the operation, and nothing is stored then', async () => {
  const node = nodeOf(
    async ({ clock, signal, runtime }) => {
      Object.assign(runtime, { half: true });
      await clock.sleep(600_000);
      return signal.aborted;
    },
    { clock: fakeClock() },
  );
  await expect(node.run('create', {}, { timeoutMs: 60_000 })).rejects.toThrow(
    'the operation has not ended within its time limit of 60 s',
  );
  expect(node.runtimeProperties).toEqual({});
  expect(await node.run('create', {}, { timeoutMs: 601_000 })).toBe(false);
  const waiting = nodeOf(() => {
    throw new OperationDeferred('the server', { checkAfter: 50 });
  });
  await expect(waiting.runToEnd('create', {}, { timeoutMs: 120_000 })).rejects.toThrow('time limit of 120 s');
});
