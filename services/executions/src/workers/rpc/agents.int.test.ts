import { Secret } from '@baton/kernel';
import { derivedTrust, newWorkerKey } from '@baton/trust';
import { agentOf, hostedDeployment } from '../../testing/agents';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { keyOfWorker } from '../queries/key-of-worker';
import { listWorkers } from '../queries/list-workers';
import { createWorkerRegistry } from '../worker-registry';
import { workersRpcHandlers } from './workers.rpc';

/** Agents as workers: their registration, and their tokens. */

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

const { begin, phaseIs, workToEnd } = drive(() => engine);
const JOIN = 'the join token of this test';

function handlers() {
  const { db } = engine;
  const { identity } = derivedTrust('executions', new Secret('the internal key of this test'));
  return workersRpcHandlers({
    db,
    registry: createWorkerRegistry(db),
    joinToken: new Secret(JOIN),
    identity: () => identity,
  });
}

const key = () => newWorkerKey().publicKey;
const registered = (workerId: string, publicKey = key()) =>
  handlers().registerAgent({ workerId, publicKey }, {} as never);

describe('the registration of an agent', () => {
  test('replaces the key of its earlier stream at once', async () => {
    const id = agentOf('vm_1');
    const [first, second] = [key(), key()];
    await registered(id, first);
    expect((await registered(id, second)).certificate).not.toBe('');
    expect(await keyOfWorker(engine.db.query, id)).toBe(second);
    await registered(id, first);
    expect(await keyOfWorker(engine.db.query, id)).toBe(first);
  });

  test('accepts addresses with the longest names', async () => {
    const id = agentOf('i'.repeat(330), 't'.repeat(255));
    await registered(id);
    expect(await keyOfWorker(engine.db.query, id)).not.toBeNull();
  });

  test.each([
    'w1',
    'agent:',
    'agent:vm_1',
    'agent:/vm_1',
    'agent:t/',
    'agent:t/a b',
    `agent:t/${'i'.repeat(800)}`,
  ])('refuses the id %s', async (id) => {
    await expect(registered(id)).rejects.toMatchObject({ code: 'bad_parameters_error' });
  });

  test('refuses a key that is none', async () => {
    await expect(registered(agentOf('vm_2'), 'x')).rejects.toMatchObject({ code: 'bad_parameters_error' });
  });

  test('is not open to a worker, even with the join token', async () => {
    const request = { workerId: agentOf('vm_3'), publicKey: key(), joinToken: JOIN };
    await expect(handlers().registerWorker(request, {} as never)).rejects.toMatchObject({
      code: 'bad_parameters_error',
      message: expect.stringContaining('belong to agents'),
    });
    expect(await keyOfWorker(engine.db.query, agentOf('vm_3'))).toBeNull();
  });
});

test('agents are no workers of the manager in its list', async () => {
  await registered(agentOf('vm_4'));
  await handlers().registerWorker({ workerId: 'w-1', publicKey: key(), joinToken: JOIN }, {} as never);
  expect((await listWorkers(engine.db.query)).map(({ id }) => id)).toEqual(['w-1']);
});

describe('the token of an execution', () => {
  const resolve = (token: string) => engine.client.resolveExecutionToken({ token });
  const tokenOf = ({ assignmentJson }: { assignmentJson: string }): string =>
    JSON.parse(assignmentJson).executionToken;

  test('is marked at an agent, and both kinds end with the execution', async () => {
    engine.peer.deployments.set('tokens', hostedDeployment(['vm']));
    const id = await begin('tokens', 'install');
    await phaseIs(id, 'running');
    const ask = { executionId: id, taskId: '', room: 4 };
    const [atAgent] = (await engine.client.claimTask({ ...ask, workerId: agentOf('vm_1') })).leases;
    const [atWorker] = (await engine.client.claimTask({ ...ask, workerId: 'w1' })).leases;
    const [agentToken, workerToken] = [tokenOf(atAgent!), tokenOf(atWorker!)];
    expect(agentToken).not.toBe(workerToken);
    expect(await resolve(agentToken)).toMatchObject({
      executionId: id,
      isAgent: true,
      deploymentId: 'tokens',
      instances: [JSON.parse(atAgent!.assignmentJson).self.nodeInstanceId, 'vm_1'],
    });
    expect(await resolve(workerToken)).toMatchObject({
      executionId: id,
      isAgent: false,
      instances: [],
    });

    // The mark cannot be taken off, nor the token used for another execution or other instances.
    const [, , own, mac] = agentToken.split('.');
    const others = Buffer.from('["vx_1"]').toString('base64url');
    engine.peer.deployments.set('other', hostedDeployment(['vx']));
    const other = await begin('other', 'install');
    for (const forged of [
      mac!,
      `agent.${other}.${own}.${mac}`,
      `agent.${id}.${others}.${mac}`,
      `agent.${id}.${mac}`,
      `agent.${id}.${own}.${workerToken}`,
      `${agentToken}.`,
      'agent.x.y',
    ])
      await expect(resolve(forged)).rejects.toMatchObject({ code: 'unauthorized_error' });

    const outcome = {
      executionId: id,
      attempt: 1,
      kind: 1,
      resultJson: 'null',
      errorJson: '',
      retryAfter: -1,
    };
    await engine.client.finishTasks({
      workerId: agentOf('vm_1'),
      room: 0,
      outcomes: [{ ...outcome, taskId: atAgent!.taskId }],
    });
    await engine.client.finishTasks({
      workerId: 'w1',
      room: 0,
      outcomes: [{ ...outcome, taskId: atWorker!.taskId }],
    });
    await workToEnd(id);
    for (const token of [agentToken, workerToken])
      await expect(resolve(token)).rejects.toMatchObject({ code: 'unauthorized_error' });
  });
});
