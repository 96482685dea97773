import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup, work } from '../../testing/engine-setup';

const DEADLINE = { deadlineMs: 10_000 };

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

async function begin(tenant: string, deploymentId: string): Promise<string> {
  engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }));
  const request = { tenant, requestId: newId(), createdBy: 'admin', deploymentId, workflowId: 'install' };
  return (await engine.client.startExecution(request)).executionId;
}

test('what has not ended of every tenant is counted, oldest first, until it ends', async () => {
  const ids = [await begin('t1', 'one'), await begin('t2', 'two')];
  const listed = await engine.client.listUnfinishedExecutions({ limit: 1 });
  expect(listed.total).toBe(2);
  expect(listed.executions).toMatchObject([{ id: ids[0], deploymentId: 'one', workflowId: 'install' }]);
  await eventually(async () => {
    for (const id of ids) await work(engine.client, id, 'w1');
    expect(await engine.client.listUnfinishedExecutions({ limit: 1 })).toEqual({ executions: [], total: 0 });
  }, DEADLINE);
}, 30_000);
