import { AppError } from '@baton/kernel';
import { definePlugin, type WorkflowContext } from '@baton/plugin-sdk';
import { buildRegistry, buildWorkflowRegistry } from '../registry';
import { makeRig } from '../testing/memory-host';
import { invokeWorkflow } from './invoke-workflow';
import type { StepResult, WorkDecision, WorkPort, WorkTask } from './work';

/** The part of the engine that code calls, in memory: steps and failing operations that ask. */
function memoryPort() {
  const tasks = new Map<string, WorkTask>();
  const told: { steps: StepResult[]; decisions: WorkDecision[] } = { steps: [], decisions: [] };
  let version = 0;
  let news = (): void => undefined;
  const change = (task: WorkTask): void => {
    tasks.set(task.key, task);
    version++;
    news();
  };
  const ofIdx = (idx: number): WorkTask => [...tasks.values()].find((task) => task.idx === idx)!;
  const port: WorkPort = {
    submit: async (work) => {
      // As on the wire: a value that is not JSON is not sent.
      const { items = [], steps = [], decisions = [] } = JSON.parse(plain(work)) as typeof work;
      for (const { key, item } of items) {
        const asksHow = item === 'step' ? 'started' : 'response-sent';
        const error = item === 'step' ? null : { type: 'E', message: 'failed' };
        const about = {
          kind: item,
          name: item,
          about: '',
          subgraph: null,
          attempt: 1,
          retries: 0,
          result: null,
        };
        change({ key, idx: tasks.size, ...about, state: asksHow, error, isAsking: true });
      }
      told.steps.push(...steps);
      told.decisions.push(...decisions);
      for (const { idx, result, error } of steps)
        change({ ...ofIdx(idx), state: error ? 'failed' : 'succeeded', result, error, isAsking: false });
      for (const { idx } of decisions) change({ ...ofIdx(idx), state: 'failed', isAsking: false });
      return { error: null, keys: items.map(({ key }) => key) };
    },
    await: async (after, signal) => {
      if (version === after.version)
        await new Promise<void>((resolve) => {
          news = resolve;
          signal.addEventListener('abort', () => resolve());
        });
      return { version, changes: [...tasks.values()], cancel: '' };
    },
    call: async () => null,
  };
  return { port, told };
}

function plain(work: unknown): string {
  return JSON.stringify(work, (_, value: unknown) => {
    if (typeof value === 'function' || (typeof value === 'number' && !Number.isFinite(value)))
      throw new TypeError('could not be cloned');
    return value;
  });
}

async function run(code: (ctx: WorkflowContext) => unknown, { port, told } = memoryPort()) {
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
