import { newId } from '@baton/kernel';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

/** Dependencies whose target is named by a function (reference/workflows.md 8.5): evaluated when an execution ends. */

let test: TestDeployments;
const tenant = 'default_tenant';

beforeAll(async () => {
  test = await startTestDeployments();
  for (const id of ['one', 'two', 'three']) await test.create(id, { blueprint_id: 'linked' });
});
afterAll(() => test.stop());

/** Sets the target in the runtime properties of a deployment's node, as an operation does. */
async function link(deploymentId: string, target: unknown): Promise<void> {
  const { items } = (await test.call('GET', `/node-instances?deployment_id=${deploymentId}`)).body;
  const [{ id, version }] = items;
  const body = { version, state: 'started', runtime_properties: { target } };
  expect((await test.call('PATCH', `/node-instances/${id}`, body)).status).toBe(200);
}

async function ends(deploymentId: string, status = 'terminated'): Promise<string> {
  const end = { tenant, deploymentId, executionId: newId(), workflowId: 'install', status };
  return (
    await test.rpc.executionEnded({ ...end, totalOperations: 0, finishedOperations: 0, lastStateSeq: 0 })
  ).failure;
}

async function targetsOf(deploymentId: string): Promise<(string | null)[]> {
  const path = `/deployments/inter-deployment-dependencies?source_deployment_id=${deploymentId}`;
  const { items } = (await test.call('GET', path)).body;
  return items.map((item: { target_deployment_id: string | null }) => item.target_deployment_id);
}

const dependents = async (deploymentId: string) =>
  (await test.rpc.getDeployment({ tenant, deploymentId })).dependents;

const consumersOf = async (deploymentId: string) => {
  const { labels } = (await test.call('GET', `/deployments/${deploymentId}`)).body;
  return labels
    .filter(({ key }: { key: string }) => key === 'csys-consumer-id')
    .map(({ value }: { value: string }) => value);
};

it('the target is the one that the function names at the end of an execution that succeeds, and blocks from then on', async () => {
  expect(await ends('one')).toBe('');
  expect(await targetsOf('one')).toEqual([null]);
  await link('one', 'two');
  expect(await ends('one', 'failed')).toBe('');
  expect(await targetsOf('one')).toEqual([null]);
  expect(await ends('one')).toBe('');
  expect(await targetsOf('one')).toEqual(['two']);
  expect(await dependents('two')).toEqual([expect.stringContaining('`one`')]);
  expect(await consumersOf('two')).toEqual(['one']);
  // The function names another deployment now; a value that names no deployment changes nothing.
  await link('one', 'three');
  await ends('one');
  expect([await targetsOf('one'), await dependents('two')]).toEqual([['three'], []]);
  expect([await consumersOf('two'), await consumersOf('three')]).toEqual([[], ['one']]);
  for (const target of ['nowhere', 4711, 'one']) {
    await link('one', target);
    expect(await ends('one')).toBe('');
    expect(await targetsOf('one')).toEqual(['three']);
  }
});

it('one that would close a circle is not written, and the execution has failed', async () => {
  await link('one', 'two');
  await ends('one');
  await link('two', 'three');
  await ends('two');
  await link('three', 'one');
  const failure = await ends('three');
  expect(failure).toBe('Cyclic dependency between three and one');
  expect(await ends('three')).toBe(failure);
  expect([await targetsOf('one'), await targetsOf('two'), await targetsOf('three')]).toEqual([
    ['two'],
    ['three'],
    [null],
  ]);
});

it('so it is for a deployment with a family, whose end is written in another way', async () => {
  await test.create('child', { blueprint_id: 'linked', labels: [{ 'csys-obj-parent': 'one' }] });
  await link('child', 'two');
  expect(await ends('child')).toBe('');
  expect(await targetsOf('child')).toEqual(['two']);
});
