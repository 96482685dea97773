import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { cancelExecution } from './commands/cancel-execution';
import { reapLeases } from './commands/reap-leases';
import { resumeExecution } from './commands/resume-execution';
import { listOperations } from './queries/list-operations';
import { readExecution } from './store/executions.sql';
import { peerDeployment } from './testing/deployments-peer';
import { type EngineSetup, engineSetup, work } from './testing/engine-setup';

/** What stays of an execution that was stopped, and what a resume makes of it. */

const DEADLINE = { deadlineMs: 15_000 };

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

async function begin(deploymentId: string, workflowId: string): Promise<string> {
  const { executionId } = await engine.client.startExecution({
    ...{ tenant: 'default_tenant', requestId: newId(), createdBy: 'admin', parametersJson: '{}' },
    ...{ deploymentId, workflowId },
  });
  await phaseIs(executionId, 'running');
  return executionId;
}

const row = async (id: string) => (await readExecution(engine.db.query, id))!;
const phaseIs = (id: string, phase: string) =>
  eventually(async () => expect((await row(id)).phase).toBe(phase), DEADLINE);

async function workToEnd(id: string): Promise<string[]> {
  const ran: string[] = [];
  await eventually(async () => {
    ran.push(...(await work(engine.client, id, 'w2')));
    expect((await row(id)).phase).toBe('ended');
  }, DEADLINE);
  return ran;
}

async function operationsOf(id: string): Promise<string[]> {
  const filter = { executionId: id, states: [], skipInternal: true };
  const shown = { wire: 'spec' as const, managerName: 'm' };
  const all = await listOperations(engine.db.query, filter, sql`true`, shown);
  return all.filter(({ type }) => type === 'RemoteWorkflowTask').map(({ state }) => state);
}

test('after a cancel nothing shows as sent; what a lost worker ran is open again, and a resume runs it', async () => {
  engine.peer.deployments.set('lost', peerDeployment({ a: [], b: [] }, ['create']));
  const id = await begin('lost', 'install');
  const { leases } = await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 });
  expect((await operationsOf(id)).sort()).toEqual(['sent', 'started']);
  await cancelExecution(engine.deps, id, 'cancel');
  await phaseIs(id, 'ended');
  expect((await operationsOf(id)).sort()).toEqual(['pending', 'started']);
  // Its worker dies, and nobody is at work on the execution when the lease runs out.
  const { taskId } = leases[0]!;
  await sql`update tasks set lease_until = app_now() - interval '1 second' where id = ${taskId}`.execute(
    engine.db.query,
  );
  await reapLeases(engine.deps);
  expect(await operationsOf(id)).toEqual(['pending', 'pending']);
  await resumeExecution(engine.deps, id, false);
  expect((await workToEnd(id)).sort()).toEqual(['create a_1', 'create b_1']);
  expect((await row(id)).status).toBe('terminated');
});

test('an operation of a graph that was cut off and followed by another is not left as started', async () => {
  engine.peer.deployments.set('left', peerDeployment({ a: [] }, ['stop']));
  const id = await begin('left', 'restart');
  const { leases } = await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 });
  await sql`update tasks set lease_until = app_now() - interval '1 second' where id = ${leases[0]!.taskId}`.execute(
    engine.db.query,
  );
  // As when the time after a failure ran out, and the program went on with its next stage.
  await sql`update executions set graph_id = null where id = ${id}`.execute(engine.db.query);
  await reapLeases(engine.deps);
  expect(await operationsOf(id)).toEqual(['failed']);
});

test('a workflow that is not resumable is refused before anything of it runs', async () => {
  const deployment = peerDeployment({ a: [] }, ['stop', 'delete', 'create', 'start']);
  const operation = 'cloudify.plugins.workflows.auto_heal_reinstall_node_subgraph';
  deployment.workflows.heal = {
    plugin: 'default_workflows',
    operation,
    parameters: { force_reinstall: { default: true } },
  };
  for (const instance of deployment.instances) instance.state = 'started';
  engine.peer.deployments.set('healed', deployment);
  const id = await begin('healed', 'heal');
  await cancelExecution(engine.deps, id, 'cancel');
  await phaseIs(id, 'ended');
  await resumeExecution(engine.deps, id, false);
  await phaseIs(id, 'ended');
  expect(await workToEnd(id)).toEqual([]);
  expect(await row(id)).toMatchObject({
    status: 'failed',
    error: 'Cannot resume - workflow not resumable: heal',
  });
});
