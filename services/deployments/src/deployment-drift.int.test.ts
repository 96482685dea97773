import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

/** GET /deployments/{id}/drift: the results of the last checks as executions have stored them. */

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
});
afterAll(() => test.stop());

const AT = '2026-11-25T12:00:00.000Z';
const drift = (id: string, query = '', as = principal('admin')) =>
  test.call('GET', `/deployments/${id}/drift${query}`, undefined, as);

/** Stores a result as the engine does (packages/task-graph/src/effects.ts). */
async function record(deploymentId: string, instance: string, path: string[], result: unknown, ok = true) {
  const value = { ok, timestamp: AT, task: 'p.check', result };
  const state = {
    nodeInstanceId: instance,
    seq: Date.now(),
    state: '',
    systemPropertiesJson: JSON.stringify([{ edit: 'set', path, value }]),
  };
  await test.rpc.applyExecutionStates({
    executions: [
      { tenant: 'default_tenant', deploymentId, executionId: `e ${path} ${instance}`, states: [state] },
    ],
  });
}
async function instancesOf(id: string): Promise<Record<string, string>> {
  const { items } = (await test.call('GET', `/node-instances?deployment_id=${id}`)).body;
  return Object.fromEntries(items.map((one: { node_id: string; id: string }) => [one.node_id, one.id]));
}

it('shows expected and actual values of drifted instances, and only of those', async () => {
  await test.create('drifted', { blueprint_id: 'hello-flat' });
  const { app, host } = await instancesOf('drifted');
  await record('drifted', host!, ['configuration_drift'], null);
  expect((await drift('drifted')).body).toEqual({ deployment_id: 'drifted', total: 0, instances: [] });
  await record('drifted', app!, ['configuration_drift'], { size: { expected: 2, actual: 3 } });
  await record('drifted', app!, ['source_relationships_configuration_drift', host!], 'no route', false);
  const { status, body } = await drift('drifted');
  expect([status, body.total]).toEqual([200, 1]);
  expect(body.instances).toEqual([
    {
      id: app,
      node_id: 'app',
      index: 1,
      state: 'uninitialized',
      findings: [
        {
          of: 'instance',
          other_instance_id: null,
          is_check_failed: false,
          checked_at: AT,
          task: 'p.check',
          result: { size: { expected: 2, actual: 3 } },
          changes: [{ path: ['size'], expected: 2, actual: 3 }],
        },
        {
          of: 'source_of_relationship',
          other_instance_id: host,
          is_check_failed: true,
          checked_at: AT,
          task: 'p.check',
          result: 'no route',
          changes: [],
        },
      ],
    },
  ]);
  // The flag and the count in other answers agree with it.
  expect((await test.call('GET', '/deployments/drifted')).body.drifted_instances).toBe(1);
});

it('comes in pages', async () => {
  await test.create('many', { blueprint_id: 'contained' });
  const { items } = (await test.call('GET', '/node-instances?deployment_id=many')).body;
  for (const { id } of items) await record('many', id, ['configuration_drift'], true);
  const ids: string[] = [];
  for (let offset = 0; offset < items.length; offset += 2) {
    const { body } = await drift('many', `?_size=2&_offset=${offset}`);
    expect(body.total).toBe(items.length);
    ids.push(...body.instances.map((one: { id: string }) => one.id));
  }
  expect(new Set(ids)).toEqual(new Set(items.map((one: { id: string }) => one.id)));
  expect(ids).toHaveLength(items.length);
});

describe('webhooks', () => {
  const tick = () => test.parts.loops.find(({ name }) => name === 'tell-drift')!.tickOnce();
  /** Returns what was told since the last call. */
  async function told(): Promise<Record<string, unknown>[]> {
    const { rows } = await test.db.pool.query(
      `delete from deployments.outbox where envelope->>'type' = 'deployments.deployment-drift-changed.v1'
       returning envelope->'payload' as payload`,
    );
    return rows.map(({ payload }) => payload);
  }

  it('hear once for each deployment that instances began or ceased to differ, and nothing where nothing changed', async () => {
    await tick();
    await told();
    await test.create('heard', { blueprint_id: 'hello-flat' });
    const { app, host } = await instancesOf('heard');
    await record('heard', app!, ['configuration_drift'], null);
    await tick();
    expect(await told()).toEqual([]);
    await record('heard', app!, ['configuration_drift'], { size: 1 });
    await record('heard', host!, ['configuration_drift'], true);
    await tick();
    const of = { deploymentId: 'heard', blueprintId: 'hello-flat', changedAt: expect.any(String) };
    expect(await told()).toEqual([{ ...of, driftedInstances: 2, newlyDrifted: 2, noLongerDrifted: 0 }]);
    await record('heard', app!, ['configuration_drift'], { size: 2 });
    await record('heard', host!, ['configuration_drift'], null);
    // Two replicas at once.
    await Promise.all([tick(), tick()]);
    expect(await told()).toEqual([{ ...of, driftedInstances: 1, newlyDrifted: 0, noLongerDrifted: 1 }]);
    const { rows } = await test.db.pool.query('select from deployments.drift_changes');
    expect(rows).toEqual([]);
  });

  it('hear nothing of a deployment that is gone', async () => {
    await test.create('gone', { blueprint_id: 'hello-flat' });
    const { app } = await instancesOf('gone');
    await record('gone', app!, ['configuration_drift'], true);
    await test.db.pool.query(`delete from deployments.deployments where id = 'gone'`);
    await tick();
    expect(await told()).toEqual([]);
  });
});

it.each([
  ['?_size=1001', '_size'],
  ['?_size=x', '_size'],
  ['?_offset=-1', '_offset'],
  ['?_ofset=1', '_offset'],
])('refuses %s by its name', async (query, field) => {
  const { status, body } = await drift('nosuch', query);
  expect([status, body.error_code]).toEqual([400, 'bad_parameters_error']);
  expect(body.message).toContain(field);
});

it('is there for who may see the deployment, and for nobody else', async () => {
  await test.create('mine', { visibility: 'private' });
  await test.create('shared');
  const bob = principal('bob');
  const stranger = principal('bob', { tenant: 'other', tenants: [{ name: 'other', roles: ['user'] }] });
  expect((await drift('mine', '', bob)).status).toBe(404);
  expect((await drift('shared', '', bob)).status).toBe(200);
  expect((await drift('shared', '', stranger)).status).toBe(404);
  expect((await drift('nosuch')).status).toBe(404);
});
