// Workflow code and its cancel: statements of reference/workflows.md ch. 9 (their numbers stand at the tests).
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit/eventually';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, followExecution, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
const DEPLOYMENT = 'statements';
type OperationItem = { parameters: { task_kwargs?: { executor?: string } } };
const SOON = { deadlineMs: 30_000 };

beforeAll(async () => {
  fleet = await startE2eFleet({
    env: { BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  await upload(client, DEPLOYMENT, archiveOf(join(__dirname, 'blueprints/workflow-statements')));
  await call(client, 'createDeployment', { id: DEPLOYMENT }, { blueprint_id: DEPLOYMENT });
  await succeed(client, DEPLOYMENT, 'install');
});
afterAll(async () => await fleet?.stop());

const start = async (workflow: string): Promise<string> =>
  (await call(client, 'startExecution', {}, { deployment_id: DEPLOYMENT, workflow_id: workflow })).id;
const act = (executionId: string, action: string) =>
  call(client, 'actOnExecution', { executionId }, { action });
const statusOf = async (executionId: string): Promise<string> =>
  (await call(client, 'getExecution', { executionId })).status;
const said = (executionId: string, message: string) =>
  eventually(async () => {
    const { items } = await call(client, 'listEvents', {}, undefined, {
      execution_id: executionId,
      _size: 100,
    });
    expect(items.map((item: { message: string }) => item.message)).toContain(message);
  }, SOON);

test('code that asks for a cancel ends by it; code that does not stays cancelling until it is forced (34)', async () => {
  const asks = await start('asks');
  await said(asks, 'asks');
  await act(asks, 'cancel');
  const run = await followExecution(client, asks);
  expect(run.status).toBe('cancelled');
  expect(run.messages).toContain('was told');
  const ignores = await start('ignores');
  await said(ignores, 'ignores');
  await act(ignores, 'cancel');
  expect(await statusOf(ignores)).toBe('cancelling');
  await act(ignores, 'force-cancel');
  expect((await followExecution(client, ignores)).status).toBe('cancelled');
});

test('a cancel right after the start ends it before anything has run, or stops it (37)', async () => {
  const id = await start('asks');
  await act(id, 'cancel');
  expect((await followExecution(client, id)).status).toBe('cancelled');
});

test('graph mode is refused while a task runs without it (74)', async () => {
  const run = await follow(client, DEPLOYMENT, 'switches');
  expect(run.status).toBe('failed');
  expect(run.error).toContain('Cannot switch to graph mode when tasks have already been executed');
});

test('one workflow scales three nodes, one after the other (53)', async () => {
  // The operation of the test before may still run.
  const run = await follow(client, DEPLOYMENT, 'scales', { queue: true });
  expect(run.status).toBe('terminated');
  const two = (node: string): string[] => Array(2).fill(`('${node}', 'started')`);
  expect(run.messages).toContain(`now [${[...two('a'), ...two('b'), ...two('c')].join(', ')}]`);
});

test('what is no plugin is refused, and leaves other plugins and deployments as they are (78)', async () => {
  const before = await call(client, 'listPlugins', {});
  const content = Buffer.from('neither a zip archive nor a wagon');
  await expect(client.upload('uploadPlugin', { content })).rejects.toMatchObject({ status: 400 });
  expect(await call(client, 'listPlugins', {})).toEqual(before);
  await succeed(client, DEPLOYMENT, 'execute_operation', { operation: 'ops.say', node_ids: ['b'] });
});

test('whatever the executor of an operation is, it runs on a worker (67, 68)', async () => {
  const ran = async (operation: string) => {
    const parameters = { operation: `ops.${operation}`, node_ids: ['guest'] };
    const { id, status, messages } = await follow(client, DEPLOYMENT, 'execute_operation', { parameters });
    expect([status, messages.filter((text) => text.startsWith('<out>'))]).toEqual([
      'terminated',
      ['<out> agent none'],
    ]);
    const operations = await call(client, 'listOperations', {}, undefined, { execution_id: id });
    return operations.flatMap(({ parameters }: OperationItem) => parameters.task_kwargs?.executor ?? []);
  };
  expect(await ran('where')).toEqual(['host_agent']);
  expect(await ran('where_central')).toEqual(['central_deployment_agent']);
});

test('a scaling that fails leaves the records of agents as they are, and no new instance (50, 54)', async () => {
  const instances = async () => {
    const query = { deployment_id: DEPLOYMENT, node_id: 'only' };
    const { items } = await call(client, 'listNodeInstances', {}, undefined, query);
    return items.map(({ id, state }: { id: string; state: string }) => ({ id, state }));
  };
  const before = await instances();
  const agent = { node_instance_id: before[0].id, state: 'started', create_rabbitmq_user: false };
  await call(client, 'createAgent', { name: 'agent-of-only' }, agent);
  const agents = await call(client, 'listAgents', {});
  const parameters = { scalable_entity_name: 'only', delta: 1 };
  const { status, messages } = await follow(client, DEPLOYMENT, 'scale', { parameters });
  expect(status).toBe('failed');
  expect(messages.some((text) => text.startsWith('Task failed'))).toBe(true);
  expect(await instances()).toEqual(before);
  expect(await call(client, 'listAgents', {})).toEqual(agents);
});
