import { deployHello, readInstance, stateWrite } from './testing/hello';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
const tenant = 'default_tenant';
beforeAll(async () => {
  test = await startTestDeployments();
  test.peers.values.set('token', { value: 'sesame', isHidden: true });
});
afterAll(() => test.stop());

const deploy = (id: string) => deployHello(test, id);
const read = (id: string) => readInstance(test, id);

type Request = Parameters<TestDeployments['rpc']['applyExecutionStates']>[0];
type DecidedStates = NonNullable<Request['executions']>[number];
const applyStates = (execution: DecidedStates) => test.rpc.applyExecutionStates({ executions: [execution] });

describe('ApplyExecutionStates', () => {
  it('applies in order, drops repeats and late ones, edits system properties once', async () => {
    const { deploymentId, host, app } = await deploy('states');
    const of = { tenant, deploymentId, executionId: 'first' };
    const counted = { edit: 'copy', from: ['status'], to: ['previous_status'] };
    const status = (ok: boolean) => ({ edit: 'set', path: ['status'], value: { ok } });
    await applyStates({
      ...of,
      states: [
        stateWrite(host, 2, 'created'),
        stateWrite(host, 1, 'creating'),
        stateWrite(app, 3, 'creating'),
      ],
    });
    expect(await read(host)).toMatchObject({ state: 'created', version: 2 });
    await applyStates({
      ...of,
      states: [
        stateWrite(host, 5, 'started', [status(true)]),
        stateWrite(host, 6, '', [counted, status(false)]),
      ],
    });
    const after = await read(host);
    expect(after).toMatchObject({
      state: 'started',
      version: 3,
      is_status_check_ok: false,
      system_properties: { status: { ok: false }, previous_status: { ok: true } },
    });
    await applyStates({
      ...of,
      states: [
        stateWrite(host, 6, '', [counted, status(false)]),
        stateWrite(host, 4, 'starting'),
        stateWrite(host, 1, 'creating'),
      ],
    });
    expect(await read(host)).toEqual(after);
    // The sequence numbers of another execution start again.
    await applyStates({ ...of, executionId: 'second', states: [stateWrite(host, 1, 'stopping')] });
    expect((await read(host)).state).toBe('stopping');
    // States that the first execution was still sending when it ended come too late; states that it decides after a resume do not.
    const ended = {
      ...of,
      workflowId: 'install',
      status: 'failed',
      totalOperations: 1,
      finishedOperations: 1,
    };
    await test.rpc.executionEnded({ ...ended, lastStateSeq: 6 });
    await applyStates({ ...of, states: [stateWrite(host, 5, 'started'), stateWrite(app, 3, 'created')] });
    expect((await read(host)).state).toBe('stopping');
    expect((await read(app)).state).toBe('creating');
    await applyStates({ ...of, states: [stateWrite(host, 7, 'stopping again')] });
    expect((await read(host)).state).toBe('stopping again');
    await applyStates({ ...of, executionId: 'second', states: [stateWrite(host, 2, 'stopping')] });
    expect(
      (await test.call('GET', `/deployments/${deploymentId}?_include=unavailable_instances`)).body
        .unavailable_instances,
    ).toBe(2);
  });

  it('takes what several executions decided, each by its own numbers', async () => {
    const one = await deploy('together-1');
    const other = await deploy('together-2');
    const of = (deployment: typeof one, executionId: string, seq: number, state: string) => ({
      tenant,
      deploymentId: deployment.deploymentId,
      executionId,
      states: [stateWrite(deployment.host, seq, state)],
    });
    await applyStates(of(other, 'late', 4, 'started'));
    await test.rpc.applyExecutionStates({
      executions: [of(one, 'early', 1, 'creating'), of(other, 'late', 3, 'starting')],
    });
    expect(await read(one.host)).toMatchObject({ state: 'creating', version: 2 });
    expect(await read(other.host)).toMatchObject({ state: 'started', version: 2 });
  });

  it('ends the same from any interleaving of two connections', async () => {
    const { deploymentId, host, app } = await deploy('interleaved');
    const batches = Array.from({ length: 20 }, (_, i) => ({
      tenant,
      deploymentId,
      executionId: 'e1',
      states: [stateWrite(host, 2 * i + 1, `h${i}`), stateWrite(app, 2 * i + 2, `a${i}`)],
    }));
    await Promise.all(batches.reverse().map((batch) => applyStates(batch)));
    expect((await read(host)).state).toBe('h19');
    expect((await read(app)).state).toBe('a19');
  });
});
