import { executionsRpc } from '@baton/contracts';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { cloudifyOperations } from '../../foreign-operations/http/cloudify/wire-policy';
import { specOperations } from '../../foreign-operations/http/wire-policy';
import { peerDeployment } from '../../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { cancelExecution } from '../commands/cancel-execution';
import { reapLeases } from '../commands/reap-leases';
import { resumeExecution } from '../commands/resume-execution';
import { listOperations } from './list-operations';

/** Starts and ends of operations, as the statement of the steps writes them. */

const { OutcomeKind } = executionsRpc;
const DEADLINE = { deadlineMs: 15_000 };

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

const { begin, phaseIs, workToEnd } = drive(() => engine);

const shown = { ...specOperations, managerName: 'm' };
// biome-ignore lint/suspicious/noExplicitAny: an operation has the fields of runs here.
const all = async (executionId: string): Promise<any[]> =>
  await listOperations(engine.db.query, { executionId, states: [], skipInternal: false }, sql`true`, shown);
const remote = async (id: string) => (await all(id)).filter(({ type }) => type === 'RemoteWorkflowTask');
const subgraphs = async (id: string) => (await all(id)).filter(({ type }) => type === 'SubgraphTask');

async function running(deploymentId: string, operations = ['create'], workflow = 'install') {
  engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }, operations));
  const id = await begin(deploymentId, workflow);
  await phaseIs(id, 'running');
  return id;
}
const claim = async (executionId: string, workerId = 'w1') =>
  (await engine.client.claimTask({ workerId, executionId, taskId: '', room: 1 })).leases[0]!;
const report = (
  lease: executionsRpc.TaskLease,
  outcome: Partial<executionsRpc.TaskOutcome>,
  workerId = 'w1',
) => {
  const { taskId, executionId, attempt } = lease;
  return engine.client.finishTasks({
    workerId,
    room: 0,
    outcomes: [{ taskId, executionId, attempt, retryAfter: -1, resultJson: 'null', ...outcome }],
  });
};
const inOrder = (...times: (string | null)[]) => {
  for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect([...times].sort()).toEqual(times);
};
const loseLease = async ({ taskId }: executionsRpc.TaskLease) => {
  await sql`update tasks set lease_until = app_now() - interval '1 second' where id = ${taskId}`.execute(
    engine.db.query,
  );
  await reapLeases(engine.deps);
};

test('an operation has begun when a worker holds it; a retry is another one, and says when it is due', async () => {
  const id = await running('retried');
  const [sent] = await remote(id);
  expect(sent).toMatchObject({ state: 'sent', attempt: 1, started_at: null, ended_at: null, error: null });
  expect(sent).toMatchObject({ node_id: 'a', node_instance_id: 'a_1', next_retry_at: null });
  const [subgraph] = await subgraphs(id);
  expect(subgraph).toMatchObject({ id: sent.subgraph_id, state: 'started', attempt: null, ended_at: null });
  const lease = await claim(id);
  const [started] = await remote(id);
  expect(started).toMatchObject({ state: 'started', agent_name: 'w1', ended_at: null });
  inOrder(subgraph.started_at, started.started_at);
  await report(lease, {
    kind: OutcomeKind.OUTCOME_KIND_FAILED_RECOVERABLE,
    errorJson: JSON.stringify({ exceptionType: 'RuntimeError', message: 'not yet', traceback: 'at line 1' }),
    retryAfter: 3_600,
  });
  const [failed, retry] = await remote(id);
  expect(failed).toMatchObject({ state: 'failed', started_at: started.started_at, next_retry_at: null });
  expect(failed.error).toEqual({ type: 'RuntimeError', message: 'not yet', recoverable: true });
  inOrder(failed.started_at, failed.ended_at);
  expect(retry).toMatchObject({ state: 'pending', started_at: null, ended_at: null, attempt: 0 });
  expect(retry.parameters.retried_task).toBe(failed.id);
  const dueMs = Date.parse(retry.next_retry_at) - Date.parse(failed.ended_at);
  expect(Math.abs(dueMs - 3_600_000)).toBeLessThan(5_000);
  // The subgraph is unchanged by the failure and the retry inside it.
  expect((await subgraphs(id))[0]).toEqual(subgraph);
  await cancelExecution(engine.deps, id, 'force-cancel');
  await phaseIs(id, 'ended');
  // The retry will not run any more.
  expect((await remote(id))[1]).toMatchObject({ state: 'pending', next_retry_at: null });
});

test('each attempt after a lost worker begins anew', async () => {
  const id = await running('lost');
  const first = await claim(id);
  const [before] = await remote(id);
  await loseLease(first);
  expect((await remote(id))[0]).toMatchObject({
    state: 'sent',
    attempt: 2,
    started_at: null,
    ended_at: null,
  });
  const second = await eventually(async () => {
    const lease = await claim(id, 'w2');
    expect(lease?.attempt).toBe(2);
    return lease;
  }, DEADLINE);
  const [again] = await remote(id);
  expect(again).toMatchObject({ state: 'started', attempt: 2, agent_name: 'w2' });
  inOrder(before.started_at, again.started_at);
  expect(again.started_at).not.toBe(before.started_at);
  await report(second, { kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED }, 'w2');
  await phaseIs(id, 'ended');
  const [ended] = await remote(id);
  expect(ended.started_at).toBe(again.started_at);
  inOrder(ended.started_at, ended.ended_at);
  // Every ended task has both times, also a task without a row.
  for (const { started_at, ended_at } of await all(id)) inOrder(started_at, ended_at);
});

test('an operation that waits without a worker keeps the time of its first run while it looks again', async () => {
  const id = await running('waits');
  const lease = await claim(id);
  const [first] = await remote(id);
  const waits = { exceptionType: 'OperationDeferred', message: 'for a friend' };
  await report(lease, {
    kind: OutcomeKind.OUTCOME_KIND_DEFERRED,
    errorJson: JSON.stringify(waits),
    retryAfter: 3_600,
  });
  expect((await remote(id))[0]).toMatchObject({
    state: 'started',
    started_at: first.started_at,
    ended_at: null,
    next_retry_at: null,
  });
  await cancelExecution(engine.deps, id, 'force-cancel');
  await phaseIs(id, 'ended');
});

test('a resume gives every task a row, with the times that marks had', async () => {
  const id = await running('resumed', ['create', 'start']);
  await report(await claim(id), { kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED });
  await claim(id);
  const before = await all(id);
  await cancelExecution(engine.deps, id, 'force-cancel');
  await phaseIs(id, 'ended');
  await resumeExecution(engine.deps, id, true);
  const after = new Map((await all(id)).map((one) => [one.id, one]));
  const done = before.filter(({ state }) => state === 'succeeded');
  expect(done.length).toBeGreaterThan(2);
  for (const { id: task, started_at, ended_at } of done)
    expect(after.get(task)).toMatchObject({ started_at, ended_at });
  const { rows } = await sql`select 1 from task_marks m join tasks_graphs g on g.id = m.graph_id
    where g.execution_id = ${id}`.execute(engine.db.query);
  expect(rows).toEqual([]);
  await workToEnd(id, undefined, 'w2');
  for (const { started_at, ended_at } of await all(id)) inOrder(started_at, ended_at);
});

test('times that the release before did not write are null, and those that it left behind are not believed', async () => {
  const id = await running('older');
  const lease = await claim(id);
  const [{ id: taskId }] = await remote(id);
  // The rows are as the previous release ends a task: it writes only the state.
  await sql`update task_marks m set created_at = null from tasks_graphs g
    where g.id = m.graph_id and g.execution_id = ${id}`.execute(engine.db.query);
  await sql`update tasks set ended_at = '2020-01-01', started_at = null where id = ${taskId}`.execute(
    engine.db.query,
  );
  expect((await subgraphs(id))[0].started_at).toBeNull();
  await report(lease, { kind: OutcomeKind.OUTCOME_KIND_SUCCEEDED });
  await phaseIs(id, 'ended');
  const [ended] = await remote(id);
  expect(ended.started_at).toBeNull();
  expect(ended.ended_at > '2021').toBe(true);
});

test('the wire of the original has no such fields', async () => {
  const id = await running('original');
  const filter = { executionId: id, states: [], skipInternal: false };
  const [one] = await listOperations(engine.db.query, filter, sql`true`, {
    ...cloudifyOperations,
    managerName: 'm',
  });
  expect(Object.keys(one!)).not.toEqual(expect.arrayContaining(['started_at']));
  expect(Object.keys(one!)).not.toEqual(expect.arrayContaining(['subgraph_id']));
  await cancelExecution(engine.deps, id, 'force-cancel');
});
