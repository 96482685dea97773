import { executionsRpc } from '@baton/contracts';
import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { runDoctor } from '../../doctor/commands/run-doctor';
import { explainExecution } from '../../executions/queries/explain-execution';
import { readExecution } from '../../executions/store/executions.sql';
import { countAtWork } from '../../executions/store/queue.sql';
import { cloudifyOperations } from '../../foreign-operations/http/cloudify/wire-policy';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup, work } from '../../testing/engine-setup';
import { listOperations } from '../queries/list-operations';
import { cancelExecution } from './cancel-execution';
import { resumeExecution } from './resume-execution';
import { wakeEnded, wakeForgotten } from './wake-deferred';

const { OutcomeKind } = executionsRpc;
const DEADLINE = { deadlineMs: 15_000 };

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

async function begin(deploymentId: string, more: object = {}): Promise<string> {
  if (!engine.peer.deployments.has(deploymentId))
    engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }, ['start']));
  const { executionId } = await engine.client.startExecution({
    ...{ tenant: 'default_tenant', requestId: newId(), createdBy: 'admin', deploymentId },
    ...{ workflowId: 'install', parametersJson: '{}' },
    ...more,
  });
  return executionId;
}

const row = async (id: string) => (await readExecution(engine.db.query, id))!;
const endsAs = (id: string, status: string) =>
  eventually(async () => expect((await row(id)).status).toBe(status), DEADLINE);

/** Returns a separate execution that has ended. */
async function ended(deploymentId: string): Promise<string> {
  const id = await begin(deploymentId);
  await eventually(async () => {
    await work(engine.client, id, 'w1');
    expect((await row(id)).status).toBe('terminated');
  }, DEADLINE);
  return id;
}

interface Task {
  id: string;
  state: string;
  attempt: number;
  retries: number;
  not_before: number | null;
  worker_id: string | null;
}
async function operationOf(id: string): Promise<Task> {
  const { rows } = await sql<Task>`select id, state, attempt, retries, not_before, worker_id from tasks
    where execution_id = ${id} and spec->>'kind' = 'operation'`.execute(engine.db.query);
  expect(rows).toHaveLength(1);
  return rows[0]!;
}

async function claim(id: string): Promise<executionsRpc.TaskLease> {
  return await eventually(async () => {
    const answer = await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 });
    expect(answer.leases).toHaveLength(1);
    return answer.leases[0]!;
  }, DEADLINE);
}

function defer(lease: executionsRpc.TaskLease, untilExecution: string, seconds = 60) {
  const { taskId, executionId, attempt } = lease;
  const errorJson = JSON.stringify({ exceptionType: 'OperationDeferred', message: 'waits for the child' });
  const kind = OutcomeKind.OUTCOME_KIND_DEFERRED;
  const outcome = { taskId, executionId, attempt, kind, errorJson, untilExecution, retryAfter: seconds };
  return engine.client.finishTasks({ workerId: 'w1', outcomes: [outcome], room: 0 });
}

/** Returns an execution whose operation waits for another execution. */
async function waiting(parent: string, untilExecution: string, seconds?: number): Promise<string> {
  const id = await begin(parent);
  await defer(await claim(id), untilExecution, seconds);
  return id;
}

const isDispatched = (id: string, attempt: number) =>
  eventually(async () => expect(await operationOf(id)).toMatchObject({ state: 'sent', attempt }), DEADLINE);
const messagesOf = async (id: string): Promise<string[]> => {
  const { rows } = await sql<{ message: string }>`
    select message from events where execution_id = ${id} order by seq`.execute(engine.db.query);
  return rows.map(({ message }) => message);
};

test('an operation that waits holds neither worker nor lease and is dispatched again when the execution has ended', async () => {
  const child = await begin('child');
  const id = await waiting('parent', child);
  const task = await operationOf(id);
  expect(task).toMatchObject({ state: 'pending', attempt: 1, retries: 0, worker_id: null });
  expect(Number(task.not_before) - Date.now()).toBeGreaterThan(50_000);
  expect(
    (await engine.client.claimTask({ workerId: 'w2', executionId: id, taskId: '', room: 5 })).leases,
  ).toEqual([]);

  await work(engine.client, child, 'w2');
  await endsAs(child, 'terminated');
  // A message brings the end: nothing polls, and the operation's own next look is a minute away.
  await isDispatched(id, 2);
  const second = await claim(id);
  await defer(second, await begin('child2'));
  // The attempt is the fence: an outcome of the first worker no longer counts.
  expect((await defer({ ...second, attempt: 1 }, child)).refused).toEqual([second.taskId]);
  expect(await operationOf(id)).toMatchObject({ state: 'pending', retries: 0 });
});

test('what it waits for had ended before it was stored as waiting: it is found', async () => {
  const child = await ended('early');
  const id = await waiting('late', child);
  await isDispatched(id, 2);
  // The second time it does not look again at once, but after half a second.
  const before = Date.now();
  await defer(await claim(id), child);
  await isDispatched(id, 3);
  expect(Date.now() - before).toBeGreaterThanOrEqual(450);
});

test('nobody wakes it for an execution of another tenant or none: it looks after its own time', async () => {
  const before = Date.now();
  const id = await waiting('strange', newId(), 0);
  await isDispatched(id, 2);
  expect(Date.now() - before).toBeGreaterThanOrEqual(450);
  const foreign = await ended('foreign');
  await sql`update executions set tenant = 'other' where id = ${foreign}`.execute(engine.db.query);
  await defer(await claim(id), foreign);
  expect(await wakeForgotten(engine.deps)).toBe(0);
  expect(await operationOf(id)).toMatchObject({ state: 'pending', attempt: 2 });
});

/** Ends a child as if it had ended long ago and nobody had been told. */
async function endedUnheard(child: string): Promise<void> {
  await sql`update executions set phase = 'ended', status = 'failed', ended_at = app_now() - interval '2 minutes'
    where id = ${child}`.execute(engine.db.query);
}

test('a lost wake-up is found by the loop, and by the doctor', async () => {
  const child = await begin('lost_child');
  const [one, two] = [await waiting('lost', child), await waiting('lost_too', child)];
  await endedUnheard(child);
  const forgotten = async (isRepair: boolean) =>
    (await runDoctor(engine.deps, isRepair)).filter(({ check }) => check === 'deferral-forgotten');
  expect(await forgotten(false)).toHaveLength(2);
  expect(await wakeForgotten(engine.deps)).toBe(2);
  for (const id of [one, two]) await isDispatched(id, 2);
  expect(await wakeForgotten(engine.deps)).toBe(0);
  const second = await begin('lost_second');
  const third = await waiting('lost_as_well', second);
  await endedUnheard(second);
  expect(await forgotten(true)).toMatchObject([{ is_repaired: true }]);
  await isDispatched(third, 2);
});

test('one that waits again for what has ended looks a moment later, however often it is woken meanwhile', async () => {
  const child = await begin('again_child');
  const id = await waiting('again', child);
  await endedUnheard(child);
  await wakeForgotten(engine.deps);
  await isDispatched(id, 2);
  await defer(await claim(id), child);
  await wakeEnded(engine.deps, [child]);
  await wakeEnded(engine.deps, [child]);
  await isDispatched(id, 3);
  await wakeEnded(engine.deps, [child]);
  expect(await operationOf(id)).toMatchObject({ attempt: 3 });
});

test('one that waits and cannot be read keeps no others from being woken, nor does it those of later ends', async () => {
  const [child, later] = [await begin('unread_child'), await begin('unread_later')];
  const id = await waiting('unread', child);
  const [beside, after] = [await waiting('unread_beside', child), await waiting('unread_after', later)];
  // Between two steps of the execution: a step under way would keep the graph in memory. So it must be read from the rows.
  await engine.deps.turns.take(id, async () => {
    await sql`update tasks_graphs set tasks = 'no graph' where execution_id = ${id}`.execute(engine.db.query);
    engine.deps.memory.forget(id);
  });
  await endedUnheard(child);
  engine.deps.wake.ended(child);
  await isDispatched(beside, 2);
  await endedUnheard(later);
  engine.deps.wake.ended(later);
  await isDispatched(after, 2);
  expect(await operationOf(id)).toMatchObject({ attempt: 1 });
});

test.each(['cancel', 'force-cancel', 'kill'] as const)(
  '%s ends it while it waits, and a resume lets it look',
  async (mode) => {
    const child = await begin(`${mode}_child`);
    const id = await waiting(`${mode}_parent`, child);
    await cancelExecution(engine.deps, id, mode);
    await endsAs(id, 'cancelled');
    await work(engine.client, child, 'w1');
    await endsAs(child, 'terminated');
    expect(await operationOf(id)).toMatchObject({ state: 'pending', attempt: 1 });
    await resumeExecution(engine.deps, id, false);
    expect(await work(engine.client, id, 'w1')).toEqual(['start a_1']);
    await endsAs(id, 'terminated');
  },
);

test('it says once what it waits for, counts no retry, and shows as started', async () => {
  const child = await begin('told_child');
  const id = await waiting('told', child);
  for (let attempt = 2; attempt <= 3; attempt++) {
    await sql`update executions set version = version + 1 where id = ${id}`.execute(engine.db.query);
    const { id: taskId } = await operationOf(id);
    await sql`update tasks set not_before = 1 where id = ${taskId}`.execute(engine.db.query);
    await sql`update executions set wake_at = app_now() where id = ${id}`.execute(engine.db.query);
    await defer(await claim(id), child);
  }
  const task = await operationOf(id);
  expect(task).toMatchObject({ attempt: 3, retries: 0 });
  const messages = await messagesOf(id);
  for (const text of ['waits for the child', "Task started 'probe.op'", "Sending task 'probe.op'"])
    expect(messages.filter((message) => message === text)).toHaveLength(1);
  const shown = await listOperations(
    engine.db.query,
    { executionId: id, states: ['started'], skipInternal: true },
    sql`true`,
    { ...cloudifyOperations, managerName: 'm' },
  );
  expect(shown.map(({ id: shownId, state }) => [shownId, state])).toContainEqual([task.id, 'started']);
  const [reason] = await explainExecution(engine.db.query, await row(id), engine.deps.queue);
  expect(reason).toMatchObject({
    kind: 'deferred',
    message: `cloudify.interfaces.lifecycle.start of a_1 waits for execution ${child} (install of told_child), which is started`,
    until: new Date(Number(task.not_before)).toISOString(),
    details: {
      operation_id: task.id,
      execution_id: child,
      workflow_id: 'install',
      deployment_id: 'told_child',
    },
  });
  expect(Date.parse(reason!.since!)).toBeLessThan(Date.parse(reason!.until!) - 60_000);
});

test('an execution that only waits takes no place of max_concurrent_workflows', async () => {
  const before = await countAtWork(engine.db.query);
  const child = await begin('place_child');
  expect(await countAtWork(engine.db.query)).toBe(before + 1);
  const id = await waiting('place', child);
  expect(await countAtWork(engine.db.query)).toBe(before + 1);
  await work(engine.client, child, 'w1');
  await isDispatched(id, 2);
  expect(await countAtWork(engine.db.query)).toBe(before + 1);
});

test('its time limit holds for all of its looks and the time in between', async () => {
  const deployment = peerDeployment({ a: [] }, ['start']);
  Object.values(deployment.nodes[0]!.operations)[0]!.timeout = 1;
  engine.peer.deployments.set('limited', deployment);
  const id = await waiting('limited', await begin('limited_child'));
  await endsAs(id, 'failed');
  expect((await row(id)).error).toContain('Process killed due to timeout of 1 seconds');
  expect(await operationOf(id)).toMatchObject({ attempt: 1, state: 'failed' });
});
