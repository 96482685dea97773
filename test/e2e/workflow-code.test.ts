// Workflows that are scripts of the blueprint, on a whole manager with one place for operations.
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit';
import { type Fleet, startFleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, followExecution, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
const isServices = process.env.BATON_E2E_MODE === 'services';
const whereWorkersCanBeKilled = isServices ? test : test.skip;

beforeAll(async () => {
  fleet = await startFleet({
    mode: (process.env.BATON_E2E_MODE ?? 'standalone') as Fleet['mode'],
    workers: Number(process.env.BATON_E2E_WORKERS ?? 1),
    env: {
      BATON_WORKER_SLOTS: '1',
      BATON_VALIDATE_RESPONSES: 'true',
      BATON_WORKER_HANDLERS: join(__dirname, '../handlers/workflows.js'),
    },
  });
  client = adminClient(fleet);
  await upload(client, 'code', archiveOf(join(__dirname, 'blueprints/workflow-code')));
  await upload(client, 'js', archiveOf(join(__dirname, 'blueprints/workflow-code-js')));
  for (const [id, blueprint_id] of Object.entries({ code: 'code', other: 'code', js: 'js' }))
    await call(client, 'createDeployment', { id }, { blueprint_id });
});
afterAll(async () => await fleet?.stop());

const SOON = { deadlineMs: 30_000 };
const start = async (workflow: string, more: object = {}): Promise<string> =>
  (await call(client, 'startExecution', {}, { deployment_id: 'code', workflow_id: workflow, ...more })).id;
const cancel = (id: string, action: string) =>
  call(client, 'actOnExecution', { executionId: id }, { action });
const said = async (id: string, text: string) =>
  await eventually(async () => {
    const { items } = await call(client, 'listEvents', {}, undefined, { execution_id: id, _size: 1000 });
    expect(items.map((item: { message: string }) => item.message)).toContainEqual(
      expect.stringContaining(text),
    );
  }, SOON);

describe('workflow scripts', () => {
  test('run operations one after the other and see their results', async () => {
    const run = await follow(client, 'code', 'sequence', { parameters: { word: 'hi' } });
    expect(run).toMatchObject({ status: 'terminated' });
    expect(run.messages).toEqual(
      expect.arrayContaining([
        'op says hi',
        'a answered said hi',
        'b answered said hi',
        'heard',
        'sequence of code is over',
      ]),
    );
    expect(run.messages.at(-1)).toBe("'sequence' workflow execution succeeded");
    expect(run.messages.filter((message) => / joins /.test(message))).toHaveLength(1);
    const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'code' });
    expect(items.map((i: { state: string }) => i.state)).toEqual(['talked', 'talked']);
  });

  test('build graphs: order, retries, subgraphs', async () => {
    const run = await follow(client, 'code', 'graph');
    expect(run).toMatchObject({ status: 'terminated' });
    const told = run.messages.filter((m) => /^(first|inside|last|the graph|op says)/.test(m));
    expect(told).toEqual([
      'first',
      'op says nothing',
      'inside',
      'op says inner',
      'last',
      'the graph answered said inner',
    ]);
  });

  test('fail with what failed, and with the place in the code', async () => {
    const failing = await follow(client, 'code', 'failing');
    expect(failing.status).toBe('failed');
    expect(failing.error).toMatch(
      /^Task failed: script_runner.tasks.run \(a_\w+:ops.fail\): ProcessException/,
    );
    expect(failing.messages).not.toContain('never told');
    expect(failing.messages.filter((m) => m.startsWith('Sending task'))).toHaveLength(2);
    const broken = await follow(client, 'code', 'broken');
    expect(broken.error).toMatch(/broken.py", line 4[\s\S]*ValueError: broken on purpose/);
  });

  test('decide about failures, carry out steps of their own, and may do nothing at all', async () => {
    const handled = await follow(client, 'code', 'handled');
    expect(handled).toMatchObject({ status: 'terminated' });
    expect(handled.messages).toEqual(
      expect.arrayContaining(['all the same', 'asked [0, 1]', expect.stringMatching(/^caught Task failed/)]),
    );
    const steps = await follow(client, 'code', 'local_steps');
    expect(steps.messages).toContain('counted 42');
    expect((await follow(client, 'code', 'nothing')).status).toBe('terminated');
  });

  test('install, uninstall and scale with the built-in sequences', async () => {
    const cycle = await follow(client, 'code', 'lifecycle');
    expect(cycle.error).toBeFalsy();
    expect(cycle.messages).toEqual(expect.arrayContaining(["states ['started']", "states ['deleted']"]));
    const scaled = await follow(client, 'other', 'scaling');
    expect(scaled.error).toBeFalsy();
    expect(scaled.messages).toContain(
      "now [('a', 'started'), ('a', 'uninitialized'), ('b', 'uninitialized')]",
    );
  });

  test('hear of a cancel while they wait; nothing more is started', async () => {
    const id = await start('waiting');
    await said(id, 'slow begins');
    await cancel(id, 'cancel');
    const run = await followExecution(client, id);
    expect(run.status).toBe('cancelled');
    expect(run.messages).not.toContain('op says nothing');
  });

  test('share one place with another execution of the same kind', async () => {
    const [one, two] = [await start('waiting'), await start('waiting', { deployment_id: 'other' })];
    const ends = await Promise.all([followExecution(client, one), followExecution(client, two)]);
    expect(ends.map((end) => end.status)).toEqual(['terminated', 'terminated']);
  });

  test('run in dry run without doing anything', async () => {
    const run = await follow(client, 'code', 'sequence', { dry_run: true });
    expect(run.status).toBe('terminated');
    expect(run.messages).not.toContain('op says hello');
  });

  whereWorkersCanBeKilled('are run again after the loss of their worker only when they say so', async () => {
    for (const workflow of ['resumable', 'waiting']) {
      const id = await start(workflow);
      await said(id, 'slow begins');
      for (const worker of fleet.workers()) {
        worker.signal('SIGKILL');
        await worker.ended();
        worker.start();
      }
      const run = await followExecution(client, id);
      if (workflow === 'waiting') {
        expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('not resumable') });
        continue;
      }
      expect(run).toMatchObject({ status: 'terminated' });
      expect(run.messages.filter((m) => m.startsWith('code runs'))).toHaveLength(2);
      expect(run.messages.filter((m) => m === 'op says once')).toHaveLength(1);
    }
  });

  test('go on after a resume: what has ended is not done again', async () => {
    const id = await start('resumable');
    await said(id, 'slow begins');
    await cancel(id, 'force-cancel');
    expect((await followExecution(client, id)).status).toBe('cancelled');
    await cancel(id, 'resume');
    await said(id, 'came to the end');
    await eventually(async () => {
      expect((await call(client, 'getExecution', { executionId: id })).status).toBe('terminated');
    }, SOON);
    const { messages } = await followExecution(client, id);
    expect(messages.filter((m) => m === 'op says once')).toHaveLength(1);
  });
});

describe('workflow functions of plugins', () => {
  const startJs = (workflow: string) => start(workflow, { deployment_id: 'js' });

  test('run operations one after the other and see their results', async () => {
    const run = await follow(client, 'js', 'sequence', { parameters: { word: 'hi' } });
    expect(run).toMatchObject({ status: 'terminated' });
    expect(run.messages).toEqual(
      expect.arrayContaining([
        'op says hi',
        'a answered said hi',
        'b answered said hi',
        'heard',
        'sequence of js is over',
      ]),
    );
    const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'js' });
    expect(items.map((i: { state: string }) => i.state)).toEqual(['talked', 'talked']);
  });

  test('build graphs: order, retries, subgraphs', async () => {
    const run = await follow(client, 'js', 'graph');
    expect(run).toMatchObject({ status: 'terminated' });
    const told = run.messages.filter((m) => /^(first|inside|last|the graph|op says)/.test(m));
    expect(told).toEqual([
      'first',
      'op says nothing',
      'inside',
      'op says inner',
      'last',
      'the graph left inner',
    ]);
  });

  test('fail with what failed, with the place in the code, or because there is none', async () => {
    const failing = await follow(client, 'js', 'failing');
    expect(failing).toMatchObject({ status: 'failed' });
    expect(failing.error).toMatch(/^Task failed: ops.fail \(a_\w+:ops.fail\): RecoverableError `never`/);
    expect(failing.messages).not.toContain('never told');
    expect(failing.messages.filter((m) => m.startsWith('Sending task'))).toHaveLength(2);
    const broken = await follow(client, 'js', 'broken');
    expect(broken.error).toMatch(/TypeError: broken on purpose[\s\S]*workflows\.js/);
    expect((await follow(client, 'js', 'circle')).error).toContain('wait for each other');
    const nowhere = await follow(client, 'js', 'nowhere');
    expect(nowhere.error).toContain('did you mean wf.lifecycle?');
  });

  test('decide about failures and carry out steps of their own', async () => {
    const handled = await follow(client, 'js', 'handled');
    expect(handled).toMatchObject({ status: 'terminated' });
    expect(handled.messages).toEqual(
      expect.arrayContaining(['all the same', 'asked 2', expect.stringMatching(/^caught true: Task failed/)]),
    );
    expect((await follow(client, 'js', 'local_steps')).messages).toContain('counted 42');
  });

  test('install and uninstall with the built-in sequences', async () => {
    const cycle = await follow(client, 'js', 'lifecycle');
    expect(cycle.error).toBeFalsy();
    expect(cycle.messages).toEqual(expect.arrayContaining(['states started', 'states deleted']));
  });

  test('hear of a cancel: while they wait, and when they ask', async () => {
    for (const workflow of ['waiting', 'giving_in']) {
      const id = await startJs(workflow);
      await said(id, 'slow begins');
      await cancel(id, 'cancel');
      const run = await followExecution(client, id);
      expect(run.status).toBe('cancelled');
      expect(run.messages).not.toContain('op says nothing');
    }
  });

  test('run in dry run without doing anything', async () => {
    const run = await follow(client, 'js', 'sequence', { dry_run: true });
    expect(run.status).toBe('terminated');
    expect(run.messages).not.toContain('op says hello');
  });

  test('go on after a resume when they say so: what has ended is not done again', async () => {
    const id = await startJs('resumable');
    await said(id, 'slow begins');
    await cancel(id, 'force-cancel');
    expect((await followExecution(client, id)).status).toBe('cancelled');
    await cancel(id, 'resume');
    await eventually(async () => {
      expect((await call(client, 'getExecution', { executionId: id })).status).toBe('terminated');
    }, SOON);
    const { messages } = await followExecution(client, id);
    expect(messages.filter((m) => m === 'op says once')).toHaveLength(1);
    expect(messages).toEqual(
      expect.arrayContaining(['code runs, resumed: true', expect.stringContaining('came to the end')]),
    );
    const refused = await startJs('waiting');
    await said(refused, 'slow begins');
    await cancel(refused, 'force-cancel');
    await followExecution(client, refused);
    await cancel(refused, 'resume');
    await eventually(async () => {
      const { status, error } = await call(client, 'getExecution', { executionId: refused });
      expect([status, error]).toEqual(['failed', expect.stringContaining('not resumable')]);
    }, SOON);
  });
});
