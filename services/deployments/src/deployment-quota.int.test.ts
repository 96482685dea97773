import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

/** A tenant's quota of deployments: single deployments, those of groups, and bursts of both. */

const T = 'default_tenant';
let deployments: TestDeployments;
beforeAll(async () => {
  deployments = await startTestDeployments();
});
afterAll(() => deployments.stop());

async function limit(most: number | undefined): Promise<void> {
  deployments.peers.limits.deployments = most;
  await deployments.parts.subscriptions[0]!.handler(undefined as never);
}
const put = (id: string, tenant = T) =>
  deployments.call('PUT', `/deployments/${id}`, { blueprint_id: 'mini' }, principal('admin', { tenant }));
const group = (id: string, count: number) =>
  deployments.call('PUT', `/deployment-groups/${id}`, {
    blueprint_id: 'mini',
    new_deployments: Array.from({ length: count }, (_, i) => ({ id: `${id}-${i}` })),
  });
const count = async (tenant = T) => (await deployments.rpc.countDeployments({ tenant })).count;

it('a burst of single ones and groups never makes more than the quota, and is refused with limit and usage', async () => {
  await limit(7);
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, (_, i) => put(`d${i}`)),
    ...Array.from({ length: 4 }, (_, i) => group(`g${i}`, 2)),
  ]);
  const statuses = new Set(answers.map(({ status }) => status));
  expect([...statuses].every((status) => [200, 201, 429].includes(status))).toBe(true);
  const made = await count();
  expect(made).toBeLessThanOrEqual(7);
  expect(made).toBeGreaterThanOrEqual(6);
  while ((await count()) < 7) expect((await put(`more${await count()}`)).status).toBe(201);
  const refused = await put('beyond');
  expect([refused.status, refused.body]).toEqual([
    429,
    expect.objectContaining({
      error_code: 'too_many_requests_error',
      ...{ quota: 'max_deployments', tenant: T, limit: 7, usage: 7 },
      message: expect.stringContaining(`PUT /tenants/${T}/quota`),
    }),
  ]);
  expect((await deployments.call('GET', '/deployments/beyond')).status).toBe(404);
  // Another tenant has the same limit of its own.
  expect(await count('other')).toBe(0);
});

it('a group is made with all of its deployments or not at all', async () => {
  await limit((await count()) + 2);
  expect((await group('large', 3)).status).toBe(429);
  expect((await deployments.call('GET', '/deployment-groups/large')).status).toBe(404);
  expect((await group('small', 2)).status).toBe(200);
  // A change that does not raise the number is accepted.
  expect((await deployments.call('PUT', '/deployment-groups/small', { description: 'full' })).status).toBe(
    200,
  );
  // A raised limit makes room; positive control: without a limit every request is accepted.
  await limit((await count()) + 1);
  expect((await put('one-more')).status).toBe(201);
  await limit(undefined);
  expect((await group('large', 3)).status).toBe(200);
});

it('0 freezes the tenant', async () => {
  await limit(0);
  expect((await put('frozen')).body).toMatchObject({ limit: 0 });
});
