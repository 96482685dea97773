import { plugged } from './testing/blueprints';
import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

type Start = TestDeployments['peers']['executions']['startExecution'];
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
  // A request starts a round by itself: it ends before a lease is taken away, or two would work on one update.
  await loop.tickOnce();
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
/** Performs the steps of the workflow `update` for the latest update of the deployment. */
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
    // A process that died has stored the update that it began: its successor does not begin a second one.
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
  // When nothing is to be updated, the work may have advanced one step before the answer.
  expect(['executing_workflow', 'finalizing']).toContain(again.state);
  expect(again).toMatchObject({ deployments_to_update: [], forced: true });
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

it('begins the update of a deployment again that nobody could start, or whose starter died', async () => {
  const executions = test.peers.executions as { startExecution: Start };
  const start = executions.startExecution;
  await test.create('last', { blueprint_id: 'plugged-again' });
  test.catalog.updates.set('plugged-again', plugged('2.0'));
  executions.startExecution = async (request, call) => {
    if (request.workflowId === 'update') throw new Error('the connection is gone');
    return await start(request, call);
  };
  const started = (await initiate('plugged-again')).body;
  await drive();
  const updates = async () => (await test.call('GET', '/deployment-updates?deployment_id=last')).body.items;
  expect(await updates()).toMatchObject([{ state: 'updating', execution_id: null }]);
  executions.startExecution = start;
  await drive();
  expect(await updates()).toMatchObject([{ state: 'updating', execution_id: expect.any(String) }]);
  await carryOut('last');
  await drive();
  expect((await read(started.id)).state).toBe('successful');
  expect((await updates()).map((one: { state: string }) => one.state)).toEqual(['successful']);
});

describe('in all tenants', () => {
  const right = 'plugins_update_create';
  const bob = (tenant: string, permissions: string[] = []) =>
    principal('bob', { tenant, permissions, tenants: [{ name: tenant, roles: ['user'] }] });
  const make = async (tenant: string, id: string, visibility: string) => {
    const body = { blueprint_id: 'plugged-global', visibility };
    const as = principal('carol', { tenant, tenants: [{ name: tenant, roles: ['user'] }] });
    expect((await test.call('PUT', `/deployments/${id}`, body, as)).status).toBe(201);
  };
  beforeAll(async () => {
    test.catalog.updates.set('plugged-global', plugged('2.0'));
    for (const at of ['default_tenant', 't-user', 't-manager', 't-viewer']) {
      await make(at, `${at}-shared`, 'tenant');
      await make(at, `${at}-private`, 'private');
    }
    test.peers.rights.set('bob@t-user', [right]);
    test.peers.rights.set('bob@t-manager', [right, 'administrators']);
    test.peers.rights.set('bob@t-viewer', ['deployment_list']);
  });

  it('the rights that count in a tenant are those of its members', async () => {
    const own = bob('default_tenant', [right, 'administrators']);
    const path = '/plugins-updates/plugged-global/update/initiate';
    const started = (await test.call('PUT', path, { all_tenants: true }, own)).body;
    // Includes private deployments only where bob is an administrator, and nothing of a tenant that he may only read.
    expect(started.deployments_per_tenant).toEqual({
      default_tenant: ['default_tenant-shared', 'default_tenant-private'],
      't-user': ['t-user-shared'],
      't-manager': ['t-manager-shared', 't-manager-private'],
    });
    test.peers.rights.set('bob@t-user', []);
    const ended: string[] = [];
    for (let step = 0; step < 20 && (await read(started.id)).state === 'executing_workflow'; step++) {
      await drive();
      const { rows } = await test.db.pool.query(
        `select d.tenant, d.id as deployment_id, u.execution_id from deployment_updates u
           join deployments d on d.key = u.deployment_key where u.state = 'updating' and u.old_blueprint_id = 'plugged-global'`,
      );
      for (const { tenant: at, deployment_id, execution_id } of rows) {
        ended.push(deployment_id);
        await test.rpc.executionEnded({
          ...{ tenant: at, deploymentId: deployment_id, executionId: execution_id, workflowId: 'update' },
          ...{ status: 'failed', totalOperations: 0, finishedOperations: 0, lastStateSeq: 0 },
        });
      }
    }
    // The permission was revoked meanwhile: the update of that deployment was not started.
    expect(ended).toEqual([
      'default_tenant-shared',
      'default_tenant-private',
      't-manager-shared',
      't-manager-private',
    ]);
    const lines = test.peers.reports.flatMap((report) => report.log);
    expect(lines).toContain('Deployment t-user-shared failed: bob may not update it any more');
  });

  it('without the switch, or a blueprint that is not global, only the own tenant', async () => {
    const own = bob('default_tenant', [right, 'administrators']);
    const path = '/plugins-updates/plugged-global/update/initiate';
    const started = (await test.call('PUT', path, { force: true }, own)).body;
    expect(started.deployments_to_update).toEqual(['default_tenant-shared', 'default_tenant-private']);
    expect(started.deployments_per_tenant).toBeNull();
  });
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
