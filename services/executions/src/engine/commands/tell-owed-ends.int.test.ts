import { executionsRpc, listQuery, type Principal } from '@baton/contracts';
import { systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { runDoctor } from '../../doctor/commands/run-doctor';
import { deleteExecutions } from '../../executions/commands/delete-executions';
import { explainExecution } from '../../executions/queries/explain-execution';
import { peerDeployment } from '../../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { roomyQueue } from '../../testing/roomy-queue';
import { cancelExecution } from './cancel-execution';
import { resumeExecution } from './resume-execution';

/** Ends that were stored while deployments was away: when it is back, it hears them, from any process. */

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

const { begin, row, phaseIs, workToEnd } = drive(() => engine);
const DEADLINE = { deadlineMs: 60_000 };
const shown = (deploymentId: string) => engine.peer.latest.get(deploymentId)?.status;

/** Starts an execution with an operation that is leased to a worker. */
async function atWork(deploymentId: string) {
  engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }, ['create']));
  const id = await begin(deploymentId, 'install');
  await phaseIs(id, 'running');
  const claim = { workerId: 'w1', executionId: id, taskId: '', room: 1 };
  const [lease] = (await engine.client.claimTask(claim)).leases;
  const outcome = {
    ...{ taskId: lease!.taskId, executionId: id, attempt: lease!.attempt, retryAfter: -1 },
    ...{ kind: executionsRpc.OutcomeKind.OUTCOME_KIND_SUCCEEDED, resultJson: 'null' },
  };
  return { id, answer: () => engine.client.finishTasks({ workerId: 'w1', outcomes: [outcome], room: 0 }) };
}

/** Cancels by force while deployments is away, and checks that the execution ends within its limit. */
async function cancelledUnheard(id: string): Promise<void> {
  engine.peer.setDown(true);
  const since = systemClock.monotonic();
  await cancelExecution(engine.deps, id, 'force-cancel');
  await eventually(async () => expect((await row(id)).status).toBe('cancelled'), { deadlineMs: 20_000 });
  expect(systemClock.monotonic() - since).toBeLessThan(10_000);
}

const ROOMY = roomyQueue();
const principal = {
  ...{ username: 'admin', tenant: 'default_tenant', role: 'default', roles: ['default'], tenants: [] },
  ...{ permissions: [], isBootstrapAdmin: true },
} as unknown as Principal;
const deleted = async (deploymentId: string): Promise<string[]> => {
  const list = listQuery({ filters: { deployment_id: [deploymentId] } });
  const rows = await deleteExecutions(engine.db, principal, list, {}, systemClock.now());
  return rows.map(({ id }) => id);
};

test('deployments hears the end of a forced cancel when it is back, from a process that knows nothing of it', async () => {
  const { id, answer } = await atWork('away');
  await cancelledUnheard(id);
  expect(await explainExecution(engine.db.query, await row(id), ROOMY)).toMatchObject([
    { kind: 'effects' },
    { kind: 'left-run' },
  ]);
  // The execution is still needed, so it is not deleted; its end stays owed after a late answer too.
  expect(await deleted('away')).toEqual([]);
  await answer();
  await engine.restart();
  expect(shown('away')).toBeUndefined();
  engine.peer.setDown(false);
  await eventually(async () => expect((await row(id)).wake_at).toBeNull(), DEADLINE);
  expect(shown('away')).toBe('cancelled');
  expect(await runDoctor(engine.deps, false)).toEqual([]);
  expect(await explainExecution(engine.db.query, await row(id), ROOMY)).toEqual([]);
  expect(await deleted('away')).toEqual([id]);
}, 120_000);

test('a resume takes it over, and what was told of before comes too late', async () => {
  const { id } = await atWork('resumed');
  await cancelledUnheard(id);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let hanging = 0;
  engine.peer.duringEnds(async () => {
    hanging++;
    await released;
  });
  engine.peer.setDown(false);
  await eventually(async () => expect(hanging).toBeGreaterThan(0), DEADLINE);
  engine.peer.duringEnds(null);
  await resumeExecution(engine.deps, id, false);
  await workToEnd(id);
  expect(shown('resumed')).toBe('terminated');
  const heard = engine.peer.ended.length;
  release();
  await eventually(
    async () => expect(engine.peer.ended.length).toBeGreaterThanOrEqual(heard + hanging),
    DEADLINE,
  );
  expect(engine.peer.ended.at(-1)).toEqual({ executionId: id, status: 'cancelled' });
  expect(shown('resumed')).toBe('terminated');
  expect((await row(id)).wake_at).toBeNull();
}, 120_000);

test('a deployment that is gone meanwhile hears nothing more', async () => {
  const { id } = await atWork('gone');
  await cancelledUnheard(id);
  engine.peer.deployments.delete('gone');
  engine.peer.setDown(false);
  await eventually(async () => expect((await row(id)).wake_at).toBeNull(), DEADLINE);
}, 120_000);
