// Workflows of TypeScript plugins: their code runs in a process of the plugin, their work goes to the engine.
import { eventually } from '@baton/testkit';
import { isRunning } from '../testing/memory-host';
import { memoryPort } from '../testing/memory-port';
import { makeModuleRig, moduleFolder } from '../testing/module-rig';
import { invokeWorkflow } from '../workflow/invoke-workflow';

const WORKFLOWS = `
  facts: async (ctx, parameters) => {
    console.log('printed');
    ctx.logger.info('told ' + JSON.stringify(parameters));
    const { nodes } = await ctx.model();
    const counted = await ctx.step('count', () => nodes.length);
    return [ctx.workflowId, ctx.tenant, ctx.isResumed, counted];
  },
  failing: async (ctx) => { await ctx.executeOperation('a', 'op'); },
  listening: async (ctx) => {
    ctx.logger.info('listens');
    await new Promise((resolve) => ctx.cancelSignal.addEventListener('abort', resolve));
    await ctx.step('late', () => 1);
  },
  spinning: async (ctx) => { await ctx.step('pid', () => process.pid); ctx.logger.info('spins'); setImmediate(() => { for (;;); }); await new Promise(() => undefined); },
  leaving: async () => { process.stderr.write('last words\\n'); process.exit(3); },
  again: { isResumable: true, run: async (ctx) => {
    const pid = await ctx.step('first', () => process.pid);
    if (!ctx.isResumed) process.exit(3);
    return [pid, process.pid];
  } },
  deferred: () => { throw failure('deferred', 'waits', 3); },
`;
const OPERATIONS = `
  pid: () => process.pid,
  asking: () => new Promise((resolve) => {
    const wire = process._getActiveHandles().find((one) => one.constructor.name === 'Socket' && one._handle && one._handle.fd > 2);
    wire.prependListener('data', (chunk) => resolve(chunk.toString('utf8', 4)));
    const body = Buffer.from(JSON.stringify({ t: 'call', op: 1, id: 99, method: 'submitWork', args: [{ items: [] }] }));
    const head = Buffer.alloc(4);
    head.writeUInt32BE(body.length);
    wire.write(Buffer.concat([head, body]));
  }),
`;

function makeCode() {
  const rig = makeModuleRig('none', moduleFolder(OPERATIONS, '', WORKFLOWS), { graceMs: 200 });
  const engine = memoryPort();
  const code = (mapping: string, inputs = {}, signal = AbortSignal.timeout(30_000)) =>
    invokeWorkflow(
      { ...rig.task, mapping, inputs, isWorkflowCode: true, self: null },
      rig.host,
      engine.port,
      rig.deps,
      signal,
    );
  return { rig, engine, code };
}
const fatal = (message: unknown) => ({ kind: 'failed', isRecoverable: false, failure: { message } });

it('the code has its parameters, the model, steps and the log', async () => {
  const { rig, engine, code } = makeCode();
  expect(await code('facts', { word: 'hi' })).toEqual({
    kind: 'succeeded',
    result: ['install', 'default_tenant', false, 2],
  });
  expect(rig.host.logged()).toEqual(['printed', 'told {"word":"hi"}']);
  expect(engine.told).toMatchObject({ steps: [{ result: 2 }], isResumable: false });
});

it('failed work fails the code, and a cancel reaches it', async () => {
  const { rig, engine, code } = makeCode();
  expect(await code('failing')).toMatchObject(fatal(expect.stringContaining('Task failed')));
  const end = code('listening');
  await eventually(async () => expect(rig.host.logged()).toContain('listens'));
  engine.requestCancel();
  expect(await end).toMatchObject({ kind: 'failed', failure: { exceptionType: 'ExecutionCancelled' } });
});

it('an unknown workflow is refused with the nearest name; code cannot be deferred', async () => {
  const { code } = makeCode();
  expect(await code('fakts')).toMatchObject(fatal(expect.stringContaining('did you mean facts?')));
  expect(await code('deferred')).toMatchObject(fatal('A workflow cannot be deferred'));
});

it('code that is stopped by force is killed when it does not end; operations of the plugin go on', async () => {
  const { rig, engine, code } = makeCode();
  const before = await rig.module('pid');
  const stop = new AbortController();
  const end = code('spinning', {}, stop.signal);
  await eventually(async () => expect(rig.host.logged()).toContain('spins'));
  const pid = engine.told.steps[0]!.result as number;
  stop.abort('cancelled');
  expect(await end).toEqual({ kind: 'stopped', reason: 'cancelled' });
  await eventually(async () => expect(isRunning(pid)).toBe(false));
  expect(await rig.module('pid')).toEqual(before);
});

it('code whose process is lost fails, unless it is resumable: then it begins again and keeps what has ended', async () => {
  const { engine, code } = makeCode();
  expect(await code('leaving')).toMatchObject(fatal(expect.stringMatching(/not resumable.*last words/s)));
  const { result } = (await code('again')) as { result: number[] };
  expect(result[0]).not.toBe(result[1]);
  expect(engine.told.isResumable).toBe(true);
});

it('an operation cannot submit work', async () => {
  const { rig } = makeCode();
  const { result } = (await rig.module('asking')) as { result: string };
  expect(result).toContain('only the code of a workflow does');
});
