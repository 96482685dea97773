import { executionsRpc } from '@baton/contracts';
import { sql } from 'kysely';
import { knownExecution } from '../../executions/queries/known-execution';
import { specOperations } from '../../foreign-operations/http/wire-policy';
import { peerDeployment } from '../../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { executionGraph } from '../queries/execution-graph';
import { listOperations } from '../queries/list-operations';
import { cancelExecution } from './cancel-execution';
import { reapLeases } from './reap-leases';
import { resumeExecution } from './resume-execution';

/** State of a stopped execution, and the effects of its resume. */

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

const { begin, row, phaseIs, workToEnd } = drive(() => engine);

async function running(deploymentId: string, workflowId: string): Promise<string> {
  const id = await begin(deploymentId, workflowId);
  await phaseIs(id, 'running');
  return id;
}

async function operationsOf(id: string): Promise<string[]> {
  const filter = { executionId: id, states: [], skipInternal: true };
  const shown = { ...specOperations, managerName: 'm' };
  const all = await listOperations(engine.db.query, filter, sql`true`, shown);
  return all.filter(({ type }) => type === 'RemoteWorkflowTask').map(({ state }) => state);
}

test('after a cancel nothing shows as sent; what a lost worker ran is open again, and a resume runs it', async () => {
  engine.peer.deployments.set('lost', peerDeployment({ a: [], b: [] }, ['create']));
  const id = await running('lost', 'install');
  const { leases } = await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 });
  expect((await operationsOf(id)).sort()).toEqual(['sent', 'started']);
  await cancelExecution(engine.deps, id, 'cancel');
  await phaseIs(id, 'ended');
  expect((await operationsOf(id)).sort()).toEqual(['pending', 'started']);
  // The worker dies, and the execution is not running when the lease expires.
  const { taskId } = leases[0]!;
  await sql`update tasks set lease_until = app_now() - interval '1 second' where id = ${taskId}`.execute(
    engine.db.query,
  );
  await reapLeases(engine.deps);
  expect(await operationsOf(id)).toEqual(['pending', 'pending']);
  await resumeExecution(engine.deps, id, false);
  expect((await workToEnd(id, undefined, 'w2')).sort()).toEqual(['create a_1', 'create b_1']);
  expect((await row(id)).status).toBe('terminated');
});

test('an operation of a graph that was cut off and followed by another is not left as started', async () => {
  engine.peer.deployments.set('left', peerDeployment({ a: [] }, ['stop']));
  const id = await running('left', 'restart');
  const { leases } = await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 });
  await sql`update tasks set lease_until = app_now() - interval '1 second' where id = ${leases[0]!.taskId}`.execute(
    engine.db.query,
  );
  // The row is as after a failure whose waiting time is over: the program went on with its next stage.
  await sql`update executions set graph_id = null where id = ${id}`.execute(engine.db.query);
  const before = await shownGraph(id, null);
  await reapLeases(engine.deps);
  expect(await operationsOf(id)).toEqual(['failed']);
  // A query for changes since the earlier version finds the operation; the next query finds nothing.
  const changed = await shownGraph(id, before.version);
  expect(changed.version).toBeGreaterThan(before.version);
  expect(changed.graphs.flatMap(({ operations }) => operations)).toMatchObject([
    { id: leases[0]!.taskId, state: 'failed', error: { type: 'ResultLost' } },
  ]);
  expect(await shownGraph(id, changed.version)).toMatchObject({ matched_operations: 0 });
});

async function shownGraph(id: string, sinceVersion: number | null) {
  const execution = (await knownExecution(engine.db.query, id))!;
  const wish = { sinceVersion, offset: 0, size: null };
  const shown = { ...specOperations, managerName: 'm', showsRuns: true };
  return await executionGraph(engine.deps, execution, shown, wish);
}

test('only a resume leaves the end; another try is refused with a code of its own', async () => {
  engine.peer.deployments.set('done', peerDeployment({ a: [] }, ['create']));
  const id = await running('done', 'install');
  await workToEnd(id);
  const leave = sql`update executions set status = 'started', phase = 'running' where id = ${id}`;
  const refused = await leave.execute(engine.db.query).catch((error: unknown) => error);
  // Not BT001: that code means that the tenant is being removed, and callers are told so.
  expect(refused).toMatchObject({
    code: 'BT002',
    message: expect.stringContaining('has ended as terminated'),
  });
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
  const id = await running('healed', 'heal');
  await cancelExecution(engine.deps, id, 'cancel');
  await phaseIs(id, 'ended');
  await resumeExecution(engine.deps, id, false);
  await phaseIs(id, 'ended');
  expect(await workToEnd(id, undefined, 'w2')).toEqual([]);
  expect(await row(id)).toMatchObject({
    status: 'failed',
    error: 'Cannot resume - workflow not resumable: heal',
  });
});

test('a resume that finds that the last answers have come since ends', async () => {
  engine.peer.deployments.set('answered', peerDeployment({ a: [] }, ['create']));
  const id = await running('answered', 'install');
  const { leases } = await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 });
  await cancelExecution(engine.deps, id, 'cancel');
  await phaseIs(id, 'ended');
  const { taskId, attempt } = leases[0]!;
  const kind = executionsRpc.OutcomeKind.OUTCOME_KIND_SUCCEEDED;
  const outcome = { taskId, executionId: id, attempt, kind, resultJson: '1', retryAfter: -1 };
  await engine.client.finishTasks({ workerId: 'w1', outcomes: [outcome], room: 0 });
  await resumeExecution(engine.deps, id, false);
  await phaseIs(id, 'ended');
  expect((await row(id)).status).toBe('terminated');
});

const { OutcomeKind } = executionsRpc;

/** Ends the run of an execution's only operation with `kind`, and its next run with success; returns data of the next lease. */
async function runEndsAs(
  { executionId, ...lease }: executionsRpc.TaskLease,
  kind: executionsRpc.OutcomeKind,
) {
  const finish = async ({ taskId, attempt }: { taskId: string; attempt: number }, as = kind) => {
    const outcome = { taskId, executionId, attempt, kind: as, retryAfter: -1 };
    return (await engine.client.finishTasks({ workerId: 'w1', outcomes: [outcome], room: 1 })).leases;
  };
  const [next] = await finish(lease);
  const { isResumed, retryNumber } = JSON.parse(next!.assignmentJson) as Record<string, unknown>;
  await finish(next!, OutcomeKind.OUTCOME_KIND_SUCCEEDED);
  await phaseIs(executionId, 'ended');
  return { attempt: next!.attempt, isResumed, retryNumber };
}

test('what is killed for a cancel that a resume has taken back runs again as if nothing had happened', async () => {
  engine.peer.deployments.set('wanted', peerDeployment({ a: [] }, ['create']));
  const id = await running('wanted', 'install');
  const { leases } = await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 });
  await cancelExecution(engine.deps, id, 'kill');
  await phaseIs(id, 'ended');
  await resumeExecution(engine.deps, id, false);
  const next = await runEndsAs(leases[0]!, OutcomeKind.OUTCOME_KIND_CANCELLED);
  expect(next).toEqual({ attempt: 2, isResumed: false, retryNumber: 0 });
  expect((await row(id)).status).toBe('terminated');
});

test('what a worker leaves that goes down in order runs again at once, as after a loss and not as a failure', async () => {
  engine.peer.deployments.set('drained', peerDeployment({ a: [] }, ['create']));
  const id = await running('drained', 'install');
  const { leases } = await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 });
  const next = await runEndsAs(leases[0]!, OutcomeKind.OUTCOME_KIND_LEFT);
  expect(next).toEqual({ attempt: 2, isResumed: true, retryNumber: 0 });
  expect((await row(id)).status).toBe('terminated');
});
