import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

/** GET /deployments/{id}/impact shows beforehand the effects of DELETE. */

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
});
afterAll(() => test.stop());

const impact = async (id: string, query = '') => {
  const { status, body } = await test.call('GET', `/deployments/${id}/impact${query}`);
  expect([status, body.error_code]).toEqual([200, undefined]);
  return body;
};
const remove = (id: string, query = '') => test.call('DELETE', `/deployments/${id}${query}`);

it('of a deployment that nothing needs, nothing is hit', async () => {
  await test.create('alone');
  expect(await impact('alone')).toEqual({
    deployment_id: 'alone',
    can_delete: true,
    is_whole: true,
    deployments: ['alone'],
    total_deployments: 1,
    blockers: [],
    dependents: [],
    running_executions: [],
    schedules: 0,
    groups: [],
    live_instances: 0,
  });
  expect((await remove('alone')).status).toBe(204);
});

it('names everything that a delete names one after the other', async () => {
  await test.create('used');
  await test.create('user', { blueprint_id: 'consumer', inputs: { provider: 'used' } });
  const [instance] = (await test.call('GET', '/node-instances?deployment_id=used')).body.items;
  await test.call('PATCH', `/node-instances/${instance.id}`, { version: 1, state: 'started' });
  test.peers.active.set('used', [{ id: 'e1', workflow_id: 'install', status: 'started' }]);
  test.peers.scheduled.push('default_tenant/used', 'default_tenant/used', 'other/used');
  await test.call('PUT', '/deployment-groups/team', { deployment_ids: ['used', 'user'] });
  const found = await impact('used');
  expect(found).toMatchObject({ can_delete: false, schedules: 2, groups: ['team'], live_instances: 1 });
  expect(found.blockers.map(({ kind, id }: { kind: string; id: string }) => [kind, id])).toEqual([
    ['dependent', 'user'],
    ['execution', 'e1'],
    ['node_instance', instance.id],
  ]);
  expect(found.dependents).toMatchObject([{ deployment_id: 'user', of: 'used', is_external: false }]);
  expect(found.running_executions).toEqual([
    { id: 'e1', workflow_id: 'install', status: 'started', deployment_id: 'used' },
  ]);
  expect((await remove('used')).body.message).toContain(found.blockers[0].reason);
  // With force only running executions block.
  const forced = await impact('used', '?force=true');
  expect(forced.blockers).toMatchObject([{ kind: 'execution', id: 'e1' }]);
  expect(forced.dependents).toHaveLength(1);
  expect((await remove('used', '?force=true')).body.message).toContain('e1');
  test.peers.active.delete('used');
  expect(await impact('used', '?force=true')).toMatchObject({ can_delete: true, live_instances: 1 });
  expect((await remove('used', '?force=true')).status).toBe(204);
});

it('a recursive delete hits the children as well, which are no dependents then', async () => {
  await test.create('top');
  await test.create('below', { labels: [{ 'csys-obj-parent': 'top' }] });
  expect(await impact('top')).toMatchObject({
    can_delete: false,
    blockers: [{ kind: 'dependent', id: 'below', deployment_id: 'top' }],
  });
  expect(await impact('top', '?recursive=true')).toMatchObject({
    can_delete: true,
    dependents: [],
    deployments: ['top', 'below'],
    total_deployments: 2,
  });
  test.peers.active.set('below', [{ id: 'e2', workflow_id: 'heal', status: 'queued' }]);
  expect((await impact('top', '?recursive=true')).blockers).toEqual([
    { kind: 'execution', id: 'e2', reason: 'heal is queued', deployment_id: 'below' },
  ]);
  test.peers.active.delete('below');
});

it('of a large family a part is looked at, and nothing is promised', async () => {
  await test.create('root');
  await test.create('leaf');
  await test.db.pool.query(`
    insert into deployments (tenant, id, display_name, visibility, created_by)
    select 'default_tenant', 'leaf' || i, 'leaf', 'tenant', 'admin' from generate_series(1, 150) i`);
  await test.db.pool.query(`
    insert into deployment_parents (child_key, parent_key)
    select c.key, p.key from deployments c, deployments p where p.id = 'root' and c.id ~ '^leaf[0-9]'`);
  const found = await impact('root', '?recursive=true');
  expect(found).toMatchObject({ is_whole: false, can_delete: false, total_deployments: 151, blockers: [] });
  expect(found.deployments).toHaveLength(100);
});

it('is told to who might delete: not across tenants, not of private ones of others', async () => {
  await test.create('secret', { visibility: 'private' });
  await test.create('global', { blueprint_id: 'global-bp', visibility: 'global' });
  const bob = principal('bob');
  const stranger = principal('bob', { tenant: 'other', tenants: [{ name: 'other', roles: ['user'] }] });
  const code = async (id: string, as: ReturnType<typeof principal>) =>
    (await test.call('GET', `/deployments/${id}/impact`, undefined, as)).status;
  expect(await code('secret', bob)).toBe(404);
  expect(await code('nosuch', bob)).toBe(404);
  expect(await code('global', stranger)).toBe(
    (await test.call('DELETE', '/deployments/global', undefined, stranger)).status,
  );
  expect(await code('global', stranger)).toBe(400);
});

it('refuses wrong parameters by their name', async () => {
  await test.create('asked');
  for (const [query, field] of [
    ['?force=maybe', 'force'],
    ['?recursiv=true', 'recursive'],
  ]) {
    const { status, body } = await test.call('GET', `/deployments/asked/impact${query}`);
    expect([status, body.error_code]).toEqual([400, 'bad_parameters_error']);
    expect(body.message).toContain(field);
  }
});
