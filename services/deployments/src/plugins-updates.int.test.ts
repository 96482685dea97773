import { plugged } from './testing/blueprints';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
const tenant = 'default_tenant';
beforeAll(async () => {
  test = await startTestDeployments();
  for (const id of ['one', 'two', 'new']) await test.create(id, { blueprint_id: 'plugged' });
  await test.create('other', { blueprint_id: 'plugged-too' });
}, 60_000);
afterAll(() => test.stop());

const initiate = (blueprint: string, body: object = {}) =>
  test.call('PUT', `/plugins-updates/${blueprint}/update/initiate`, body);
const read = async (id: string) => (await test.call('GET', `/plugins-updates/${id}`)).body;
const drive = async () => {
  const loop = test.parts.loops.find(({ name }) => name === 'drive-plugins-updates')!;
  await test.parts.stop?.();
  await test.db.query
    .updateTable('plugins_updates' as never)
    .set({ lease_until: null } as never)
    .execute();
  await loop.tickOnce();
};
const deployment = async (id: string) => (await test.call('GET', `/deployments/${id}`)).body;
const versions = async (id: string) =>
  (await test.call('GET', `/nodes?deployment_id=${id}`)).body.items[0].plugins.map(
    (one: { package_version: string }) => one.package_version,
  );
/** What the workflow `update` does, for the update that was started last on the deployment. */
async function carryOut(id: string): Promise<void> {
  const { items } = (await test.call('GET', `/deployment-updates?deployment_id=${id}&state=updating`)).body;
  const { id: updateId, execution_id: executionId } = items.at(-1);
  for (const call of ['update-prepare', 'update-perform', 'update-finish']) {
    const requestJson = JSON.stringify({ call, updateId });
    await test.rpc.callModel({ tenant, deploymentId: id, executionId, callName: call, requestJson });
  }
}

it('says so when every plugin has its version', async () => {
  const { status, body } = await initiate('plugged');
  expect([status, body.state, body.execution_id, body.temp_blueprint_id]).toEqual([
    200,
    'no_changes_required',
    null,
    null,
  ]);
});

it('updates the deployments one after the other, leaves out what is up to date, and switches the blueprint', async () => {
  test.catalog.updates.set('plugged', plugged('2.0'));
  const started = (await initiate('plugged', { all_to_latest: true })).body;
  expect(started).toMatchObject({
    state: 'executing_workflow',
    blueprint_id: 'plugged',
    deployments_to_update: ['one', 'two', 'new'],
    deployments_per_tenant: null,
    forced: false,
  });
  expect(test.peers.started.at(-1)).toMatchObject({ workflowId: 'update_plugin', deploymentId: '' });
  const second = await initiate('plugged');
  expect([second.status, second.body.error_code]).toEqual([409, 'conflict_error']);
  for (const id of ['one', 'two', 'new']) {
    await drive();
    expect(await versions(id)).toEqual(['1.0']);
    // A process that died has written down which update it began: whoever goes on begins no second one.
    await drive();
    await carryOut(id);
    expect(await versions(id)).toEqual(['2.0']);
  }
  await drive();
  expect(await read(started.id)).toMatchObject({ state: 'successful' });
  expect(test.catalog.has(started.temp_blueprint_id)).toBe(false);
  const updates = (await test.call('GET', '/deployment-updates?_sort=created_at')).body.items;
  expect(updates.map((one: { deployment_id: string }) => one.deployment_id)).toEqual(['one', 'two', 'new']);
  expect(await deployment('one')).toMatchObject({ blueprint_id: 'plugged' });
  expect(test.peers.reports.at(-1)).toMatchObject({ endStatus: 'terminated', error: '' });

  const again = (await initiate('plugged', { force: true })).body;
  expect(again).toMatchObject({ state: 'executing_workflow', deployments_to_update: [], forced: true });
  await drive();
  expect((await read(again.id)).state).toBe('successful');
});

it('goes on after one that fails, and then leaves the blueprint as it was', async () => {
  test.catalog.updates.set('plugged-too', plugged('2.0'));
  await test.create('refused', { blueprint_id: 'plugged-too' });
  const started = (await initiate('plugged-too')).body;
  await drive();
  const { items } = (await test.call('GET', '/deployment-updates?deployment_id=other')).body;
  await test.rpc.executionEnded({
    ...{ tenant, deploymentId: 'other', executionId: items[0].execution_id, workflowId: 'update' },
    ...{ status: 'failed', totalOperations: 0, finishedOperations: 0, lastStateSeq: 0 },
  });
  await drive();
  await carryOut('refused');
  await drive();
  expect((await read(started.id)).state).toBe('failed');
  expect(test.peers.reports.at(-1)).toMatchObject({
    endStatus: 'failed',
    error: expect.stringContaining('other'),
  });
  expect((await deployment('refused')).blueprint_id).toBe(started.temp_blueprint_id);
  expect(test.catalog.has(started.temp_blueprint_id)).toBe(true);
});

it('ends with a cancelled execution, and forgets the copy', async () => {
  const started = (await initiate('plugged-too')).body;
  test.peers.systemStatus.value = 'cancelling';
  await drive();
  test.peers.systemStatus.value = 'started';
  expect((await read(started.id)).state).toBe('failed');
  expect(test.catalog.has(started.temp_blueprint_id)).toBe(false);
  expect(test.peers.reports.at(-1)).toMatchObject({ endStatus: 'cancelled' });
});

it('is one that the loop goes on with when it broke off while it was prepared', async () => {
  const executions = test.peers.executions as { startExecution: unknown };
  const start = executions.startExecution;
  executions.startExecution = async () => {
    executions.startExecution = start;
    throw new Error('the connection is gone');
  };
  expect((await initiate('plugged-too')).status).toBe(500);
  const { items } = (await test.call('GET', '/plugins-updates?state=updating')).body;
  await drive();
  expect(await read(items[0].id)).toMatchObject({
    state: 'executing_workflow',
    deployments_to_update: ['other'],
  });
  expect(test.peers.started.filter((one) => one.requestId === items[0].id)).toHaveLength(1);
});

it('refuses what does not exist, has the wrong form, or belongs to others', async () => {
  const codes = [
    await initiate('nothing'),
    await initiate('broken'),
    await initiate('plugged', { mapping: { probe: 2 } }),
    await initiate('plugged', { to_latest: 'probe' }),
    await test.call('GET', '/plugins-updates/nothing'),
    await test.call('GET', '/plugins-updates?state=nothing&nope=1'),
  ].map(({ status, body }) => `${status} ${body.error_code} ${body.field ?? ''}`.trim());
  expect(codes).toEqual([
    '404 not_found_error',
    '409 conflict_error',
    '400 bad_parameters_error mapping.probe',
    '400 bad_parameters_error to_latest',
    '404 not_found_error',
    '400 bad_parameters_error nope',
  ]);
});
