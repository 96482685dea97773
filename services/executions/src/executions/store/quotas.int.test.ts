import { newId } from '@baton/kernel';
import { eventually, setFakeNow } from '@baton/testkit';
import { sql } from 'kysely';
import { resumeExecution } from '../../engine/commands/resume-execution';
import { setStatus } from '../../engine/commands/set-status';
import { createExecutionGroup } from '../../groups/commands/create-execution-group';
import { specGroups } from '../../groups/http/wire-policy';
import { readExecutionGroup } from '../../groups/queries/execution-groups';
import { fireSchedules } from '../../schedules/commands/fire-schedules';
import { schedulesRoutes } from '../../schedules/http/schedules.routes';
import { specSchedules } from '../../schedules/http/wire-policy';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { admin, httpRig } from '../../testing/http-rig';
import { startRequest } from '../../testing/start-request';
import { dequeueExecutions } from '../commands/dequeue-executions';
import { requestExecution } from '../commands/request-execution';
import type { StartRequest } from '../domain/start-request';
import { explainExecution } from '../queries/explain-execution';
import { readExecution, updateExecution } from './executions.sql';

/** Quotas of a tenant's executions, at work and in the queue, for every way to start one. */

const DEADLINE = { deadlineMs: 20_000 };
const T = 'default_tenant';

let engine: EngineSetup;
beforeEach(async () => {
  engine = await engineSetup();
}, 60_000);
afterEach(async () => await engine?.stop());

async function ask(deploymentId: string, more: Partial<StartRequest> = {}): Promise<string> {
  if (!engine.peer.deployments.has(deploymentId))
    engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }));
  return (await requestExecution(engine.deps, startRequest(deploymentId, more))).id;
}
const rowOf = async (id: string) => (await readExecution(engine.db.query, id))!;
const end = async (id: string, status: 'terminated' | 'failed' = 'terminated') => {
  await setStatus(engine.deps, id, status, status === 'failed' ? 'broken' : '');
  await eventually(async () => expect((await rowOf(id)).phase).toBe('ended'), DEADLINE);
};
const why = async (id: string) => await explainExecution(engine.db.query, await rowOf(id), engine.deps.queue);
/** Returns ids of the tenant's executions: those at work, and those that wait. */
async function parted(tenant = T): Promise<{ atWork: string[]; waiting: string[] }> {
  const { rows } = await sql<{ id: string; phase: string }>`
    select id, phase from executions where tenant = ${tenant} and phase <> 'ended' order by created_at, id`.execute(
    engine.db.query,
  );
  const isWaiting = ({ phase }: { phase: string }) => phase === 'waiting';
  return {
    atWork: rows.filter((row) => !isWaiting(row)).map(({ id }) => id),
    waiting: rows.filter(isWaiting).map(({ id }) => id),
  };
}
const many = (count: number, name: string, more: Partial<StartRequest> = {}) =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(`${name}${i}`, more)));

test('a burst never has more at work than the quota; the rest waits, why names the quota, and goes on as places free', async () => {
  await engine.limit({ [T]: { runningExecutions: 3 } });
  // One half of the starts takes the fast path, the other half takes one transaction each.
  const within = async () => undefined;
  const asked = await Promise.all(
    Array.from({ length: 16 }, (_, i) => {
      engine.peer.deployments.set(`b${i}`, peerDeployment({ a: [] }));
      return requestExecution(engine.deps, startRequest(`b${i}`), i % 2 ? within : undefined);
    }),
  );
  expect(asked.filter(({ status }) => status === 'queued')).toHaveLength(13);
  const { atWork, waiting } = await parted();
  expect([atWork.length, waiting.length]).toEqual([3, 13]);
  expect(await why(waiting[0]!)).toEqual([
    expect.objectContaining({
      kind: 'quota',
      message: `3 executions of tenant ${T} are at work, its quota allows 3 (max_running_executions)`,
      details: { quota: 'max_running_executions', tenant: T, running: 3, limit: 3 },
    }),
  ]);
  expect(await engine.client.getTenantUsage({ tenant: T })).toEqual({ running: 3, queued: 13 });
  // A forced start waits too; another tenant is not affected.
  expect((await rowOf(await ask('forced', { isForced: true }))).status).toBe('queued');
  expect((await rowOf(await ask('of-other', { tenant: 'other' }))).status).not.toBe('queued');
  // Several calls take from the queue at the same time, as several replicas do.
  await Promise.all(Array.from({ length: 4 }, () => dequeueExecutions(engine.deps)));
  expect((await parted()).atWork).toEqual(atWork);
  await end(atWork[0]!);
  await eventually(async () => {
    await dequeueExecutions(engine.deps);
    const now = await parted();
    expect(now.atWork).toContain(waiting[0]);
    expect(now.atWork).toHaveLength(3);
  }, DEADLINE);
  // After a raise of the limit, more executions start by themselves.
  await engine.limit({ [T]: { runningExecutions: 5 } });
  await eventually(async () => expect((await parted()).atWork).toHaveLength(5), DEADLINE);
  // Positive control: without a limit all start, up to the manager's own limit.
  await engine.limit({});
  await eventually(async () => expect((await parted()).waiting).toHaveLength(0), DEADLINE);
});

test('a start that comes when a place is free does not overtake what waits for the place', async () => {
  await engine.limit({ [T]: { runningExecutions: 1 } });
  const busy = await ask('busy');
  const first = await ask('first');
  // The state is as between the end of an execution and the next look at the queue.
  await engine.db.tx((tx) => updateExecution(tx, busy, { status: 'terminated', phase: 'ended' }));
  const late = await ask('late');
  await eventually(
    async () => expect(await parted()).toEqual({ atWork: [first], waiting: [late] }),
    DEADLINE,
  );
});

test('what waits for the quota of one tenant holds up no other tenant', async () => {
  await engine.limit({ [T]: { runningExecutions: 1 } });
  await many(8, 'held');
  const [first] = [await ask('theirs', { tenant: 'other' })];
  const second = await ask('theirs', { tenant: 'other', mayQueue: true, workflowId: 'uninstall' });
  expect((await rowOf(second)).status).toBe('queued');
  await end(first!);
  await eventually(async () => {
    await dequeueExecutions(engine.deps);
    expect((await rowOf(second)).phase).not.toBe('waiting');
  }, DEADLINE);
  expect((await parted()).waiting).toHaveLength(7);
});

test('a full queue refuses with limit, usage and when to come again; bursts do not exceed it', async () => {
  await engine.limit({ [T]: { runningExecutions: 1, queuedExecutions: 4 } });
  const settled = await Promise.allSettled(Array.from({ length: 12 }, (_, i) => ask(`q${i}`)));
  const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(refused).toHaveLength(7);
  expect(refused[0]).toMatchObject({
    code: 'too_many_requests_error',
    details: { quota: 'max_queued_executions', tenant: T, limit: 4, usage: 4, retry_after: 10 },
  });
  expect(refused[0].message).toContain(`PUT /tenants/${T}/quota`);
  const { atWork, waiting } = await parted();
  expect([atWork.length, waiting.length]).toEqual([1, 4]);
  // Executions that are scheduled for later count as waiting too.
  const later = { scheduledForMs: Date.now() + 3_600_000 };
  await expect(ask('later', later)).rejects.toMatchObject({ code: 'too_many_requests_error' });
  expect((await rowOf(await ask('later', { ...later, tenant: 'other' }))).status).toBe('scheduled');
});

test('what another execution started, and the work of the manager, is neither counted nor held back', async () => {
  await engine.limit({ [T]: { runningExecutions: 1, queuedExecutions: 0 } });
  const parent = await ask('parent');
  await eventually(async () => expect((await rowOf(parent)).phase).toBe('running'), DEADLINE);
  await engine.db.tx((tx) => updateExecution(tx, parent, { phase: 'calling' }));
  const child = await ask('child', { parentId: parent });
  expect((await rowOf(child)).phase).not.toBe('waiting');
  const system = { workflowId: 'delete_deployment_environment', isSystemWorkflow: true };
  expect((await rowOf(await ask('gone', system))).phase).not.toBe('waiting');
  // Positive control: another start is refused.
  await expect(ask('further')).rejects.toMatchObject({ details: { quota: 'max_queued_executions' } });
  expect(await engine.client.getTenantUsage({ tenant: T })).toEqual({ running: 1, queued: 0 });
});

test('members of a group start as far as the quota goes, and all or none are taken', async () => {
  await engine.limit({ [T]: { runningExecutions: 2, queuedExecutions: 5 } });
  const begin = async (name: string, count: number): Promise<string> => {
    const ids = Array.from({ length: count }, (_, i) => `${name}-${i}`);
    for (const id of ids) engine.peer.deployments.set(id, peerDeployment({ a: [] }));
    engine.peer.groups.set(name, ids);
    const groupId = newId();
    const request = {
      ...{ tenant: T, createdBy: 'admin', isAdministrator: true, groupId, deploymentGroupId: name },
      ...{ workflowId: 'install', defaultParameters: {}, parameters: {}, isForced: false, concurrency: 10 },
      ...{ visibility: null, createdAt: null },
    };
    await createExecutionGroup(engine.deps, request, (tx) =>
      readExecutionGroup(tx, admin, groupId, specGroups),
    );
    return groupId;
  };
  await expect(begin('wide', 8)).rejects.toMatchObject({
    details: { quota: 'max_queued_executions', limit: 5 },
  });
  expect(await parted()).toEqual({ atWork: [], waiting: [] });
  await begin('fits', 7);
  expect((await parted()).waiting).toHaveLength(5);
  for (let left = 7; left > 0; left--) {
    const { atWork } = await parted();
    expect(atWork).toHaveLength(Math.min(2, left));
    await end(atWork[0]!);
    await eventually(async () => {
      await dequeueExecutions(engine.deps);
      expect((await parted()).atWork).toHaveLength(Math.min(2, left - 1));
    }, DEADLINE);
  }
}, 120_000);

test('a resume has no place in the queue: it is refused while the quota is full', async () => {
  const failed = await ask('again');
  await end(failed, 'failed');
  await engine.limit({ [T]: { runningExecutions: 1 } });
  const other = await ask('busy');
  await expect(resumeExecution(engine.deps, failed, false)).rejects.toMatchObject({
    code: 'too_many_requests_error',
    details: { quota: 'max_running_executions', limit: 1, retry_after: 10 },
  });
  await end(other);
  expect(await resumeExecution(engine.deps, failed, false)).toBe(true);
});

test('a schedule whose tenant has its quota is queued; while the queue is full its occurrence stays due', async () => {
  const http = await httpRig(engine, schedulesRoutes({ ...engine.deps, wire: specSchedules }));
  try {
    await setFakeNow(engine.db.pool, '2030-01-01T00:00:00Z');
    await engine.limit({ [T]: { runningExecutions: 1, queuedExecutions: 1 } });
    const busy = await ask('busy');
    const queued = await ask('queued');
    engine.peer.deployments.set('planned', peerDeployment({ a: [] }));
    const made = await http.call('PUT', '/execution-schedules/s?deployment_id=planned', {
      ...{ workflow_id: 'install', since: '2030-01-01 00:10:00', count: 1, slip: 60 },
    });
    expect([made.status, made.body.message]).toEqual([201, undefined]);
    await setFakeNow(engine.db.pool, '2030-01-01T00:11:00Z');
    await fireSchedules(engine.deps);
    const planned = async () => {
      const { rows } = await sql<{ id: string; status: string }>`
        select id, status from executions where deployment_id = 'planned'`.execute(engine.db.query);
      return rows;
    };
    expect(await planned()).toEqual([]);
    await end(busy);
    await eventually(async () => {
      await dequeueExecutions(engine.deps);
      expect((await parted()).atWork).toEqual([queued]);
      await fireSchedules(engine.deps);
      expect((await planned()).map(({ status }) => status)).toEqual(['queued']);
    }, DEADLINE);
  } finally {
    await http.close();
  }
});
