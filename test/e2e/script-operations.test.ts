// Scripts as operations, from a blueprint to their end: statements of reference/workflows.md ch. 9 (their numbers stand at the tests).
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit/eventually';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import {
  adminClient,
  archiveOf,
  call,
  type Followed,
  follow,
  followExecution,
  succeed,
  upload,
} from '../harness/session';

let fleet: Fleet;
let client: Client;
let install: Followed;
const DEPLOYMENT = 'scripts';

beforeAll(async () => {
  fleet = await startE2eFleet({
    env: { BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  await upload(client, DEPLOYMENT, blueprint());
  await call(client, 'createDeployment', { id: DEPLOYMENT }, { blueprint_id: DEPLOYMENT });
  install = await succeed(client, DEPLOYMENT, 'install');
});
afterAll(async () => await fleet?.stop());

/** The blueprint with two scripts whose lines end as on Windows, which an editor here would change. */
function blueprint(): Buffer {
  const root = mkdtempSync(join(tmpdir(), 'baton-scripts-'));
  try {
    const folder = join(root, 'blueprint');
    cpSync(join(__dirname, 'blueprints/script-operations'), folder, { recursive: true });
    const shell = '#!/bin/bash\r\nif true; then\r\n  echo "from Windows"\r\nfi\r\n';
    writeFileSync(join(folder, 'scripts/windows.sh'), shell);
    writeFileSync(
      join(folder, 'scripts/windows.py'),
      'from cloudify import ctx\r\nif True:\r\n    ctx.logger.info("Python from Windows")\r\n',
    );
    return archiveOf(folder);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function run(operation: string, kwargs: object = {}, node = 'work'): Promise<Followed> {
  const parameters = {
    operation: `probe.${operation}`,
    node_ids: [node],
    operation_kwargs: kwargs,
    allow_kwargs_override: true,
  };
  return await follow(client, DEPLOYMENT, 'execute_operation', { parameters });
}

async function succeeded(operation: string, kwargs: object = {}, node = 'work'): Promise<string[]> {
  const done = await run(operation, kwargs, node);
  expect([done.status, done.error]).toEqual(['terminated', '']);
  return done.messages;
}

async function propertiesOf(node: string): Promise<Record<string, unknown>> {
  const query = { deployment_id: DEPLOYMENT, node_id: node };
  const { items } = await call(client, 'listNodeInstances', {}, undefined, query);
  return items[0].runtime_properties;
}

const times = (messages: readonly string[], text: RegExp): number =>
  messages.filter((message) => text.test(message)).length;

test('operations see the state of their instance; one without operations is started at once (8, 9)', async () => {
  expect((await propertiesOf('states')).seen).toEqual(['creating', 'configuring', 'starting']);
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: DEPLOYMENT });
  expect(items.map(({ state }: { state: string }) => state)).toEqual([
    'started',
    'started',
    'started',
    'started',
  ]);
  expect(install.messages).toContain('Node instance started (nothing to do)');
});

test('texts of several lines are scripts, of bash and of Python; inputs and results pass (5, 67)', async () => {
  expect(await succeeded('shell')).toContain('<out> shell said of work by probe.shell');
  expect(await succeeded('shell', { WORD: 'given' })).toContain('<out> shell given of work by probe.shell');
  expect(await succeeded('python', { WORD: 'given' })).toContain('<out> python given of work');
  const { items } = await call(client, 'listEvents', {}, undefined, {
    _size: 10_000,
    deployment_id: DEPLOYMENT,
  });
  const messages = JSON.stringify(items);
  expect(messages).toContain('"operation":"probe.python"');
});

test('the environment has inputs as JSON and variables of process, and nothing of the worker', async () => {
  const process = { env: { EXTRA: 'more' }, args: ['first'] };
  expect(await succeeded('environment', { process })).toEqual(
    expect.arrayContaining([
      '<out> environment {"b":[true,null]} None none none more first',
      '<out> function',
      '<out> 0',
    ]),
  );
});

test('line ends of Windows do not matter', async () => {
  expect(await succeeded('windows')).toContain('<out> from Windows');
  expect(await succeeded('windows_python')).toContain('Python from Windows');
});

test('retries are those of the operation, also none at all (17, 22)', async () => {
  const once = await run('once');
  expect(once.status).toBe('failed');
  expect(times(once.messages, /^<out> attempt/)).toBe(1);
  const twice = await run('twice');
  expect(twice.status).toBe('failed');
  expect(twice.messages.filter((text) => text.startsWith('<out> attempt'))).toEqual([
    '<out> attempt ',
    '<out> attempt 1',
  ]);
});

test('a script asks for a retry after its own time, goes on and is told so (21, 23, 71)', async () => {
  const messages = await succeeded('asks');
  expect(messages).toEqual(expect.arrayContaining(['<out> after the request', '<out> asked for it']));
  expect(times(messages, /Task rescheduled .* -> not yet/)).toBe(1);
  expect(times(messages, /\[retry 1\/2\]/)).toBeGreaterThan(0);
});

test('an abort is not tried again, whatever the exit code (20)', async () => {
  const shell = await run('aborts');
  expect([shell.status, times(shell.messages, /^Task started/)]).toEqual(['failed', 1]);
  expect(shell.error).toContain('no use');
  const python = await run('aborts_python');
  expect([python.status, times(python.messages, /^Task started/)]).toEqual(['failed', 1]);
  expect(python.messages).toContain('<out> goes on');
});

test('of two executions that count a property up the later one finds a conflict, and loses nothing (42)', async () => {
  const start = { deployment_id: DEPLOYMENT, workflow_id: 'execute_operation', force: true };
  const parameters = { operation: 'probe.counts', node_ids: ['work'], allow_kwargs_override: true };
  const { id } = await call(
    client,
    'startExecution',
    {},
    { ...start, parameters: { ...parameters, operation_kwargs: { waits: true } } },
  );
  const events = async (): Promise<string[]> =>
    (await call(client, 'listEvents', {}, undefined, { execution_id: id })).items.map(
      ({ message }: { message: string }) => message,
    );
  await eventually(async () => expect(await events()).toContain('has read 0'), { deadlineMs: 60_000 });
  // This one writes between the read and the write of the other.
  const between = await follow(client, DEPLOYMENT, 'execute_operation', { parameters, force: true });
  expect([between.status, times(between.messages, /^Task started/)]).toEqual(['terminated', 1]);
  const waited = await followExecution(client, id);
  expect([waited.status, times(waited.messages, /^Task started/)]).toEqual(['terminated', 2]);
  expect(times(waited.messages, /^Task failed .*`work_\w+` was changed meanwhile/)).toBe(1);
  expect((await propertiesOf('work')).count).toBe(2);
});

test('the event of a failure has its causes, those that the operation gives first (25)', async () => {
  const causesOf = async (operation: string) => {
    const { id, status } = await run(operation);
    expect(status).toBe('failed');
    const query = { execution_id: id, event_type: 'task_failed' };
    const { items } = await call(client, 'listEvents', {}, undefined, query);
    const ofOperation = items.filter(
      (event: { operation: string }) => event.operation === `probe.${operation}`,
    );
    expect(ofOperation).toHaveLength(1);
    return ofOperation[0].error_causes;
  };
  const broke = {
    type: 'RuntimeError',
    message: 'the saw broke',
    traceback: expect.stringMatching(/^Traceback[\s\S]*RuntimeError: the saw broke/),
  };
  expect(await causesOf('fails_by_itself')).toEqual([
    { ...broke, traceback: expect.stringMatching(/in breaks\n[\s\S]*RuntimeError: the saw broke/) },
  ]);
  const [given, own, ...more] = await causesOf('fails_with_cause');
  expect([given, more]).toEqual([broke, []]);
  expect(own).toMatchObject({ type: 'NonRecoverableError', message: 'no wood' });
  expect(own.traceback).not.toContain('RuntimeError');
});

test('a file that an operation wrote goes before the one of the blueprint (7, 69)', async () => {
  expect(await succeeded('reads')).toContain('<out> text of the blueprint');
  await succeeded('writes');
  expect(await succeeded('reads')).toContain('<out> text of the deployment');
});

test('resources are rendered into a given place or a fresh one (7)', async () => {
  const messages = await succeeded('renders');
  expect(messages.filter((text) => text.startsWith('<out> '))).toEqual([
    '<out> port 80 for you',
    '<out> port 80 for me',
    '<out> page.txt',
    '<out> refused 1',
  ]);
});

test('a script of an import with a namespace is found (70)', async () => {
  expect(await succeeded('speak', {}, 'inner--mouth')).toContain('<out> inner speaks as inner--mouth');
});

test('the folder of a plugin is that of the deployment (79)', async () => {
  // The part before the tenant is the worker's own.
  const folders = async (): Promise<(string | undefined)[]> =>
    (await succeeded('folders'))
      .filter((text) => text.startsWith('<out> plugin folder'))
      .map((text) => /\/default_tenant\/.*$/.exec(text)?.[0]);
  const wanted = ['/default_tenant/scripts/plugins/script'];
  expect([await folders(), await folders()]).toEqual([wanted, wanted]);
});

test('a property that delete removes is gone after uninstall, others stay (43)', async () => {
  await succeed(client, DEPLOYMENT, 'uninstall');
  expect(await propertiesOf('states')).toEqual({ kept: 1 });
});
