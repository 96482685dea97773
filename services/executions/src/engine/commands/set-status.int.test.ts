import { executionsRpc } from '@baton/contracts';
import { sql } from 'kysely';
import { peerDeployment } from '../../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { resumeExecution } from './resume-execution';
import { setStatus } from './set-status';

/** Effects of a status that a client sets on an execution with running operations. */

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

const { begin, row, phaseIs, workToEnd } = drive(() => engine);

/** Starts an install whose first operation is leased to a worker; the second operation depends on it. */
async function atWork(deploymentId: string) {
  engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }, ['create', 'start']));
  const id = await begin(deploymentId, 'install');
  await phaseIs(id, 'running');
  const { leases } = await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 });
  return { id, lease: leases[0]! };
}

async function succeedLate({ taskId, executionId, attempt }: executionsRpc.TaskLease) {
  const kind = executionsRpc.OutcomeKind.OUTCOME_KIND_SUCCEEDED;
  const outcome = { taskId, executionId, attempt, kind, resultJson: '1', retryAfter: -1 };
  return await engine.client.finishTasks({ workerId: 'w1', outcomes: [outcome], room: 4 });
}

async function eventsOf(id: string): Promise<string[]> {
  const { rows } = await sql<{ event_type: string }>`
    select event_type from events where execution_id = ${id} and not is_log order by seq`.execute(
    engine.db.query,
  );
  return rows.map((event) => event.event_type);
}

const sentOf = async (id: string) =>
  (await sql`select 1 from tasks where execution_id = ${id} and state = 'sent'`.execute(engine.db.query))
    .rows;

test.each(['failed', 'cancelled', 'terminated'] as const)(
  'what runs when a client sets %s ends by itself, nothing follows from it, and a resume goes on behind it',
  async (status) => {
    const { id, lease } = await atWork(`set-${status}`);
    await setStatus(engine.deps, id, status, 'by hand');
    await phaseIs(id, 'ended');
    const events = await eventsOf(id);
    expect((await succeedLate(lease)).leases).toEqual([]);
    expect(await sentOf(id)).toEqual([]);
    expect(await eventsOf(id)).toEqual(events);
    expect(await row(id)).toMatchObject({ status, phase: 'ended', error: 'by hand' });
    if (status === 'terminated') return;
    await resumeExecution(engine.deps, id, false);
    expect(await workToEnd(id)).toEqual(['start a_1']);
    expect((await row(id)).status).toBe('terminated');
  },
);

test.each(['cancelling', 'force_cancelling', 'kill_cancelling'] as const)(
  'who sets %s cancels: nothing begins any more, and without a grace what runs is stopped',
  async (status) => {
    const { id, lease } = await atWork(`set-${status}`);
    await setStatus(engine.deps, id, status, 'by hand');
    await phaseIs(id, 'ended');
    expect(await row(id)).toMatchObject({ status: 'cancelled', error: 'by hand' });
    const beat = await engine.client.heartbeat({ workerId: 'w1', taskIds: [lease.taskId] });
    expect(beat.kill).toEqual([lease.taskId]);
    expect((await succeedLate(lease)).leases).toEqual([]);
    expect(await sentOf(id)).toEqual([]);
  },
);

test.each(['queued', 'scheduled'] as const)(
  'what runs is stopped when a client sets %s, for it begins again',
  async (status) => {
    const { id, lease } = await atWork(`set-${status}`);
    await setStatus(engine.deps, id, status, '');
    const beat = await engine.client.heartbeat({ workerId: 'w1', taskIds: [lease.taskId] });
    expect(beat.kill).toEqual([lease.taskId]);
    expect(await workToEnd(id, undefined, 'w2')).toEqual(['create a_1', 'start a_1']);
    expect((await row(id)).status).toBe('terminated');
  },
);
