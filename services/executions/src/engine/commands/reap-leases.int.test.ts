import { executionsRpc } from '@baton/contracts';
import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { peerDeployment } from '../../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { unclaimedTasks } from '../store/tasks.sql';
import { reapLeases } from './reap-leases';
import { wakeExecutions } from './wake-executions';

/** Leases of operations: renewed by heartbeats, taken from silent workers. */

const { OutcomeKind } = executionsRpc;
const DEADLINE = { deadlineMs: 10_000 };

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

const { begin, row, phaseIs } = drive(() => engine);

test('a late report of a lost lease is refused and the operation runs once more under a new attempt', async () => {
  engine.peer.deployments.set('lost', peerDeployment({ a: [] }, ['create']));
  const id = await begin('lost', 'install');
  await phaseIs(id, 'running');
  const first = (await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 }))
    .leases[0]!;
  expect(first.attempt).toBe(1);
  const again = await engine.client.claimTask({
    workerId: 'w1',
    executionId: id,
    taskId: first.taskId,
    room: 1,
  });
  expect(again.leases.map((lease) => [lease.taskId, lease.attempt])).toEqual([[first.taskId, 1]]);
  expect(
    (await engine.client.claimTask({ workerId: 'w2', executionId: id, taskId: first.taskId, room: 1 }))
      .leases,
  ).toEqual([]);

  const leaseEnds = (inSeconds: number) =>
    sql`update tasks set lease_until = app_now() + make_interval(secs => ${inSeconds})
      where id = ${first.taskId}`.execute(engine.db.query);
  // `againInMs` tells the reaper to come back when the first lease expires.
  await leaseEnds(5);
  const { runs, againInMs } = await reapLeases(engine.deps);
  expect(runs).toBe(0);
  expect(againInMs).toBeGreaterThan(0);
  expect(againInMs).toBeLessThanOrEqual(5_001);
  await leaseEnds(-1);
  let second: executionsRpc.TaskLease | undefined;
  await reapLeases(engine.deps);
  await eventually(async () => {
    second = (
      await engine.client.claimTask({ workerId: 'w2', executionId: id, taskId: first.taskId, room: 1 })
    ).leases[0];
    expect(second?.attempt).toBe(2);
  }, DEADLINE);
  // Its wake-up may be at a frozen worker: a lost operation is announced again sooner than one that was never lost.
  const isUnclaimed = (losses: number) =>
    engine.db
      .tx(async (tx) => {
        await sql`update tasks set worker_id = null, state = 'sent', losses = ${losses},
        dispatched_at = app_now() - interval '2 seconds' where id = ${first.taskId}`.execute(tx);
        const found = (await unclaimedTasks(tx, 5_000, 1_000, 10)).some((task) => task.id === first.taskId);
        // Rolls back: the query must leave no change.
        throw Object.assign(new Error('rolled back'), { found });
      })
      .catch((error: { found?: boolean }) => error.found);
  expect([await isUnclaimed(0), await isUnclaimed(1)]).toEqual([false, true]);
  expect((await engine.client.heartbeat({ workerId: 'w1', taskIds: [first.taskId] })).lost).toEqual([
    first.taskId,
  ]);
  const outcome = {
    executionId: id,
    taskId: first.taskId,
    kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED,
    resultJson: '"late"',
    retryAfter: -1,
  };
  const late = await engine.client.finishTasks({
    workerId: 'w1',
    outcomes: [{ ...outcome, attempt: 1 }],
    room: 0,
  });
  expect(late.refused).toEqual([first.taskId]);
  await engine.client.finishTasks({ workerId: 'w2', outcomes: [{ ...outcome, attempt: 2 }], room: 0 });
  await phaseIs(id, 'ended');
  expect((await row(id)).status).toBe('terminated');
});

test('a heartbeat locks one task at a time while a step writes them in another order', async () => {
  engine.peer.deployments.set('locks', peerDeployment({ a: [], b: [] }, ['create']));
  const id = await begin('locks', 'install');
  await phaseIs(id, 'running');
  const { leases } = await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 2 });
  const [first, second] = leases.map((lease) => lease.taskId) as [string, string];
  await sql`update tasks set lease_until = app_now() where execution_id = ${id}`.execute(engine.db.query);
  const step = await engine.db.pool.connect();
  const lock = (task: string) => step.query('update tasks set version = version where id = $1', [task]);
  await step.query('begin');
  await lock(second);
  const heartbeat = engine.client.heartbeat({ workerId: 'w1', taskIds: [first, second, newId()] });
  await eventually(async () => {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(engine.db.query);
    expect(rows).toHaveLength(1);
  }, DEADLINE);
  // Shorter than the time after which the database would look for a deadlock.
  await step.query("set local lock_timeout = '400ms'");
  await lock(first).finally(async () => {
    await step.query('commit');
    step.release();
  });
  expect((await heartbeat).lost).toHaveLength(1);
  const { rows } =
    await sql`select 1 from tasks where execution_id = ${id} and lease_until > app_now()`.execute(
      engine.db.query,
    );
  expect(rows).toHaveLength(2);
  await engine.client.finishTasks({
    workerId: 'w1',
    room: 0,
    outcomes: leases.map(({ taskId, attempt }) => ({
      ...{ executionId: id, taskId, attempt, retryAfter: -1, resultJson: 'null' },
      kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED,
    })),
  });
  await phaseIs(id, 'ended');
});

test('an execution that cannot be gone on with keeps the loops from no other', async () => {
  const ids: string[] = [];
  for (const id of ['broken', 'whole']) {
    engine.peer.deployments.set(id, peerDeployment({ a: [] }, ['create']));
    ids.push(await begin(id, 'install'));
    await phaseIs(ids.at(-1)!, 'running');
    const { leases } = await engine.client.claimTask({
      ...{ workerId: 'w1', executionId: ids.at(-1)!, taskId: '', room: 1 },
    });
    expect(leases).toHaveLength(1);
  }
  const [broken, whole] = ids as [string, string];
  await engine.db.tx(async (tx) => {
    await sql`update tasks_graphs set tasks = '\\x00' where execution_id = ${broken}`.execute(tx);
    for (const id of ids)
      await sql`update tasks set lease_until = app_now() - make_interval(secs => ${id === broken ? 2 : 1})
        where execution_id = ${id} and worker_id is not null`.execute(tx);
    // The graph in memory is out of date now.
    await sql`update executions set version = version + 1 where id = ${broken}`.execute(tx);
  });
  await reapLeases(engine.deps);
  const next = await engine.client.claimTask({ workerId: 'w2', executionId: whole, taskId: '', room: 1 });
  expect(next.leases.map(({ attempt }) => attempt)).toEqual([2]);

  const { taskId } = next.leases[0]!;
  const kind = OutcomeKind.OUTCOME_KIND_RETRY;
  const outcome = { executionId: whole, taskId, attempt: 2, kind, retryAfter: 3_600 };
  await engine.client.finishTasks({ workerId: 'w2', outcomes: [outcome], room: 0 });
  await sql`update tasks set not_before = 1 where execution_id = ${whole} and state = 'pending'
    and not_before is not null`.execute(engine.db.query);
  await sql`update executions set wake_at = app_now() - make_interval(secs => case when id = ${broken} then 2 else 1 end),
    version = version + 1 where id = any(${ids}::uuid[])`.execute(engine.db.query);
  await wakeExecutions(engine.deps);
  const third = await engine.client.claimTask({ workerId: 'w2', executionId: whole, taskId: '', room: 1 });
  expect(third.leases.map(({ attempt }) => attempt)).toEqual([1]);
});

test('an execution whose row somebody holds keeps nothing from those that are reported with it', async () => {
  const reports: executionsRpc.TaskOutcome[] = [];
  const ids: string[] = [];
  for (const deploymentId of ['held', 'free']) {
    engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }, ['create', 'start']));
    const executionId = await begin(deploymentId, 'install');
    ids.push(executionId);
    await phaseIs(executionId, 'running');
    reports.push(succeeded((await claim(executionId))[0]!));
  }
  const report = (outcomes: executionsRpc.TaskOutcome[]) =>
    engine.client.finishTasks({ workerId: 'w1', outcomes, room: outcomes.length, readsUntaken: true });
  const holder = await engine.db.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select from executions where id = $1 for update', [ids[0]]);
    const answer = await report(reports);
    expect(answer.untaken).toEqual([ids[0]]);
    expect(answer.leases.map((lease) => lease.executionId)).toEqual([ids[1]]);
    await report([succeeded(answer.leases[0]!)]);
    await phaseIs(ids[1]!, 'ended');
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  // The repeated outcome is taken now, or refused because it was taken meanwhile. One of the two calls leases the next operation.
  const { leases } = await report([reports[0]!]);
  const [next] = [...leases, ...(await claim(ids[0]!))];
  expect(JSON.parse(next!.assignmentJson).operation).toMatch(/start$/);
  await report([succeeded(next!)]);
  await phaseIs(ids[0]!, 'ended');
  expect((await row(ids[0]!)).status).toBe('terminated');
}, 60_000);

async function claim(executionId: string): Promise<executionsRpc.TaskLease[]> {
  return (await engine.client.claimTask({ workerId: 'w1', executionId, taskId: '', room: 1 })).leases;
}

function succeeded({ executionId, taskId, attempt }: executionsRpc.TaskLease): executionsRpc.TaskOutcome {
  const kind = OutcomeKind.OUTCOME_KIND_SUCCEEDED;
  return executionsRpc.TaskOutcome.fromPartial({ executionId, taskId, attempt, kind, retryAfter: -1 });
}
