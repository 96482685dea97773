import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup, work } from '../../testing/engine-setup';
import { cancelExecution } from './cancel-execution';
import { setStatus } from './set-status';

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

async function begin(deploymentId: string): Promise<string> {
  engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }, ['create']));
  const { executionId } = await engine.client.startExecution({
    tenant: 'default_tenant',
    requestId: newId(),
    createdBy: 'admin',
    deploymentId,
    workflowId: 'install',
    parametersJson: '{}',
  });
  return executionId;
}

const row = async (id: string) =>
  (
    await sql<{
      phase: string;
      status: string;
    }>`select phase, status from executions where id = ${id}`.execute(engine.db.query)
  ).rows[0]!;

const endsOf = async (id: string) =>
  (
    await sql<{ event_type: string }>`
      select event_type from events where execution_id = ${id} and event_type in ('workflow_succeeded', 'workflow_failed', 'workflow_cancelled')`.execute(
      engine.db.query,
    )
  ).rows.map((event) => event.event_type);

/** Reports the only operation and waits for the end. */
async function workToEnd(id: string, deadlineMs = 15_000): Promise<void> {
  await eventually(
    async () => {
      await work(engine.client, id, 'w1');
      expect((await row(id)).phase).toBe('ended');
    },
    { deadlineMs },
  );
}

test('a cancel that is accepted while the end is being told to deployments wins', async () => {
  const id = await begin('last-moment');
  engine.peer.duringEnds(async (executionId) => {
    engine.peer.duringEnds(null);
    await cancelExecution(engine.deps, executionId, 'kill');
  });
  await workToEnd(id);
  expect(await row(id)).toEqual({ phase: 'ended', status: 'cancelled' });
  expect(await endsOf(id)).toEqual(['workflow_cancelled']);
  // Deployments heard both ends, in any order.
  const told = engine.peer.ended.filter((end) => end.executionId === id).map((end) => end.status);
  expect(new Set(told)).toEqual(new Set(['terminated', 'cancelled']));
  expect(engine.peer.latest.get('last-moment')?.status).toBe('cancelled');
});

test('so does a status that a client sets then', async () => {
  const id = await begin('set-at-last');
  engine.peer.duringEnds(async (executionId) => {
    engine.peer.duringEnds(null);
    await setStatus(engine.deps, executionId, 'failed', 'by hand');
  });
  await workToEnd(id);
  expect(await row(id)).toEqual({ phase: 'ended', status: 'failed' });
  expect(await endsOf(id)).toEqual(['workflow_failed']);
  expect(engine.peer.latest.get('set-at-last')?.status).toBe('failed');
});

test('who is impatient and kills it again is not refused', async () => {
  const id = await begin('twice');
  await eventually(async () => expect((await row(id)).phase).toBe('running'), { deadlineMs: 10_000 });
  await cancelExecution(engine.deps, id, 'kill');
  await cancelExecution(engine.deps, id, 'kill');
  await eventually(async () => expect(await row(id)).toEqual({ phase: 'ended', status: 'cancelled' }), {
    deadlineMs: 15_000,
  });
  await cancelExecution(engine.deps, id, 'kill');
  expect(await endsOf(id)).toEqual(['workflow_cancelled']);
});

test('a forced cancel ends within 10 s although deployments does not answer', async () => {
  const id = await begin('mute');
  await eventually(async () => expect((await row(id)).phase).toBe('running'), { deadlineMs: 10_000 });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  engine.peer.duringEnds(() => released);
  const since = performance.now();
  await cancelExecution(engine.deps, id, 'force-cancel');
  await eventually(async () => expect((await row(id)).status).toBe('cancelled'), { deadlineMs: 20_000 });
  expect(performance.now() - since).toBeLessThan(10_000);
  engine.peer.duringEnds(null);
  release();
}, 40_000);

test('one whose graph cannot be read can be cancelled', async () => {
  const id = await begin('unreadable');
  await eventually(async () => expect((await row(id)).phase).toBe('running'), { deadlineMs: 10_000 });
  await sql`update tasks_graphs set tasks = 'no graph' where execution_id = ${id}`.execute(engine.db.query);
  // The graphs in memory of all processes are out of date now.
  await sql`update executions set version = version + 1 where id = ${id}`.execute(engine.db.query);
  await cancelExecution(engine.deps, id, 'cancel');
  await eventually(async () => expect(await row(id)).toEqual({ phase: 'ended', status: 'cancelled' }), {
    deadlineMs: 15_000,
  });
  expect(await endsOf(id)).toEqual(['workflow_cancelled']);
});

test('so does one of an execution whose end hangs in every process that drives it', async () => {
  const id = await begin('hangs');
  await eventually(async () => expect((await row(id)).phase).toBe('running'), { deadlineMs: 10_000 });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let hanging = 0;
  engine.peer.duringEnds(() => {
    hanging++;
    return released;
  });
  await cancelExecution(engine.deps, id, 'cancel');
  // The end hangs in this process, and in the other process, whose loop drives it.
  await eventually(async () => expect(hanging).toBeGreaterThanOrEqual(2), { deadlineMs: 20_000 });
  const since = performance.now();
  await cancelExecution(engine.deps, id, 'force-cancel');
  await eventually(async () => expect((await row(id)).status).toBe('cancelled'), { deadlineMs: 30_000 });
  expect(performance.now() - since).toBeLessThan(10_000);
  engine.peer.duringEnds(null);
  release();
}, 60_000);
