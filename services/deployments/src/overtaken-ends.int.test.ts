import { newId, systemClock } from '@baton/kernel';
import { deployHello } from './testing/hello';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

/** The shown status of the latest execution follows the versions of its row, whatever the order of the reports. */

let test: TestDeployments;
const tenant = 'default_tenant';
beforeAll(async () => {
  test = await startTestDeployments();
  test.peers.values.set('token', { value: 'sesame', isHidden: true });
});
afterAll(() => test.stop());

let executions = 0;

/** Reports of the engine about one execution of a deployment; each status with the version of its row. */
function telling(deploymentId: string, workflowId = 'install') {
  // Each id is later than the one before, also within a millisecond.
  const executionId = newId(systemClock.now() + 1_000 * ++executions);
  const [consumer] = test.parts.consumers;
  const of = { tenant, deploymentId, executionId, workflowId };
  return {
    executionId,
    ends: async (status: string, version: number): Promise<string> =>
      (
        await test.rpc.executionEnded({
          ...of,
          status,
          version,
          totalOperations: 1,
          finishedOperations: 1,
          lastStateSeq: 0,
        })
      ).failure,
    /** Reports that it was accepted or resumed; `time`: of the message. */
    goesOn: async (version?: number, time = '') => {
      const payload = { executionId, deploymentId, workflowId, isResumed: time !== '', version };
      const message = { id: newId(), type: 'x', time, tenant, key: executionId, payload };
      await consumer!.handler(message, new AbortController().signal);
    },
  };
}

const PAST = '2020-01-01T00:00:00.000Z';
const FUTURE = '2100-01-01T00:00:00.000Z';

async function shown(deploymentId: string): Promise<string> {
  const path = `/deployments/${deploymentId}?_include=latest_execution_status,deployment_status`;
  const { latest_execution_status, deployment_status } = (await test.call('GET', path)).body;
  return `${latest_execution_status}, ${deployment_status}`;
}

const DONE = 'completed, requires_attention';
const CANCELLED = 'cancelled, requires_attention';
const FAILED = 'failed, requires_attention';
const RUNS = 'in_progress, in_progress';

/** For a deployment with a family, ends are stored in another way. */
describe.each([
  ['alone', []],
  ['with a family', [{ 'csys-obj-parent': 'above' }]],
])('a deployment %s', (name, labels) => {
  const id = name.replaceAll(' ', '-');
  beforeAll(async () => {
    if (labels.length > 0) await deployHello(test, 'above');
    await test.create(id, { blueprint_id: 'hello', inputs: { must: 1 }, labels });
  });

  it('shows the end that was decided last, in whatever order two are told', async () => {
    for (const ends of [
      [
        ['terminated', 4],
        ['cancelled', 5],
      ],
      [
        ['cancelled', 5],
        ['terminated', 4],
      ],
    ] as const) {
      const execution = telling(id);
      await execution.goesOn();
      for (const [status, version] of ends) expect(await execution.ends(status, version)).toBe('');
      expect(await shown(id)).toBe(CANCELLED);
      // Reported again, as after a crash.
      await execution.ends('cancelled', 5);
      await execution.ends('cancelled', 6);
      await execution.ends('terminated', 4);
      await execution.goesOn();
      expect(await shown(id)).toBe(CANCELLED);
    }
  });

  it('shows what a resume began, whatever is told of before, and its end whenever the resume is heard', async () => {
    const execution = telling(id);
    await execution.ends('failed', 4);
    await execution.goesOn(6, PAST);
    expect(await shown(id)).toBe(RUNS);
    await execution.ends('failed', 4);
    await execution.ends('cancelled', 5);
    expect(await shown(id)).toBe(RUNS);
    await execution.ends('terminated', 9);
    await execution.goesOn(6, FUTURE);
    await execution.goesOn(8, FUTURE);
    expect(await shown(id)).toBe(DONE);
  });

  it('shows the end of a resume that ended at once, which has the same version', async () => {
    const [first, second] = [telling(id), telling(id)];
    for (const execution of [first, second]) await execution.ends('cancelled', 4);
    await first.goesOn(6, PAST);
    await first.ends('failed', 6);
    await second.ends('failed', 6);
    expect(await shown(id)).toBe(FAILED);
    await second.goesOn(6, FUTURE);
    expect(await shown(id)).toBe(FAILED);
  });

  it('takes what an older release tells without versions as before', async () => {
    const execution = telling(id);
    await execution.ends('terminated', 4);
    await execution.ends('failed', 0);
    expect(await shown(id)).toBe(FAILED);
    await execution.goesOn(undefined, PAST);
    expect(await shown(id)).toBe(FAILED);
    await execution.goesOn(undefined, FUTURE);
    expect(await shown(id)).toBe(RUNS);
    await execution.ends('terminated', 0);
    expect(await shown(id)).toBe(DONE);
  });

  it('begins anew with the versions of the next execution', async () => {
    const [first, second] = [telling(id), telling(id)];
    await first.ends('cancelled', 1_000_000_004);
    await second.goesOn();
    expect(await shown(id)).toBe(RUNS);
    await second.ends('failed', 3);
    await first.ends('terminated', 1_000_000_009);
    expect(await shown(id)).toBe(FAILED);
  });
});

it('an end that was overtaken neither deletes a deployment nor fails its update', async () => {
  await deployHello(test, 'stays');
  const deletion = telling('stays', 'delete_deployment_environment');
  await deletion.ends('cancelled', 5);
  await deletion.ends('terminated', 4);
  expect((await test.call('GET', '/deployments/stays')).status).toBe(200);
  await deletion.ends('terminated', 7);
  expect((await test.call('GET', '/deployments/stays')).status).toBe(404);

  await test.create('updated', { blueprint_id: 'hello-flat' });
  const { id, execution_id: executionId } = (
    await test.call('PUT', '/deployment-updates/updated/update/initiate', {})
  ).body;
  const end = { tenant, deploymentId: 'updated', executionId, workflowId: 'update' };
  const counts = { totalOperations: 0, finishedOperations: 0, lastStateSeq: 0 };
  await test.rpc.executionEnded({ ...end, ...counts, status: 'terminated', version: 5 });
  await test.rpc.executionEnded({ ...end, ...counts, status: 'failed', version: 4 });
  expect((await test.call('GET', `/deployment-updates/${id}`)).body.state).not.toBe('failed');
});

it('what deployments finds at the end is shown when it is decided, and told again it changes nothing', async () => {
  for (const name of ['one', 'two']) {
    await test.create(name, { blueprint_id: 'linked' });
    const { items } = (await test.call('GET', `/node-instances?deployment_id=${name}`)).body;
    const [{ id, version }] = items;
    const target = name === 'one' ? 'two' : 'one';
    await test.call('PATCH', `/node-instances/${id}`, {
      version,
      state: 'started',
      runtime_properties: { target },
    });
  }
  expect(await telling('one').ends('terminated', 4)).toBe('');
  const execution = telling('two');
  const failure = await execution.ends('terminated', 4);
  expect(failure).toBe('Cyclic dependency between two and one');
  expect(await execution.ends('failed', 5)).toBe('');
  expect(await execution.ends('terminated', 4)).toBe(failure);
  expect(await shown('two')).toBe(FAILED);
});
