import { executionsRpc } from '@baton/contracts';
import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { lockExecution, readExecution } from '../../executions/store/executions.sql';
import { peerDeployment } from '../../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup, work } from '../../testing/engine-setup';
import { pendingStates } from '../store/instance-states.sql';
import { cancelExecution } from './cancel-execution';
import { claimTask } from './claim-task';
import { deliverAll } from './deliver-states';
import { driveExecution } from './drive-execution';
import { resumeExecution } from './resume-execution';

const { OutcomeKind } = executionsRpc;
const DEADLINE = { deadlineMs: 10_000 };

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

const { begin, row, phaseIs, workToEnd } = drive(() => engine);

const eventsOf = async (id: string) => {
  const { rows } = await sql<{ seq: number; event_type: string; message: string }>`
    select seq, event_type, message from events where execution_id = ${id} order by seq`.execute(
    engine.db.query,
  );
  return rows;
};

test('install runs the operations in the order of the dependencies and leaves every instance started', async () => {
  engine.peer.deployments.set('chain', peerDeployment({ a: [], b: ['a'], c: ['b'] }));
  const id = await begin('chain', 'install');
  const ran = await workToEnd(id);
  expect(ran).toEqual(['create a_1', 'start a_1', 'create b_1', 'start b_1', 'create c_1', 'start c_1']);
  expect(engine.peer.deployments.get('chain')!.instances.map((i) => i.state)).toEqual([
    'started',
    'started',
    'started',
  ]);
  expect(await row(id)).toMatchObject({ status: 'terminated', error: '' });
  expect(engine.peer.ended).toContainEqual({ executionId: id, status: 'terminated' });
  const events = await eventsOf(id);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
  expect(events[0]!.event_type).toBe('workflow_started');
  expect(
    events.filter((event) => /^workflow_(succeeded|failed|cancelled)$/.test(event.event_type)),
  ).toHaveLength(1);
  expect(events.at(-1)!.event_type).toBe('workflow_succeeded');

  const uninstall = await begin('chain', 'uninstall');
  expect((await workToEnd(uninstall)).filter((call) => call.startsWith('delete'))).toEqual([
    'delete c_1',
    'delete b_1',
    'delete a_1',
  ]);
});

test('the first events of a new manager lie in the partition of their month', async () => {
  engine.peer.deployments.set('first', peerDeployment({ a: [] }));
  await workToEnd(await begin('first', 'install'));
  const { rows } = await sql<{ partition: string; month: string }>`
    select distinct tableoid::regclass::text as partition, to_char(created_at at time zone 'UTC', 'YYYYMM') as month
    from events`.execute(engine.db.query);
  expect(rows.length).toBeGreaterThan(0);
  for (const { partition, month } of rows) expect(partition).toMatch(new RegExp(`events_${month}$`));
});

test('one that succeeded has failed when deployments finds at its end that dependencies close a circle', async () => {
  engine.peer.deployments.set('circle', peerDeployment({ a: [] }, ['start']));
  engine.peer.failures.set('circle', 'Cyclic dependency between circle and other');
  const id = await begin('circle', 'install');
  await workToEnd(id);
  const { status, error } = await row(id);
  expect([status, error]).toEqual(['failed', 'Cyclic dependency between circle and other']);
  expect(engine.peer.ended.filter((end) => end.executionId === id).at(-1)?.status).toBe('failed');
});

test('an execution that is removed takes its graph, tasks, marks and undelivered states with it', async () => {
  engine.peer.deployments.set('removed', peerDeployment({ a: [], b: ['a'] }));
  const id = await begin('removed', 'install');
  await phaseIs(id, 'running');
  const { leases } = await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 });
  const write = sql`insert into instance_states (execution_id, seq, node_instance_id, state) values (${id}, 1000000, 'a_1', 'started')`;
  await write.execute(engine.db.query);
  const rows = async () =>
    (
      await sql<{ counts: number[] }>`
        with graphs as (select id from tasks_graphs where execution_id = ${id})
        select array[(select count(*) from graphs), (select count(*) from tasks where execution_id = ${id}),
          (select count(*) from task_marks where graph_id = any(${graphIds}::uuid[])),
          (select count(*) from instance_states where execution_id = ${id})]::int[] as counts`.execute(
        engine.db.query,
      )
    ).rows[0]!.counts;
  const { rows: graphs } = await sql<{
    id: string;
  }>`select id from tasks_graphs where execution_id = ${id}`.execute(engine.db.query);
  const graphIds = graphs.map((graph) => graph.id);
  expect(leases).toHaveLength(1);
  expect((await rows()).every((count) => count > 0)).toBe(true);
  await sql`delete from executions where id = ${id}`.execute(engine.db.query);
  expect(await rows()).toEqual([0, 0, 0, 0]);
});

test('what a later release has written is refused and left as it is, until a replica can read it', async () => {
  engine.peer.deployments.set('later', peerDeployment({ a: [] }));
  const id = await begin('later', 'install');
  await phaseIs(id, 'running');
  const claim = () => claimTask(engine.deps, { workerId: 'w1', executionId: id, taskId: '', room: 1 });
  await sql`update executions set format = 2 where id = ${id}`.execute(engine.db.query);
  await expect(driveExecution(engine.deps, id)).rejects.toThrow(
    `execution ${id}: format 2 of a workflow history`,
  );
  await sql`update executions set format = null where id = ${id}`.execute(engine.db.query);
  await sql`update tasks_graphs set format = 2 where execution_id = ${id}`.execute(engine.db.query);
  engine.deps.memory.forget(id);
  await expect(claim()).rejects.toThrow('format 2 of a task graph');
  await sql`update tasks_graphs set format = 1 where execution_id = ${id}`.execute(engine.db.query);
  await workToEnd(id);
  expect((await row(id)).status).toBe('terminated');
});

test('claims that wait for the same execution share its next step, and none gets more than its room', async () => {
  const nodes = { a: [], b: [], c: [], d: [], e: [], f: [] };
  engine.peer.deployments.set('wide', peerDeployment(nodes));
  const id = await begin('wide', 'install');
  await phaseIs(id, 'running');
  const claim = async (workerId: string, room: number, taskId = '') =>
    (await claimTask(engine.deps, { workerId, executionId: id, taskId, room })).map((lease) => lease.taskId);
  const [first] = await claim('w1', 1);
  const { version } = (await readExecution(engine.db.query, id))!;

  let letGo!: () => void;
  const held = engine.deps.turns.take(id, () => new Promise<void>((resolve) => (letGo = resolve)));
  const asked = [claim('w1', 2, first), claim('w1', 1), claim('w2', 2), claim('w2', 9)];
  await eventually(() => letGo !== undefined);
  letGo();
  const [again, ...others] = await Promise.all(asked);
  await held;

  expect(again).toHaveLength(2);
  expect(again).toContain(first);
  expect(others.map((tasks) => tasks.length)).toEqual([1, 2, 1]);
  expect(new Set([...again!, ...others.flat()]).size).toBe(6);
  expect((await readExecution(engine.db.query, id))!.version).toBe(version + 1);
});

test('a recoverable failure is tried again after its interval, then the execution fails with the error of the operation', async () => {
  engine.peer.deployments.set('failing', peerDeployment({ a: [], b: ['a'] }, ['create']));
  const id = await begin('failing', 'install');
  const error = JSON.stringify({
    exceptionType: 'RecoverableError',
    message: 'no route',
    traceback: null,
    causes: [],
  });
  const ran = await workToEnd(id, () => ({
    kind: OutcomeKind.OUTCOME_KIND_FAILED_RECOVERABLE,
    errorJson: error,
  }));
  expect(ran).toEqual(['create a_1', 'create a_1', 'create a_1']);
  const ended = await row(id);
  expect(ended.status).toBe('failed');
  expect(ended.error).toContain('no route');
  expect(engine.peer.deployments.get('failing')!.instances.map((i) => i.state)).toEqual([
    'creating',
    'uninitialized',
  ]);
});

test('one running execution a deployment: the next is refused, queued, or forced', async () => {
  engine.peer.deployments.set('busy', peerDeployment({ a: [] }, ['create', 'delete']));
  const first = await begin('busy', 'install');
  await phaseIs(first, 'running');
  await expect(begin('busy', 'uninstall', { force: false }))
    .rejects.toMatchObject({ code: 'unavailable_workflow_error' })
    .catch(async () => {
      await expect(begin('busy', 'start')).rejects.toMatchObject({
        code: 'existing_running_execution_error',
      });
    });
  const queued = await begin('busy', 'start', { queue: true });
  expect(await row(queued)).toMatchObject({ status: 'queued', phase: 'waiting' });
  await workToEnd(first);
  await workToEnd(queued);
  expect((await row(queued)).status).toBe('terminated');
});

test('the same request id starts once; with another content it is refused', async () => {
  engine.peer.deployments.set('twice', peerDeployment({ a: [] }, ['create']));
  const requestId = newId();
  const ids = await Promise.all([1, 2, 3].map(() => begin('twice', 'install', { requestId })));
  expect(new Set(ids).size).toBe(1);
  await expect(begin('twice', 'start', { requestId })).rejects.toMatchObject({ code: 'conflict_error' });
  await workToEnd(ids[0]!);
});

test('of executions asked for at the same moment each is accepted or refused for itself', async () => {
  const names = ['one', 'two', 'three', 'four', 'five'];
  for (const name of names) engine.peer.deployments.set(name, peerDeployment({ a: [] }, ['create']));
  const requestId = newId();
  const asked = await Promise.allSettled([
    begin('one', 'install'),
    // Without a worker neither of these ends, so the second one is refused however late it comes.
    begin('two', 'install'),
    begin('two', 'install'),
    begin('three', 'install', { requestId }),
    begin('four', 'install', { requestId }),
    begin('five', 'install'),
  ]);
  const codes = asked.map((one) => (one.status === 'rejected' ? one.reason.code : 'accepted'));
  expect([codes[0], codes[5]]).toEqual(['accepted', 'accepted']);
  expect(codes.slice(1, 3).sort()).toEqual(['accepted', 'existing_running_execution_error']);
  expect(codes.slice(3, 5).sort()).toEqual(['accepted', 'conflict_error']);
  const { rows } = await sql`select id from executions where deployment_id = any(${names}::text[])`.execute(
    engine.db.query,
  );
  expect(rows).toHaveLength(4);
});

test('the end waits until deployments has every state, also when it was away', async () => {
  engine.peer.deployments.set('away', peerDeployment({ a: [] }, ['create']));
  const id = await begin('away', 'install');
  await phaseIs(id, 'running');
  engine.peer.setDown(true);
  await work(engine.client, id, 'w1');
  await phaseIs(id, 'ending');
  expect((await row(id)).status).toBe('started');
  engine.peer.setDown(false);
  await phaseIs(id, 'ended');
  expect(engine.peer.deployments.get('away')!.instances[0]!.state).toBe('started');
}, 30_000);

test('a failed execution is resumed: what succeeded is not run again, what failed is', async () => {
  engine.peer.deployments.set('resumed', peerDeployment({ a: [], b: ['a'] }));
  const id = await begin('resumed', 'install');
  const fatal = { kind: OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE, errorJson: '{"message":"no"}' };
  const ran = await workToEnd(id, ({ operation, instance }) =>
    operation === 'start' && instance === 'b_1' ? fatal : { kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED },
  );
  expect(ran).toEqual(['create a_1', 'start a_1', 'create b_1', 'start b_1']);
  expect((await row(id)).status).toBe('failed');
  await resumeExecution(engine.deps, id, false);
  // The half-started instance is stopped before it is started again (reference/workflows.md 2.9).
  expect(await workToEnd(id)).toEqual(['stop b_1', 'start b_1']);
  expect(await row(id)).toMatchObject({ status: 'terminated', error: '', is_resumed: true });
  const events = await eventsOf(id);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
  expect(events.some((event) => event.message === "Resuming 'install' workflow execution")).toBe(true);
  await expect(resumeExecution(engine.deps, id, false)).rejects.toMatchObject({ code: 'conflict_error' });
});

test('a result that comes after a cancel counts when the execution is resumed', async () => {
  engine.peer.deployments.set('late', peerDeployment({ a: [] }, ['create', 'start']));
  const id = await begin('late', 'install');
  await phaseIs(id, 'running');
  const lease = (await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 }))
    .leases[0]!;
  await cancelExecution(engine.deps, id, 'cancel');
  await phaseIs(id, 'ended');
  expect((await row(id)).status).toBe('cancelled');
  const outcome = { executionId: id, taskId: lease.taskId, attempt: lease.attempt, retryAfter: -1 };
  const done = { ...outcome, kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED, resultJson: 'null' };
  expect((await engine.client.finishTasks({ workerId: 'w1', outcomes: [done], room: 1 })).leases).toEqual([]);
  await resumeExecution(engine.deps, id, false);
  expect(await workToEnd(id)).toEqual(['start a_1']);
  expect((await row(id)).status).toBe('terminated');
});

test('an operation may ask for any time until its next try: fractions, and what no clock shows', async () => {
  engine.peer.deployments.set('asking', peerDeployment({ a: [] }, ['create', 'start']));
  const id = await begin('asking', 'install');
  await phaseIs(id, 'running');
  const retry = { kind: OutcomeKind.OUTCOME_KIND_RETRY, errorJson: '{"message":"again"}' };
  const ran = await workToEnd(id, ({ operation, retry: tries }) =>
    operation === 'create' && tries === 0
      ? { ...retry, retryAfter: 0.0123 }
      : { kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED },
  );
  expect(ran).toEqual(['create a_1', 'create a_1', 'start a_1']);
  engine.peer.deployments.set('asking-much', peerDeployment({ a: [] }, ['create']));
  const late = await begin('asking-much', 'install');
  await phaseIs(late, 'running');
  const ask = { workerId: 'w1', executionId: late, taskId: '', room: 1 };
  for (const { taskId, attempt } of (await engine.client.claimTask(ask)).leases) {
    const outcome = { executionId: late, taskId, attempt, ...retry, retryAfter: 1e30 };
    await engine.client.finishTasks({ workerId: 'w1', outcomes: [outcome], room: 0 });
  }
  await cancelExecution(engine.deps, late, 'cancel');
  await phaseIs(late, 'ended');
});

test('what an operation answers is stored, or fails it: nothing keeps the execution from ending', async () => {
  engine.peer.deployments.set('answers', peerDeployment({ a: [], b: [], c: [] }, ['create']));
  const id = await begin('answers', 'install');
  const done = OutcomeKind.OUTCOME_KIND_SUCCEEDED;
  const odd = { kind: done, resultJson: '["a\\u0000b", "\\ud800", "\\\\u0000"]' };
  const deep = { kind: done, resultJson: `${'['.repeat(100_000)}${']'.repeat(100_000)}` };
  await workToEnd(id, ({ instance }) => ({ a_1: odd, b_1: deep })[instance] ?? { kind: done });
  const { status, error } = await row(id);
  expect([status, error]).toEqual([
    'failed',
    expect.stringContaining('its result cannot be stored: Maximum call stack size exceeded'),
  ]);
  const { rows } = await sql<{ result: unknown }>`select result from tasks
    where execution_id = ${id} and result is not null`.execute(engine.db.query);
  expect(rows.map(({ result }) => result)).toContainEqual(['a\ufffdb', '\ufffd', '\\u0000']);
  const torn = await begin('answers', 'uninstall');
  await workToEnd(torn, () => ({
    kind: OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
    errorJson: '{"message": "half of a pair: \\udfff"}',
  }));
  expect((await row(torn)).phase).toBe('ended');
});

test('results of one execution beyond what a process should hold fail their operations, also after a restart', async () => {
  engine.peer.deployments.set('large', peerDeployment({ a: [], b: [], c: [], d: [], e: [] }, ['create']));
  const id = await begin('large', 'install');
  const large = { kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED, resultJson: `"${'x'.repeat(15_000_000)}"` };
  await workToEnd(id, () => {
    // Forgets the graph: the sizes of earlier results must be counted from the rows.
    engine.deps.memory.forget(id);
    return large;
  });
  const { status, error } = await row(id);
  expect([status, error]).toEqual([
    'failed',
    expect.stringMatching(
      /^Task failed: .*: NonRecoverableError `The result has 15000002 characters, those of the other tasks of the execution 60000008; at most 67108864 are kept`$/,
    ),
  ]);
  expect(error).not.toContain('xxx');
});

test('states behind any number of delivered ones reach deployments before the execution goes on', async () => {
  engine.peer.deployments.set('many', peerDeployment({ a: [] }, ['create']));
  const id = await begin('many', 'install');
  await phaseIs(id, 'running');
  const { memory, db } = engine.deps;
  await engine.deps.db.tx(async (tx) => memory.load(tx, (await lockExecution(tx, id))!));
  await eventually(async () => expect(await pendingStates(db.query, id)).toEqual([]), DEADLINE);
  await sql`insert into instance_states (execution_id, seq, node_instance_id, state)
    select ${id}, 100 + n, 'a_1', case n when 700 then 'configured' else 'creating' end
    from generate_series(1, 700) n`.execute(db.query);
  await sql`update executions set last_state_seq = 800, version = version + 1 where id = ${id}`.execute(
    db.query,
  );
  // This replica has delivered most of the states, and its graph in memory is older than the row.
  memory.known(id)!.deliveredSeq = 799;
  await deliverAll(engine.deps, (await readExecution(db.query, id))!);
  expect(engine.peer.deployments.get('many')!.instances[0]!.state).toBe('configured');
  expect(await pendingStates(db.query, id)).toEqual([]);
  await workToEnd(id);
});
