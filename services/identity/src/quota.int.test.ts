import { startTestIdentity, type TestIdentity } from './testing-identity';

/** Quotas that an administrator sets for a tenant, which override the configuration. */

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startTestIdentity({
    BATON_TENANT_MAX_DEPLOYMENTS: '5',
    BATON_TENANT_MAX_STORAGE_BYTES: '1000',
  });
  await identity.call('POST', '/tenants/t2', {});
});
afterAll(() => identity.stop());

const set = (body: object, tenant = 't2') => identity.call('PUT', `/tenants/${tenant}/quota`, body);

test('what is set goes before the default, what is left out stays, null is the default again', async () => {
  expect((await identity.call('GET', '/tenants/t2/quota')).body).toEqual({
    tenant_name: 't2',
    // No other service runs in this test, so no usage is known.
    max_deployments: { limit: 5, own: null, usage: null },
    max_running_executions: { limit: null, own: null, usage: null },
    max_queued_executions: { limit: null, own: null, usage: null },
    max_storage_bytes: { limit: 1000, own: null, usage: null },
    max_requests_per_minute: { limit: null, own: null, usage: null },
    worker_weight: null,
  });
  const first = await set({ max_deployments: -1, max_running_executions: 3, worker_weight: 0.5 });
  expect([first.status, first.body]).toEqual([
    200,
    expect.objectContaining({
      max_deployments: { limit: null, own: -1, usage: null },
      max_running_executions: { limit: 3, own: 3, usage: null },
      max_storage_bytes: { limit: 1000, own: null, usage: null },
      worker_weight: 0.5,
    }),
  ]);
  await Promise.all([set({ max_queued_executions: 9 }), set({ max_running_executions: 4 })]);
  const { defaults, tenants } = await identity.rpc.listLimits({});
  expect(defaults).toMatchObject({ deployments: 5, storageBytes: 1000, runningExecutions: undefined });
  expect(tenants).toEqual({
    t2: {
      ...{ deployments: undefined, runningExecutions: 4, queuedExecutions: 9, storageBytes: 1000 },
      ...{ requestsPerMinute: undefined, workerWeight: 0.5 },
    },
  });
  expect((await set({ max_deployments: null })).body.max_deployments).toMatchObject({ limit: 5, own: null });
});

test('a change is told; bad input and unknown tenants are refused', async () => {
  const { rows } = await identity.db.pool.query(
    `select envelope->>'type' as type from outbox where envelope->>'key' = 't2' and envelope->>'type' like '%quota%'`,
  );
  expect(rows.length).toBeGreaterThanOrEqual(3);
  const refused = await Promise.all([
    set({ max_deployments: -2 }),
    set({ max_deployments: 1.5 }),
    set({ worker_weight: 0 }),
    set({ max_deploymentz: 3 }),
    set({ max_deployments: 3 }, 'nosuch'),
    identity.call('GET', '/tenants/nosuch/quota'),
  ]);
  expect(refused.map(({ status, body }) => [status, body.error_code])).toEqual([
    ...Array.from({ length: 4 }, () => [400, 'bad_parameters_error']),
    ...Array.from({ length: 2 }, () => [404, 'not_found_error']),
  ]);
});

test('it goes with its tenant', async () => {
  expect((await identity.call('DELETE', '/tenants/t2')).status).toBe(204);
  await identity.call('POST', '/tenants/t2', {});
  expect((await identity.call('GET', '/tenants/t2/quota')).body.max_running_executions.own).toBeNull();
});
