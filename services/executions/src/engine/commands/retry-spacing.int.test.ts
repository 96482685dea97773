import { executionsRpc } from '@baton/contracts';
import { eventually, setFakeNow } from '@baton/testkit';
import { peerDeployment } from '../../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';

/** Attempts of an operation that always fails: `task_retries` 2, `task_retry_interval` 3 (reference/workflows.md ch. 9, 17). */

const { OutcomeKind } = executionsRpc;
const BEGIN_MS = Date.parse('2031-05-01T12:00:00Z');
const INTERVAL_MS = 3_000;

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup({ BATON_TASK_RETRIES: '2', BATON_TASK_RETRY_INTERVAL: '3' });
}, 60_000);
afterAll(async () => await engine?.stop());

const { begin, phaseIs, row } = drive(() => engine);
const setNow = (ms: number) => setFakeNow(engine.db.pool, new Date(ms).toISOString());
const claim = async (executionId: string) =>
  (await engine.client.claimTask({ workerId: 'w1', executionId, taskId: '', room: 8 })).leases;

test('a worker gets no attempt before the interval after the one before it is over, and all of them then', async () => {
  await setNow(BEGIN_MS);
  engine.peer.deployments.set('failing', peerDeployment({ a: [] }, ['create']));
  const id = await begin('failing', 'install');
  await phaseIs(id, 'running');
  for (const attempt of [0, 1, 2]) {
    const dueMs = BEGIN_MS + attempt * INTERVAL_MS;
    if (attempt > 0) {
      await setNow(dueMs - 1);
      expect(await claim(id)).toEqual([]);
      await setNow(dueMs);
    }
    const lease = await eventually(
      async () => {
        const [found] = await claim(id);
        expect(JSON.parse(found!.assignmentJson)).toMatchObject({ retryNumber: attempt });
        return found!;
      },
      { deadlineMs: 15_000 },
    );
    const failed = {
      ...{ taskId: lease.taskId, executionId: id, attempt: lease.attempt, retryAfter: -1 },
      kind: OutcomeKind.OUTCOME_KIND_FAILED_RECOVERABLE,
      errorJson: '{"exceptionType":"RuntimeError","message":"always"}',
    };
    await engine.client.finishTasks({ workerId: 'w1', outcomes: [failed], room: 0 });
  }
  await phaseIs(id, 'ended');
  expect((await row(id)).status).toBe('failed');
});
