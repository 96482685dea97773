// Texts of the original that its clients compare: each row of http/cloudify/refusal-texts.ts, by a call.
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let original: TestDeployments;
beforeAll(async () => {
  original = await startTestDeployments({ wire: 'cloudify' });
  original.peers.values.set('token', { value: 'sesame' });
  await original.create('d', { blueprint_id: 'hello', inputs: { must: 1 } });
});
afterAll(() => original.stop());

it('a stale version of a node instance', async () => {
  const { items } = (await original.call('GET', '/node-instances?deployment_id=d')).body;
  const { id, version } = items[0];
  const patch = () => original.call('PATCH', `/node-instances/${id}`, { version, state: 'started' });
  expect((await patch()).status).toBe(200);
  const { status, body } = await patch();
  expect([status, body.error_code, body.message]).toEqual([
    409,
    'conflict_error',
    `Node instance update conflict [current version=${version + 1}, update version=${version}]`,
  ]);
});

it('the delete of a deployment whose executions wait', async () => {
  const waiting = [{ id: 'e1', workflow_id: 'install', status: 'queued' }];
  original.peers.active.set('d', waiting);
  const { status, body } = await original.call('DELETE', '/deployments/d');
  expect([status, body.error_code]).toEqual([400, 'dependent_exists_error']);
  expect(body.message).toContain('There are running or queued');
  expect(body.message).toContain('install (e1, queued)');
  original.peers.active.delete('d');
});
