// Texts of the original that its clients compare: each row of http/cloudify/refusal-texts.ts, by a call.
import { newId } from '@baton/kernel';
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

it('a dependency that would close a circle, as the error of the execution whose end found it', async () => {
  const tenant = 'default_tenant';
  const ends = async (deploymentId: string, target: string): Promise<string> => {
    const [instance] = (await original.call('GET', `/node-instances?deployment_id=${deploymentId}`)).body
      .items;
    const body = { version: instance.version, state: 'started', runtime_properties: { target } };
    expect((await original.call('PATCH', `/node-instances/${instance.id}`, body)).status).toBe(200);
    const end = { tenant, deploymentId, executionId: newId(), workflowId: 'install', status: 'terminated' };
    const counts = { totalOperations: 0, finishedOperations: 0, lastStateSeq: 0 };
    return (await original.rpc.executionEnded({ ...end, ...counts })).failure;
  };
  for (const id of ['one', 'two']) await original.create(id, { blueprint_id: 'linked' });
  expect(await ends('one', 'two')).toBe('');
  expect(await ends('two', 'one')).toBe(
    'Failed updating dependencies of deployment two: Cyclic dependency between two and one',
  );
});
