import { AppError } from '@baton/kernel';
import { definePlugin, type WorkflowContext } from '@baton/plugin-sdk';
import { buildRegistry, buildWorkflowRegistry } from '../registry';
import { makeRig } from '../testing/memory-host';
import { memoryPort } from '../testing/memory-port';
import { invokeWorkflow } from './invoke-workflow';
import type { WorkPort } from './work';

async function run(
  code: (ctx: WorkflowContext) => unknown,
  { port, told }: Pick<ReturnType<typeof memoryPort>, 'port' | 'told'> = memoryPort(),
) {
  const rig = makeRig();
  const plugin = definePlugin({
    name: 'p',
    operations: {},
    workflows: { wf: (ctx) => code(ctx) as Promise<null> },
  });
  const runtime = { ...rig.deps, operations: buildRegistry([]), workflows: buildWorkflowRegistry([plugin]) };
  const task = { ...rig.task, mapping: 'wf', isWorkflowCode: true };
  const end = await invokeWorkflow(task, rig.host, port, runtime, AbortSignal.timeout(20_000));
  return { end, told };
}

const failed = (message: unknown) => ({ kind: 'failed', isRecoverable: false, failure: { message } });
const circle: unknown[] = [];
circle.push(circle);

it.each([
  ['a function', () => 1, /Task failed: step: NonRecoverableError `The result of the step cannot be told/],
  ['a BigInt', 1n, /cannot be told to the manager: .*BigInt/],
  ['a circle', circle, /cannot be told to the manager: Converting circular structure/],
])('a step that returns %s fails, and the workflow with it', async (_, result, message) => {
  const { end } = await run((ctx) => ctx.step('odd', () => result as never));
  expect(end).toMatchObject(failed(expect.stringMatching(message)));
});

it.each([
  [Object.create(null), 'Error', '{}'],
  [Object.assign(new Error(), { message: { code: 5 }, name: 7 }), 'Error', '{"code":5}'],
  [undefined, 'Error', 'undefined'],
])('a step that throws %p fails and says so', async (thrown, type, message) => {
  const { told } = await run((ctx) =>
    ctx.step('odd', () => {
      throw thrown;
    }),
  );
  expect(told.steps).toMatchObject([{ error: { type, message, recoverable: true } }]);
});

it.each([
  [undefined, { decision: 'fail' }],
  [null, { decision: 'fail' }],
  [{}, { decision: 'fail' }],
  [
    { decision: 'retry', retryAfter: Number.NaN },
    { decision: 'retry', retryAfterMs: null },
  ],
  [
    { decision: 'retry', retryAfter: '5' },
    { decision: 'retry', retryAfterMs: null },
  ],
  [{ decision: 'retry', retryAfter: Number.POSITIVE_INFINITY }, { decision: 'retry' }],
])('a handler of failures that answers %j decides all the same', async (answer, decision) => {
  const { told } = await run((ctx) => ctx.executeOperation('a', 'op', { onFailure: () => answer as never }));
  expect(told.decisions).toMatchObject([decision]);
});

it('work that cannot be told is refused at once, not again and again', async () => {
  const { end } = await run((ctx) => ctx.executeOperation('a', 'op', { kwargs: { n: 1n as never } }));
  expect(end).toMatchObject({ kind: 'failed', failure: { message: expect.stringContaining('BigInt') } });
});

it('code whose tasks cannot be followed any more ends and says why', async () => {
  const { port, told } = memoryPort();
  const lost: WorkPort = {
    ...port,
    await: async () => {
      throw new AppError('payload_too_large_error', 'the news of its tasks are too large');
    },
  };
  const { end } = await run((ctx) => ctx.step('any', () => 1), { port: lost, told });
  expect(end).toMatchObject(
    failed('The code of the workflow cannot go on: the news of its tasks are too large'),
  );
});
