import { executionsRpc } from '@baton/contracts';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { dequeueExecutions } from '../../executions/commands/dequeue-executions';
import { requestExecution } from '../../executions/commands/request-execution';
import type { StartRequest } from '../../executions/domain/start-request';
import { executionsRoutes } from '../../executions/http/executions.routes';
import { explainExecution } from '../../executions/queries/explain-execution';
import { peerDeployment } from '../../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { httpRig } from '../../testing/http-rig';
import { startRequest } from '../../testing/start-request';
import { cloudifyWire, specWire } from '../../wire-policy';
import { cancelExecution } from './cancel-execution';
import { reapLeases } from './reap-leases';

/** Effects of a cancel on running operations, and on executions that are to start beside them. */

const { OutcomeKind } = executionsRpc;
const DEADLINE = { deadlineMs: 20_000 };

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup({ BATON_CANCEL_GRACE: '10m' });
}, 60_000);
beforeEach(() => {
  engine.deps.cancelGraceMs = 600_000;
});
afterAll(async () => await engine?.stop());
const { row, phaseIs } = drive(() => engine);

async function ask(deploymentId: string, more: Partial<StartRequest> = {}): Promise<string> {
  if (!engine.peer.deployments.has(deploymentId))
    engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }, ['create', 'start']));
  return (await requestExecution(engine.deps, startRequest(deploymentId, more))).id;
}

const claim = async (executionId: string, workerId = 'w1') =>
  (await engine.client.claimTask({ workerId, executionId, taskId: '', room: 4 })).leases;

/** Starts an execution whose first operation runs on worker `w1`. */
async function atWork(deploymentId: string, more: Partial<StartRequest> = {}) {
  const id = await ask(deploymentId, more);
  await phaseIs(id, 'running');
  const lease = await eventually(async () => {
    const [first] = await claim(id);
    if (!first) throw new Error('nothing to claim yet');
    return first;
  }, DEADLINE);
  return { id, lease };
}

const killsOf = async ({ taskId }: executionsRpc.TaskLease) =>
  (await engine.client.heartbeat({ workerId: 'w1', taskIds: [taskId] })).kill;

const answer = (lease: executionsRpc.TaskLease, kind: executionsRpc.OutcomeKind) =>
  engine.client.finishTasks({
    workerId: 'w1',
    room: 4,
    outcomes: [
      {
        taskId: lease.taskId,
        executionId: lease.executionId,
        attempt: lease.attempt,
        kind,
        retryAfter: -1,
        resultJson: 'null',
      },
    ],
  });

const why = async (id: string) =>
  await explainExecution(engine.db.query, { ...(await row(id)) }, engine.deps.queue);

const stateOf = async ({ taskId }: executionsRpc.TaskLease) =>
  (await sql<{ state: string }>`select state from tasks where id = ${taskId}`.execute(engine.db.query))
    .rows[0]!.state;

/** Returns the minutes from the cancel to its deadline, rounded: the clock goes on within a transaction. */
const minutesOf = ({ cancel_deadline, cancel_requested_at }: Awaited<ReturnType<typeof row>>): number =>
  Math.round((Date.parse(cancel_deadline!) - Date.parse(cancel_requested_at!)) / 6_000) / 10;

test('what runs may end within the grace; nothing new starts, and the deadline is shown', async () => {
  const { id, lease } = await atWork('graceful');
  await cancelExecution(engine.deps, id, 'cancel');
  const { status, cancel_deadline: deadline } = await row(id);
  expect(status).toBe('cancelling');
  expect(minutesOf(await row(id))).toBe(10);
  expect((await why(id)).map(({ kind, until }) => (kind === 'cancel' ? [kind, until] : [kind]))).toEqual([
    ['cancel', deadline],
    ['lease'],
  ]);
  expect(await killsOf(lease)).toEqual([]);
  expect((await answer(lease, OutcomeKind.OUTCOME_KIND_SUCCEEDED)).leases).toEqual([]);
  await phaseIs(id, 'ended');
  expect([(await row(id)).status, await stateOf(lease)]).toEqual(['cancelled', 'response-sent']);
});

test('an execution shows since when it is cancelled, and until when what runs may end', async () => {
  const http = await httpRig(engine, executionsRoutes({ ...engine.deps, nowMs: () => 0 }, specWire));
  const original = await httpRig(engine, executionsRoutes({ ...engine.deps, nowMs: () => 0 }, cloudifyWire));
  try {
    const { id, lease } = await atWork('shown');
    const shown = async () => (await http.call('GET', `/executions/${id}`)).body;
    expect(Object.keys(await shown()).filter((name) => name.startsWith('cancel_'))).toEqual([]);
    const { body } = await http.call('POST', `/executions/${id}`, { action: 'cancel' });
    const { cancel_requested_at, cancel_deadline } = await row(id);
    expect(body).toMatchObject({ status: 'cancelling', cancel_requested_at, cancel_deadline });
    expect(await shown()).toMatchObject({ cancel_requested_at, cancel_deadline });
    expect(Object.keys((await original.call('GET', `/executions/${id}`)).body)).not.toContain(
      'cancel_requested_at',
    );
    await answer(lease, OutcomeKind.OUTCOME_KIND_SUCCEEDED);
    await phaseIs(id, 'ended');
    // The execution waits for nothing any more, so no deadline is shown.
    const ended = await shown();
    expect([ended.cancel_requested_at, 'cancel_deadline' in ended]).toEqual([cancel_requested_at, false]);
  } finally {
    await http.close();
    await original.close();
  }
});

test('a parameter of the execution says how long its grace is', async () => {
  const parameters = { cancel_grace: 90 };
  const { id } = await atWork('own-grace', { parameters, allowCustomParameters: true });
  await cancelExecution(engine.deps, id, 'cancel');
  expect(minutesOf(await row(id))).toBe(1.5);
  await cancelExecution(engine.deps, id, 'kill');
});

test('after the grace what runs is stopped, and the execution ends with the answer of its worker', async () => {
  engine.deps.cancelGraceMs = 300;
  const { id, lease } = await atWork('over');
  await cancelExecution(engine.deps, id, 'cancel');
  await eventually(async () => expect(await killsOf(lease)).toEqual([lease.taskId]), DEADLINE);
  expect((await row(id)).status).toBe('cancelling');
  await answer(lease, OutcomeKind.OUTCOME_KIND_CANCELLED);
  await phaseIs(id, 'ended');
  expect((await row(id)).status).toBe('cancelled');
});

test('a worker that does not answer is not waited for longer than it takes to stop something', async () => {
  engine.deps.cancelGraceMs = 300;
  const { id, lease } = await atWork('silent');
  await cancelExecution(engine.deps, id, 'cancel');
  await eventually(async () => expect((await row(id)).status).toBe('cancelled'), DEADLINE);
  expect(await killsOf(lease)).toEqual([lease.taskId]);
}, 40_000);

test('a forced cancel in the grace ends at once', async () => {
  const { id, lease } = await atWork('forced');
  await cancelExecution(engine.deps, id, 'cancel');
  await cancelExecution(engine.deps, id, 'force-cancel');
  await eventually(async () => expect((await row(id)).status).toBe('cancelled'), DEADLINE);
  expect(await killsOf(lease)).toEqual([lease.taskId]);
});

test('nothing starts beside what is being stopped: it queues, says why, and starts with the answer of the worker', async () => {
  const { id, lease } = await atWork('beside');
  await cancelExecution(engine.deps, id, 'force-cancel');
  await phaseIs(id, 'ended');
  const next = await ask('beside', { workflowId: 'uninstall' });
  expect((await row(next)).status).toBe('queued');
  await dequeueExecutions(engine.deps);
  expect((await row(next)).status).toBe('queued');
  const [reason] = await why(next);
  expect(reason).toMatchObject({
    kind: 'left-run',
    details: { execution_id: id, worker: 'w1', operation_id: lease.taskId, is_being_stopped: true },
  });
  expect(reason!.message).toContain('is being stopped on worker w1');
  await answer(lease, OutcomeKind.OUTCOME_KIND_CANCELLED);
  await eventually(async () => expect((await row(next)).phase).not.toBe('waiting'), DEADLINE);
});

test('nor beside a worker that is not heard of, until its lease is lost; by force it starts', async () => {
  const { id, lease } = await atWork('unheard');
  await cancelExecution(engine.deps, id, 'kill');
  await phaseIs(id, 'ended');
  const next = await ask('unheard', { workflowId: 'uninstall' });
  expect((await row(next)).status).toBe('queued');
  expect((await row(await ask('unheard', { workflowId: 'uninstall', isForced: true }))).status).toBe(
    'pending',
  );
  // Ends the forced execution, which may have ended by itself.
  await sql`update executions set status = 'cancelled', phase = 'ended'
    where deployment_id = 'unheard' and is_forced and phase <> 'ended'`.execute(engine.db.query);
  await sql`update tasks set lease_until = app_now() - interval '1 second' where id = ${lease.taskId}`.execute(
    engine.db.query,
  );
  await reapLeases(engine.deps);
  await eventually(async () => expect((await row(next)).phase).not.toBe('waiting'), DEADLINE);
});

test('what runs on although its execution has failed keeps others out, and a kill stops it', async () => {
  engine.peer.deployments.set('failed', peerDeployment({ a: [], b: [] }, ['create']));
  const { id } = await atWork('failed', { waitAfterFailS: 0 });
  const { rows } = await sql<{ id: string; attempt: number }>`
    select id, attempt from tasks where execution_id = ${id} and worker_id = 'w1' order by idx`.execute(
    engine.db.query,
  );
  expect(rows).toHaveLength(2);
  const [first, left] = rows.map(
    (task) => ({ taskId: task.id, executionId: id, attempt: task.attempt }) as executionsRpc.TaskLease,
  );
  await answer(first!, OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE);
  await eventually(async () => expect((await row(id)).status).toBe('failed'), DEADLINE);
  await expect(ask('failed', { workflowId: 'uninstall' })).rejects.toMatchObject({
    code: 'existing_running_execution_error',
    details: { executions: [id], operations: [left!.taskId] },
    message: expect.stringContaining('still runs on worker w1'),
  });
  await cancelExecution(engine.deps, id, 'kill');
  expect(await killsOf(left!)).toEqual([left!.taskId]);
  expect((await row(id)).status).toBe('failed');
});
