import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
const tenant = 'default_tenant';
beforeAll(async () => {
  test = await startTestDeployments();
  test.peers.values.set('token', { value: 'sesame', isHidden: true });
});
afterAll(() => test.stop());

it('deployments below that leave in the same act do not count as dependents; the nearest installed ones are listed', async () => {
  await test.create('top', { blueprint_id: 'hello', inputs: { must: 1 } });
  const parent = (id: string) => ({
    blueprint_id: 'hello',
    inputs: { must: 1 },
    labels: [{ 'csys-obj-parent': id }],
  });
  await test.create('mid-b', parent('top'));
  await test.create('mid-a', parent('top'));
  await test.create('low', parent('mid-a'));
  const dependents = async (deploymentId: string, leavingWith: string) =>
    (await test.rpc.getDeployment({ tenant, deploymentId, leavingWith })).dependents.length;
  expect([await dependents('top', ''), await dependents('top', 'top')]).toEqual([2, 0]);
  expect([await dependents('mid-a', ''), await dependents('mid-a', 'top')]).toEqual([1, 0]);
  // A deployment that leaves with another one counts.
  expect(await dependents('top', 'mid-a')).toBe(1);

  const listed = async (executionId: string, callName = 'uninstall-services') => {
    const requestJson = JSON.stringify({ call: 'list-services' });
    const { resultJson } = await test.rpc.callModel({
      tenant,
      deploymentId: 'top',
      executionId,
      callName,
      requestJson,
    });
    return JSON.parse(resultJson);
  };
  const start = (id: string) =>
    test.db.pool.query(
      `update node_instances i set state = 'started' from deployments d
      where d.key = i.deployment_key and d.id = $1`,
      [id],
    );
  expect(await listed('none')).toEqual([]);
  await start('low');
  await start('mid-b');
  // Nothing is installed in mid-a itself.
  expect(await listed('some')).toEqual(['low', 'mid-b']);
  await start('mid-a');
  expect(await listed('more')).toEqual(['mid-a', 'mid-b']);
  // A repeated call returns the first result.
  expect(await listed('some')).toEqual(['low', 'mid-b']);
});
