// The changes that deployments reports to streams of changes: the outbox of each changing request, with creator and visibility.
import type { Envelope, ResourceChanges } from '@baton/contracts';
import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
});
afterAll(() => test.stop());
beforeEach(() => test.db.pool.query('delete from deployments.outbox'));

/** Returns the changes in the outbox, one line each, and empties it. */
async function told(): Promise<string[]> {
  const { rows } = await test.db.pool.query<{ envelope: Envelope<ResourceChanges> }>(
    `select envelope from deployments.outbox where envelope->>'type' = 'deployments.resources-changed.v1' order by id`,
  );
  await test.db.pool.query('delete from deployments.outbox');
  return rows.flatMap(({ envelope: { tenant, payload } }) =>
    payload.changes.map(
      (one) => `${tenant} ${one.kind} ${one.id} ${one.operation} ${one.createdBy} ${one.visibility}`,
    ),
  );
}
const ok = async (method: string, path: string, body?: object, as = principal('admin')): Promise<void> => {
  const { status, body: said } = await test.call(method, path, body, as);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(said)}`);
};

it('is one change for each request, with what it has become', async () => {
  await ok('PUT', '/deployments/d1', { blueprint_id: 'mini', visibility: 'private' });
  expect(await told()).toEqual(['default_tenant deployments d1 created admin private']);
  await ok('PATCH', '/deployments/d1', { labels: [{ a: 'b' }], display_name: 'other' });
  expect(await told()).toEqual(['default_tenant deployments d1 changed admin private']);
  await ok('PATCH', '/deployments/d1/set-visibility', { visibility: 'tenant' });
  expect(await told()).toEqual(['default_tenant deployments d1 changed admin tenant']);
  await ok('PUT', '/sites/s1', {});
  expect(await told()).toEqual([]);
  await ok('POST', '/deployments/d1/set-site', { site_name: 's1' });
  expect(await told()).toEqual(['default_tenant deployments d1 changed admin tenant']);
  await ok('POST', '/sites/s1', { new_name: 's2' });
  expect(await told()).toEqual(['default_tenant deployments d1 changed admin tenant']);
  await ok('DELETE', '/sites/s2');
  expect(await told()).toEqual(['default_tenant deployments d1 changed admin tenant']);
});

it('tells nothing of a request that was refused', async () => {
  await test.call('PATCH', '/deployments/d1', { blueprint_id: 'x' });
  await test.call('PUT', '/deployments/d1', { blueprint_id: 'mini' });
  expect(await told()).toEqual([]);
});

it('tells members of a group, and its new deployments', async () => {
  await ok('PUT', '/deployment-groups/g1', { blueprint_id: 'mini', deployment_ids: ['d1'] });
  expect(await told()).toEqual(['default_tenant deployments d1 changed admin tenant']);
  await ok('PATCH', '/deployment-groups/g1', { add: { new_deployments: [{ id: 'n1' }, { id: 'n2' }] } });
  expect((await told()).map((line) => line.split(' ').slice(2, 4).join(' '))).toEqual([
    'n1 created',
    'n2 created',
  ]);
});

it('tells the parents of a family', async () => {
  await ok('PUT', '/deployments/parent', { blueprint_id: 'mini' });
  await told();
  await ok('PUT', '/deployments/child', { blueprint_id: 'mini', labels: [{ 'csys-obj-parent': 'parent' }] });
  expect((await told()).map((line) => line.split(' ').slice(2, 4).join(' ')).sort()).toEqual([
    'child created',
    'parent changed',
  ]);
});

it('tells what an operation has stored on an instance, and not that it has stored the same again', async () => {
  await ok('PUT', '/deployments/stored', { blueprint_id: 'mini' });
  const listed = await test.call('GET', '/node-instances?deployment_id=stored&_include=id');
  const write = { tenant: 'default_tenant', nodeInstanceId: listed.body.items[0].id as string, taskId: 't' };
  const store = async (version: number, attempt: number, properties: object): Promise<number> =>
    (
      await test.rpc.updateNodeInstance({
        ...write,
        version,
        attempt,
        runtimePropertiesJson: JSON.stringify(properties),
      })
    ).version;
  await told();
  const version = await store(1, 1, { address: '10.0.0.1' });
  expect(await told()).toEqual(['default_tenant deployments stored changed admin tenant']);
  await store(version, 2, { address: '10.0.0.1' });
  expect(await told()).toEqual([]);
});
