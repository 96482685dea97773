import type { AsyncLocalStorage } from 'node:async_hooks';
import { type TenantScope, tenantScopeKey } from '@baton/contracts';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { cancelExecution } from '../../engine/commands/cancel-execution';
import { createExecutionGroup } from '../../groups/commands/create-execution-group';
import type { QueueRules } from '../../ports';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup, work } from '../../testing/engine-setup';
import { roomyQueue } from '../../testing/roomy-queue';
import { startRequest } from '../../testing/start-request';
import { requestExecution } from '../commands/request-execution';
import type { StartRequest } from '../domain/start-request';
import { readExecution } from '../store/executions.sql';
import { explainExecution } from './explain-execution';

/** GET /executions/{id}/why: one test for each reason that it can return. Nested executions: nested-executions.int.test.ts. */

const TENANT = 'default_tenant';
const DEADLINE = { deadlineMs: 15_000 };
const ROOMY: QueueRules = roomyQueue();

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup({ BATON_TASK_RETRY_INTERVAL: '600' });
}, 60_000);
afterEach(async () => {
  const { rows } = await sql<{ id: string }>`select id from executions where phase <> 'ended'`.execute(
    engine.db.query,
  );
  // No service carries these out in this test.
  await sql`delete from executions where deployment_id is null`.execute(engine.db.query);
  await end(...rows.map(({ id }) => id));
});
afterAll(async () => await engine?.stop());

async function ask(deploymentId: string | null, more: Partial<StartRequest> = {}): Promise<string> {
  if (deploymentId !== null && !engine.peer.deployments.has(deploymentId))
    engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }));
  const { id } = await requestExecution(engine.deps, startRequest(deploymentId, more));
  return id;
}

const row = async (id: string) => (await readExecution(engine.db.query, id))!;
const why = async (id: string, queue: QueueRules = ROOMY) =>
  await explainExecution(engine.db.query, await row(id), queue);
const runs = (id: string) => eventually(async () => expect((await row(id)).phase).toBe('running'), DEADLINE);

async function end(...ids: string[]): Promise<void> {
  for (const id of ids) await cancelExecution(engine.deps, id, 'force-cancel').catch(() => undefined);
  for (const id of ids)
    await eventually(
      async () => expect((await readExecution(engine.db.query, id))?.phase ?? 'ended').toBe('ended'),
      DEADLINE,
    );
}

const taskOf = async (id: string, columns: string) => {
  const { rows } = await sql<Record<string, string>>`
    select ${sql.raw(columns)} from tasks where execution_id = ${id} and spec->>'kind' = 'operation' order by idx desc`.execute(
    engine.db.query,
  );
  return rows[0]!;
};

/** Reads as a request of this tenant does. */
const inTenant = <T>(tenant: string, read: () => Promise<T>): Promise<T> => {
  const scopes = (globalThis as { [tenantScopeKey]?: AsyncLocalStorage<TenantScope> })[tenantScopeKey]!;
  return scopes.run({ isOpen: true, schema: 'executions', tenant, reach: 'own' }, read);
};

describe('one in the queue', () => {
  test('concurrency: what other tenants have at work counts, also for those who see only their own', async () => {
    const atWork = await ask('theirs');
    await runs(atWork);
    await ask('mine', { tenant: 'other', workflowId: 'install' });
    const queued = await ask('mine', { tenant: 'other', workflowId: 'start', mayQueue: true });
    const full = { ...ROOMY, maxConcurrent: () => 2 };
    const [told] = await inTenant('other', () => why(queued, full));
    expect(told).toMatchObject({ kind: 'concurrency', details: { active: 2, limit: 2 } });
  });

  test('lock, queue: what is at work on its deployment or queued before it; not what is scheduled or came later', async () => {
    const first = await ask('busy');
    await ask('busy', { scheduledForMs: Date.now() + 3_600_000, workflowId: 'start' });
    const before = await ask('busy', { mayQueue: true, workflowId: 'start' });
    const queued = await ask('busy', { mayQueue: true, workflowId: 'stop' });
    await ask('busy', { mayQueue: true, workflowId: 'restart' });
    const forced = await ask('busy', { isForced: true, workflowId: 'reinstall' });
    await runs(first);
    await runs(forced);
    const since = (await row(queued)).created_at;
    const told = await why(queued);
    expect(told.map(({ kind, details }) => [kind, details.execution_id])).toEqual([
      ['lock', first],
      ['queue', before],
      // This one started later, but is at work.
      ['lock', forced],
    ]);
    expect(told[0]).toEqual({
      kind: 'lock',
      message: `execution ${first} (install) is started`,
      since,
      until: null,
      details: { execution_id: first, workflow_id: 'install', status: 'started' },
    });
  });

  test('lock: a system-wide execution, which waits for everything itself; beside a snapshot nothing waits', async () => {
    const first = await ask('one');
    await runs(first);
    await ask(null, { workflowId: 'create_snapshot', isSystemWorkflow: true });
    const wide = await ask(null, { workflowId: 'restore_snapshot', isSystemWorkflow: true, mayQueue: true });
    const forced = await ask('two', { isForced: true });
    expect(await why(wide)).toEqual([
      {
        kind: 'lock',
        message: `execution ${first} (install) is started`,
        since: (await row(wide)).created_at,
        until: null,
        details: { execution_id: first, workflow_id: 'install', status: 'started' },
      },
    ]);
    expect(await why(forced)).toMatchObject([
      { kind: 'queue', since: (await row(forced)).created_at, details: { execution_id: wide } },
    ]);
  });

  test('concurrency, maintenance: the whole manager; queue: its place when nothing holds it', async () => {
    const first = await ask('place');
    await ask('place', { mayQueue: true, workflowId: 'start' });
    const id = await ask('place', { mayQueue: true, workflowId: 'stop' });
    await runs(first);
    // With another deployment, so that nothing else blocks it.
    const queued = { ...(await row(id)), deployment_id: 'free' };
    const since = queued.created_at;
    const queue = { ...ROOMY, isPaused: () => true, maxConcurrent: () => 1 };
    expect(await explainExecution(engine.db.query, queued, queue)).toEqual([
      {
        kind: 'maintenance',
        message: 'the manager is in maintenance, nothing new starts',
        since,
        until: null,
        details: {},
      },
      {
        kind: 'concurrency',
        message: '1 executions are at work, at most 1 may be',
        since,
        until: null,
        details: { active: 1, limit: 1 },
      },
    ]);
    expect(await explainExecution(engine.db.query, queued, ROOMY)).toEqual([
      {
        kind: 'queue',
        message: 'it starts with the next look at the queue, 1 before it',
        since,
        until: null,
        details: { before: 1 },
      },
    ]);
  });

  test('concurrency: its execution group has no room, or is paused', async () => {
    for (const id of ['g0', 'g1']) engine.peer.deployments.set(id, peerDeployment({ a: [] }));
    engine.peer.groups.set('pair', ['g0', 'g1']);
    const made = await createExecutionGroup(
      engine.deps,
      {
        tenant: TENANT,
        createdBy: 'admin',
        isAdministrator: true,
        groupId: 'narrow',
        deploymentGroupId: 'pair',
        workflowId: 'install',
        defaultParameters: {},
        parameters: {},
        isForced: false,
        concurrency: 1,
        visibility: null,
        createdAt: null,
      },
      async (tx) =>
        (
          await sql<{ id: string; status: string; created_at: string }>`
            select id, status, created_at from executions where execution_group_id = 'narrow' order by created_at`.execute(
            tx,
          )
        ).rows,
    );
    const queued = made.find(({ status }) => status === 'queued')!;
    expect(await why(queued.id)).toEqual([
      {
        kind: 'concurrency',
        message: '1 executions of its group narrow are at work, at most 1 may be',
        since: queued.created_at,
        until: null,
        details: { execution_group_id: 'narrow', active: 1, limit: 1 },
      },
    ]);
    await sql`update execution_groups set concurrency = 0 where id = 'narrow'`.execute(engine.db.query);
    expect(await why(queued.id)).toMatchObject([
      { kind: 'concurrency', message: 'its execution group narrow is paused (concurrency 0)' },
    ]);
  });
});

test('schedule: until its time', async () => {
  const at = Date.now() + 3_600_000;
  const id = await ask('later', { scheduledForMs: at });
  expect(await why(id)).toEqual([
    {
      kind: 'schedule',
      message: 'it is scheduled',
      since: (await row(id)).created_at,
      until: new Date(at).toISOString(),
      details: {},
    },
  ]);
});

describe('one at work', () => {
  test('worker: none has reported, or none has room; lease: who runs it until when; retry-timer: when it is tried again', async () => {
    const id = await ask('ops');
    await runs(id);
    const operation = 'cloudify.interfaces.lifecycle.create of a_1';
    const { id: taskId, dispatched_at } = await taskOf(id, 'id, dispatched_at');
    expect(await why(id)).toEqual([
      {
        kind: 'worker',
        message: `${operation} waits for a worker, none has ever reported`,
        since: dispatched_at,
        until: null,
        details: { operation_id: taskId, worker: null, retries: 0, workers: 0, worker_last_seen: null },
      },
    ]);
    await sql`insert into workers (id, about, last_seen) values ('old', '{}', app_now() - interval '1 hour')`.execute(
      engine.db.query,
    );
    expect((await why(id))[0]!.message).toMatch(/waits for a worker, none reports since \d{4}-/);
    await sql`insert into workers (id, about) values ('w1', '{"isolation": {"name": "none"}}')`.execute(
      engine.db.query,
    );
    expect(await why(id)).toMatchObject([
      {
        kind: 'worker',
        message: `${operation} waits for a worker with room, 1 reports`,
        details: { workers: 1 },
      },
    ]);

    const { leases } = await engine.client.claimTask({
      workerId: 'w1',
      executionId: id,
      taskId: '',
      room: 1,
    });
    const lease = await taskOf(id, 'dispatched_at, lease_until');
    expect(Date.parse(lease.lease_until!)).toBeGreaterThan(Date.parse(lease.dispatched_at!));
    expect(await why(id)).toEqual([
      {
        kind: 'lease',
        message: `${operation} runs on worker w1, without isolation`,
        since: lease.dispatched_at,
        until: lease.lease_until,
        details: {
          operation_id: leases[0]!.taskId,
          worker: 'w1',
          retries: 0,
          worker_last_seen: expect.any(String),
          isolation: 'none',
        },
      },
    ]);

    const errorJson = JSON.stringify({ type: 'RecoverableError', message: 'not yet', recoverable: true });
    const outcome = {
      executionId: id,
      taskId: leases[0]!.taskId,
      attempt: 1,
      retryAfter: 600,
      kind: 2,
      errorJson,
    };
    await engine.client.finishTasks({ workerId: 'w1', outcomes: [outcome], room: 1 });
    const retry = await taskOf(id, 'id, created_at, not_before');
    const told = await why(id);
    expect(told).toMatchObject([
      {
        kind: 'retry-timer',
        message: `${operation} is tried again`,
        since: retry.created_at,
        until: new Date(Number(retry.not_before)).toISOString(),
        details: { operation_id: retry.id, retries: 1 },
      },
    ]);
    const waitMs = Date.parse(told[0]!.until!) - Date.parse(told[0]!.since!);
    expect(Math.abs(waitMs - 600_000)).toBeLessThan(5_000);
    await end(id);
    expect(await why(id)).toEqual([]);
  });

  test('effects: its last states are not taken', async () => {
    const id = await ask('states');
    await runs(id);
    engine.peer.setDown(true);
    try {
      await work(engine.client, id, 'w1');
      await eventually(async () => expect((await row(id)).phase).toBe('ending'), DEADLINE);
      expect(await why(id)).toEqual([
        {
          kind: 'effects',
          message: 'its last node-instance states are being delivered',
          since: (await row(id)).started_at,
          until: null,
          details: {},
        },
      ]);
    } finally {
      engine.peer.setDown(false);
    }
    await eventually(async () => expect((await row(id)).status).toBe('terminated'), DEADLINE);
  });

  test('call: another service carries the stage out, or the whole of it', async () => {
    const id = await ask(null, { workflowId: 'create_snapshot', isSystemWorkflow: true });
    await runs(id);
    expect(await why(id)).toEqual([
      {
        kind: 'call',
        message: 'create_snapshot is carried out by the service of its subject',
        since: (await row(id)).started_at,
        until: null,
        details: {},
      },
    ]);
    const since = new Date().toISOString();
    const stage = { kind: 'call', name: 'modification', request: { call: 'modification-start' } };
    const called = {
      ...(await row(id)),
      phase: 'calling' as const,
      started_at: since,
      stage: stage as never,
    };
    expect(await explainExecution(engine.db.query, called, ROOMY)).toEqual([
      { kind: 'call', message: 'the stage modification changes the model', since, until: null, details: {} },
    ]);
  });
});

test('a tenant that has all places that it may have, and a worker that cannot load its handlers', async () => {
  await sql`delete from workers`.execute(engine.db.query);
  const workerId = 'small';
  const says = (about: object) =>
    engine.client.heartbeat({ workerId, taskIds: [], workerJson: JSON.stringify(about) });
  await says({ slots: 4, reserve: 1 });
  engine.peer.deployments.set('wide', peerDeployment({ a: [], b: [], c: [], d: [] }));
  const id = await ask('wide');
  await runs(id);
  const { leases } = await engine.client.claimTask({ workerId, executionId: id, taskId: '', room: 3 });
  expect(leases).toHaveLength(3);
  const waits = (await why(id)).filter(({ kind }) => kind !== 'lease');
  expect(waits).toMatchObject([
    { kind: 'share', details: { tenant: TENANT, places: 4, reserve: 1, held: 3, held_by_others: 0 } },
  ]);
  expect(waits[0]!.message).toContain(`tenant ${TENANT} holds 3 of 4; 1 are kept for tenants that hold less`);
  await says({ slots: 4, reserve: 1, handlers_error: 'cannot load /x.js' });
  const [broken] = (await why(id)).filter(({ kind }) => kind !== 'lease');
  expect(broken).toMatchObject({ kind: 'handlers', details: { workers: 1 } });
  expect(broken!.message).toContain('small says cannot load /x.js');
});
