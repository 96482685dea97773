// Workflows that are scripts of the blueprint, functions of the workers or of uploaded plugins, on a manager with one slot for
// operations.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit';
import { buildSync } from 'esbuild';
import { tgzOf } from '../../services/catalog/src/testing/archives';
import { startE2eFleet, testOfServices } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, followExecution, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;

beforeAll(async () => {
  fleet = await startE2eFleet({
    env: {
      BATON_WORKER_SLOTS: '1',
      BATON_VALIDATE_RESPONSES: 'true',
      BATON_WORKER_HANDLERS: join(__dirname, '../handlers/workflows.js'),
    },
  });
  client = adminClient(fleet);
  await upload(client, 'code', archiveOf(join(__dirname, 'blueprints/workflow-code')));
  await upload(client, 'js', archiveOf(join(__dirname, 'blueprints/workflow-code-js')));
  await client.upload('uploadPlugin', { content: await flowsPlugin() });
  await upload(client, 'module', blueprintOfModule());
  for (const [id, blueprint_id] of Object.entries({
    code: 'code',
    other: 'code',
    js: 'js',
    module: 'module',
  }))
    await call(client, 'createDeployment', { id }, { blueprint_id });
});
afterAll(async () => await fleet?.stop());

/** The package of a TypeScript plugin with the same operations and workflows as the handlers of the workers. */
async function flowsPlugin(): Promise<Buffer> {
  const contents = `import * as sdk from '@baton/plugin-sdk';
import { handlers, workflows } from './handlers/workflows.js';
// Functions of the workers go before those of plugins, by their mapping.
const own = (functions) => Object.fromEntries(Object.entries(functions).map(([name, one]) => ['own.' + name, one]));
const about = { name: 'flows', version: '1.0.0' };
export default sdk.definePlugin({ ...about, operations: own(handlers(sdk)), workflows: own(workflows(sdk)) });`;
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: join(__dirname, '..') },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    alias: { '@baton/plugin-sdk': join(__dirname, '../../packages/plugin-sdk/src/index.ts') },
  });
  const about = { format: 1, name: 'flows', version: '1.0.0', main: 'index.js', types: [], secrets: [] };
  return tgzOf([
    { name: 'LICENSES.txt', content: '' },
    { name: 'index.js', content: Buffer.from(outputFiles[0]!.contents) },
    { name: 'plugin.json', content: JSON.stringify({ ...about, sdk: '0.2.0', description: 'flows' }) },
    { name: 'plugin.yaml', content: `plugins:\n  flows: ${FLOWS}\n` },
  ]);
}

const FLOWS = '{ executor: central_deployment_agent, package_name: flows, package_version: 1.0.0 }';

/** The blueprint of the functions of workers; its plugin is the uploaded one. */
function blueprintOfModule(): Buffer {
  const outside = mkdtempSync(join(tmpdir(), 'baton-flows-'));
  try {
    const text = readFileSync(join(__dirname, 'blueprints/workflow-code-js/blueprint.yaml'), 'utf8');
    const folder = join(outside, 'module');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'blueprint.yaml'),
      text.replaceAll('js.', 'js.own.').replace(/^ {2}js: .*$/m, `  js: ${FLOWS}`),
    );
    return archiveOf(folder);
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
}

const SOON = { deadlineMs: 30_000 };
const start = async (deployment: string, workflow: string): Promise<string> =>
  (await call(client, 'startExecution', {}, { deployment_id: deployment, workflow_id: workflow })).id;
const act = (id: string, action: string) => call(client, 'actOnExecution', { executionId: id }, { action });
const said = async (id: string, text: string) =>
  await eventually(async () => {
    const { items } = await call(client, 'listEvents', {}, undefined, { execution_id: id, _size: 1000 });
    expect(items.map((item: { message: string }) => item.message)).toContainEqual(
      expect.stringContaining(text),
    );
  }, SOON);

/** Starts the workflow, stops it in the middle of its slow operation, and resumes it. */
async function stoppedAndResumed(deployment: string, workflow: string): Promise<string> {
  const id = await start(deployment, workflow);
  await said(id, 'slow begins');
  await act(id, 'force-cancel');
  expect((await followExecution(client, id)).status).toBe('cancelled');
  await act(id, 'resume');
  return id;
}

const OF_FUNCTIONS = {
  ofGraph: 'the graph left inner',
  failure: /^Task failed: (?:own\.)?ops.fail \(a_\w+:ops.fail\): RecoverableError `never`/,
  handled: ['asked 2', expect.stringMatching(/^caught true: Task failed/)],
  states: ['states started', 'states deleted'],
  cancelled: ['waiting', 'giving_in'],
};

/** The same workflows in both languages, with the texts that differ. */
const kinds = [
  {
    kind: 'scripts',
    deployment: 'code',
    ofGraph: 'the graph answered said inner',
    failure: /^Task failed: script_runner.tasks.run \(a_\w+:ops.fail\): ProcessException/,
    broken: /broken.py", line 4[\s\S]*ValueError: broken on purpose/,
    handled: ['asked [0, 1]', expect.stringMatching(/^caught .*exit_code: 3/)],
    states: ["states ['started']", "states ['deleted']"],
    cancelled: ['waiting'],
  },
  {
    kind: 'functions of workers',
    deployment: 'js',
    broken: /TypeError: broken on purpose[\s\S]*workflows\.js/,
    ...OF_FUNCTIONS,
  },
  {
    kind: 'functions of uploaded plugins',
    deployment: 'module',
    broken: /TypeError: broken on purpose[\s\S]*index\.js/,
    ...OF_FUNCTIONS,
  },
];

describe.each(kinds)('workflows that are $kind', (as) => {
  const { deployment } = as;

  test('run operations one after the other and see their results', async () => {
    const run = await follow(client, deployment, 'sequence', { parameters: { word: 'hi' } });
    expect(run).toMatchObject({ status: 'terminated' });
    expect(run.messages).toEqual(
      expect.arrayContaining([
        'op says hi',
        'a answered said hi',
        'b answered said hi',
        'heard',
        `sequence of ${deployment} is over`,
      ]),
    );
    expect(run.messages.at(-1)).toBe("'sequence' workflow execution succeeded");
    const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: deployment });
    expect(items.map((i: { state: string }) => i.state)).toEqual(['talked', 'talked']);
  });

  test('build graphs: order, retries, subgraphs', async () => {
    const run = await follow(client, deployment, 'graph');
    expect(run).toMatchObject({ status: 'terminated' });
    const told = run.messages.filter((m) => /^(first|inside|last|the graph|op says)/.test(m));
    expect(told).toEqual(['first', 'op says nothing', 'inside', 'op says inner', 'last', as.ofGraph]);
  });

  test('fail with what failed, and with the place in the code', async () => {
    const failing = await follow(client, deployment, 'failing');
    expect(failing).toMatchObject({ status: 'failed', error: expect.stringMatching(as.failure) });
    expect(failing.messages).not.toContain('never told');
    expect(failing.messages.filter((m) => m.startsWith('Sending task'))).toHaveLength(2);
    expect((await follow(client, deployment, 'broken')).error).toMatch(as.broken);
  });

  test('decide about failures and carry out steps of their own', async () => {
    const handled = await follow(client, deployment, 'handled');
    expect(handled).toMatchObject({ status: 'terminated' });
    expect(handled.messages).toEqual(expect.arrayContaining(['all the same', ...as.handled]));
    expect((await follow(client, deployment, 'local_steps')).messages).toContain('counted 42');
  });

  test('install and uninstall with the built-in sequences', async () => {
    const cycle = await follow(client, deployment, 'lifecycle');
    expect(cycle.error).toBeFalsy();
    expect(cycle.messages).toEqual(expect.arrayContaining(as.states));
  });

  test.each(as.cancelled)('hear of a cancel and start nothing more: %s', async (workflow) => {
    const id = await start(deployment, workflow);
    await said(id, 'slow begins');
    await act(id, 'cancel');
    const run = await followExecution(client, id);
    expect(run.status).toBe('cancelled');
    expect(run.messages).not.toContain('op says nothing');
  });

  test('run in dry run without doing anything', async () => {
    const run = await follow(client, deployment, 'sequence', { dry_run: true });
    expect(run.status).toBe('terminated');
    expect(run.messages).not.toContain('op says hello');
  });

  test('go on after a resume when they say so: what has ended is not done again', async () => {
    const id = await stoppedAndResumed(deployment, 'resumable');
    await said(id, 'came to the end');
    await eventually(async () => {
      expect((await call(client, 'getExecution', { executionId: id })).status).toBe('terminated');
    }, SOON);
    const { messages } = await followExecution(client, id);
    expect(messages.filter((m) => m === 'op says once')).toHaveLength(1);
    expect(messages.filter((m) => m.startsWith('code runs')).at(-1)).toMatch(/^code runs, resumed: true$/i);
  });
});

describe('workflow scripts', () => {
  test('start again after a resume, which somebody asked for, also when they do not say that they may', async () => {
    const id = await stoppedAndResumed('code', 'waiting');
    await eventually(async () => {
      expect((await call(client, 'getExecution', { executionId: id })).status).toBe('terminated');
    }, SOON);
  });

  test('run operations of relationships, and may do nothing at all', async () => {
    const run = await follow(client, 'code', 'sequence');
    expect(run.messages.filter((message) => / joins /.test(message))).toHaveLength(1);
    expect((await follow(client, 'code', 'nothing')).status).toBe('terminated');
  });

  test('scale with the built-in sequences', async () => {
    const scaled = await follow(client, 'other', 'scaling');
    expect(scaled.error).toBeFalsy();
    expect(scaled.messages).toContain(
      "now [('a', 'started'), ('a', 'uninitialized'), ('b', 'uninitialized')]",
    );
  });

  test('may have sequences of thousands of tasks; tasks that wait for each other are refused by name', async () => {
    const long = await follow(client, 'other', 'long');
    expect(long).toMatchObject({ status: 'terminated', error: '' });
    const steps = long.messages.filter((message) => message.startsWith('step '));
    expect([steps.length, steps[0], steps.at(-1)]).toEqual([5000, 'step 4999', 'step 0']);
    const circle = await follow(client, 'other', 'circle');
    expect(circle.messages).toContain('refused: tasks of the graph wait for each other: one -> two -> one');
    expect(circle).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/Tasks of the graph wait for each other: .*first.*second/),
    });
  });

  test('share one place with another execution of the same kind', async () => {
    const [one, two] = [await start('code', 'waiting'), await start('other', 'waiting')];
    const ends = await Promise.all([followExecution(client, one), followExecution(client, two)]);
    expect(ends.map((end) => end.status)).toEqual(['terminated', 'terminated']);
  });
});

describe.each(['code', 'js', 'module'])('workflows of %s', (deployment) => {
  testOfServices('are run again after the loss of their worker only when they say so', async () => {
    for (const workflow of ['resumable', 'waiting']) {
      const id = await start(deployment, workflow);
      await said(id, 'slow begins');
      for (const worker of fleet.workers()) {
        worker.signal('SIGKILL');
        await worker.ended();
        worker.start();
      }
      const run = await followExecution(client, id);
      if (workflow === 'waiting') {
        expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('not resumable') });
        // Its operation counts as running while the lost worker has the lease: a queued execution waits for the end of the lease.
        expect((await follow(client, deployment, 'sequence', { queue: true })).status).toBe('terminated');
        continue;
      }
      expect(run).toMatchObject({ status: 'terminated' });
      expect(run.messages.filter((m) => m.startsWith('code runs'))).toHaveLength(2);
      expect(run.messages.filter((m) => m === 'op says once')).toHaveLength(1);
    }
  });
});

describe.each(['js', 'module'])('workflow functions of %s', (deployment) => {
  const ended = async (id: string, status: string) =>
    await eventually(
      async () => expect((await call(client, 'getExecution', { executionId: id })).status).toBe(status),
      SOON,
    );

  test.each(['force-cancel', 'kill'])(
    'that never wait hold up nothing else on their worker, and end with %s',
    async (action) => {
      const id = await start(deployment, 'spinning');
      await said(id, 'slow begins');
      // With a single slot and a single worker, other operations and workflow code still run.
      expect((await follow(client, 'code', 'waiting')).status).toBe('terminated');
      expect((await call(client, 'getExecution', { executionId: id })).status).toBe('started');
      await act(id, action);
      await ended(id, 'cancelled');
      expect((await follow(client, deployment, 'sequence')).status).toBe('terminated');
    },
  );

  test('that break off fail alone: an error that nobody catches, too much memory', async () => {
    expect(await follow(client, deployment, 'leaving')).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('nobody catches it'),
    });
    expect(await follow(client, deployment, 'growing')).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/memory/i),
    });
    expect((await follow(client, deployment, 'sequence')).status).toBe('terminated');
  });

  test('fail after a resume when they do not say so', async () => {
    const id = await stoppedAndResumed(deployment, 'waiting');
    await eventually(async () => {
      expect(await call(client, 'getExecution', { executionId: id })).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('not resumable'),
      });
    }, SOON);
  });

  test('fail where tasks wait for each other, and name the nearest function', async () => {
    expect((await follow(client, deployment, 'circle')).error).toContain('wait for each other');
    expect((await follow(client, deployment, 'nowhere')).error).toMatch(
      /did you mean (own\.)?wf\.lifecycle\?/,
    );
  });
});

test('workflow functions of workers that log without end are held back, and end when they are told', async () => {
  const id = await start('js', 'talking');
  await said(id, 'slow begins');
  await act(id, 'force-cancel');
  expect((await followExecution(client, id)).status).toBe('cancelled');
  expect((await follow(client, 'js', 'sequence')).status).toBe('terminated');
});

test('scripts decide about every kind of task, replace what failed, and see what operations and steps raise', async () => {
  const run = await follow(client, 'code', 'deciding');
  expect([run.status, run.error || null]).toEqual(['terminated', null]);
  expect(run.messages).toEqual(
    expect.arrayContaining([
      "told ['succeeded said asked', 'failed True', 'succeeded 42', 'inner', 'NOP']",
      'all were asked',
      'nothing True',
      'attempt 1 failed of script_runner.tasks.run',
      'attempt 2 is over',
      'attempts are over',
      'objects [1, 2]',
      'raised RecoverableError',
      'raised ValueError',
    ]),
  );
  expect(run.messages).not.toContain('attempt 1 is over');
  const own = await call(client, 'listEvents', {}, undefined, {
    execution_id: run.id,
    event_type: 'own_stage',
  });
  expect(own.items.map((item: { message: string }) => item.message)).toEqual(['attempts are over']);
});

test('scripts roll half-done instances back and run built-in workflows as functions', async () => {
  const run = await follow(client, 'code', 'rolled_back');
  expect(run.error).toBeFalsy();
  expect(run.messages).toEqual(
    expect.arrayContaining([
      "rolled back ['a configured', 'b uninitialized']",
      "installed ['a started', 'b uninitialized']",
      'Starting operation ops.say',
      'Finished operation ops.say',
    ]),
  );
});

test('scripts call the REST service with the rights of their execution, whose token is told to nobody', async () => {
  const run = await follow(client, 'code', 'rest');
  expect([run.status, run.error || null]).toEqual(['terminated', null]);
  const answer =
    '{"by": "rest", "deployment": "code", "file": true, "nodes": ["a", "b"], "secret": 14, "tenant": "default_tenant"}';
  expect(run.messages).toEqual(
    expect.arrayContaining(['rest rest started other True', 'token ********', `rest answered ${answer}`]),
  );
});

test('a script that sets the status of its execution to cancelling is cancelled', async () => {
  const run = await follow(client, 'code', 'setting');
  expect(run.status).toBe('cancelled');
  expect(run.messages).toContain('the status is cancelling');
});
