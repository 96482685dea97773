import { AppError, newId } from '@baton/kernel';
import { eventually, setFakeNow } from '@baton/testkit';
import { type RawBuilder, sql } from 'kysely';
import { resumeExecution } from '../../engine/commands/resume-execution';
import { unclaimedTasks } from '../../engine/store/tasks.sql';
import { requestExecution } from '../../executions/commands/request-execution';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup, work } from '../../testing/engine-setup';
import { startRequest } from '../../testing/start-request';
import type { DoctorPart } from '../adapters/doctor-parts';
import { lateSchedules } from '../store/doctor.sql';
import { runDoctor } from './run-doctor';

const DEADLINE = { deadlineMs: 20_000 };

let engine: EngineSetup;
beforeEach(async () => {
  // The tests damage rows directly in the database. The service must neither repair the damage nor fail on it before the doctor
  // runs.
  engine = await engineSetup();
}, 60_000);
afterEach(async () => await engine?.stop());

async function begin(deploymentId: string): Promise<string> {
  engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }));
  const { executionId } = await engine.client.startExecution({
    tenant: 'default_tenant',
    requestId: newId(),
    createdBy: 'admin',
    deploymentId,
    workflowId: 'install',
  });
  await eventually(async () => {
    const { rows } = await run(
      sql`select 1 from tasks where execution_id = ${executionId} and state = 'sent'`,
    );
    expect(rows).toHaveLength(1);
  }, DEADLINE);
  return executionId;
}
const run = (query: RawBuilder<unknown>) => query.execute(engine.db.query);
const checks = async (isRepairing = false) =>
  (await runDoctor(engine.deps, isRepairing)).map((one) => one.check);
async function repairs(check: string): Promise<void> {
  expect(await checks()).toContain(check);
  const found = await runDoctor(engine.deps, true);
  expect(found.filter((one) => one.check === check)).toEqual([
    expect.objectContaining({ is_repaired: true, error: null }),
  ]);
}
/** Workers work on the execution until it has ended. */
const endsWell = (id: string) =>
  eventually(async () => {
    await work(engine.client, id, 'w1');
    const { rows } = await run(sql`select status from executions where id = ${id}`);
    expect(rows).toEqual([{ status: 'terminated' }]);
  }, DEADLINE);

const endsAs = (id: string, status: string) =>
  eventually(async () => {
    const { rows } = await run(sql`select status from executions where id = ${id}`);
    expect(rows).toEqual([{ status }]);
  }, DEADLINE);

test('a healthy engine has nothing to repair, at work and after the end', async () => {
  const id = await begin('well');
  expect(await checks()).toEqual([]);
  await engine.client.claimTask({ workerId: 'w1', executionId: id, taskId: '', room: 1 });
  expect(await checks()).toEqual([]);
  expect(await checks(true)).toEqual([]);
  await run(
    sql`update tasks set lease_until = app_now() where execution_id = ${id} and worker_id is not null`,
  );
  await endsWell(id);
  expect(await checks()).toEqual([]);
}, 60_000);

test('an operation without its lease is given to another worker', async () => {
  const id = await begin('lease');
  await engine.client.claimTask({ workerId: 'dead', executionId: id, taskId: '', room: 1 });
  await run(sql`update tasks set lease_until = null where execution_id = ${id}`);
  await repairs('lease-lost');
  await endsWell(id);
}, 60_000);

test('an execution without its timer starts', async () => {
  engine.peer.deployments.set('timer', peerDeployment({ a: [] }));
  const { id } = await requestExecution(
    engine.deps,
    startRequest('timer', { scheduledForMs: Date.parse('2050-01-01T00:00:00Z') }),
  );
  await run(sql`update executions set scheduled_for = app_now(), wake_at = null where id = ${id}`);
  await repairs('timer-lost');
  await endsWell(id);
}, 60_000);

test('an execution that waits for nobody can be resumed, one without its graph ends as failed', async () => {
  const id = await begin('still');
  await run(
    sql`update tasks set state = 'pending', dispatched_at = null where execution_id = ${id} and state = 'sent'`,
  );
  await repairs('no-progress');
  await endsAs(id, 'failed');
  await resumeExecution(engine.deps, id, false);
  await endsWell(id);
  const lost = await begin('lost');
  await run(sql`delete from tasks_graphs where execution_id = ${lost}`);
  const { executionId } = await engine.client.startExecution({
    tenant: 'default_tenant',
    requestId: newId(),
    createdBy: 'admin',
    workflowId: 'create_snapshot',
    isSystemWorkflow: true,
  });
  await eventually(async () => {
    const { rows } = await run(sql`select 1 from executions where id = ${executionId} and phase = 'running'`);
    expect(rows).toHaveLength(1);
  }, DEADLINE);
  // Another service carries out that execution: it has no graph and needs none.
  await repairs('graph-lost');
  await endsAs(lost, 'failed');
}, 60_000);

test('rows without an owner go, numbers of events go on, states of a deployment that is gone are dropped', async () => {
  const id = await begin('rows');
  await run(sql`insert into tasks (id, graph_id, execution_id, idx, spec, state, attempt, losses, retries, version)
    select ${newId()}::uuid, graph_id, ${newId()}::uuid, 9999, '{}', 'failed', 1, 0, 0, 0 from executions where id = ${id}`);
  await repairs('task-orphaned');
  await run(sql`update executions set last_event_seq = 0 where id = ${id}`);
  await repairs('event-sequence');
  await endsWell(id);
  engine.peer.deployments.delete('rows');
  await run(sql`insert into instance_states (execution_id, seq, node_instance_id, state, created_at)
    values (${id}, 9999, 'a_1', 'started', app_now() - interval '1 hour')`);
  await repairs('states-undelivered');
  expect(await checks()).toEqual([]);
}, 60_000);

test('a schedule without its next occurrence gets it back', async () => {
  await setFakeNow(engine.db.pool, '2030-01-01T00:00:00Z');
  await run(sql`insert into execution_schedules (key, tenant, deployment_id, id, workflow_id, rule, since, visibility, created_by)
    values (${newId()}, 't', 'd', 's', 'install', '{"recurrence": "1 day", "count": null, "weekdays": null}', app_now(), 'tenant', 'admin')`);
  await repairs('schedule-without-next');
  const { rows } = await run(sql`select next_occurrence from execution_schedules`);
  expect(rows).toEqual([{ next_occurrence: '2030-01-02T00:00:00.000Z' }]);
}, 60_000);

test('an operation whose dispatch was forgotten is announced again', async () => {
  const id = await begin('forgotten');
  await run(sql`update tasks set dispatched_at = null where execution_id = ${id} and state = 'sent'`);
  const due = () => unclaimedTasks(engine.db.query, 5_000, 1_000, 10);
  expect(await due()).toEqual([]);
  await repairs('dispatch-lost');
  expect(await checks()).toEqual([]);
  await endsWell(id);
}, 60_000);

test('a schedule that nobody looked at is found late, and decided', async () => {
  const key = newId();
  const found = await engine.db.tx(async (tx) => {
    await sql`insert into execution_schedules (key, tenant, deployment_id, id, workflow_id, rule, since, next_occurrence, slip_minutes, visibility, created_by)
      values (${key}, 't', 'd', 's', 'install', '{"recurrence": "1 day", "count": null, "weekdays": null}',
        app_now() - interval '30 minutes', app_now() - interval '30 minutes', 1, 'tenant', 'admin')`.execute(
      tx,
    );
    // In the same transaction, before the tick can see the schedule.
    return await lateSchedules(tx);
  });
  expect(found.map((one) => one.id)).toEqual([key]);
  await runDoctor(engine.deps, true);
  expect(await checks()).toEqual([]);
  const { rows } = await run(sql`select s.next_occurrence > app_now() as is_next, o.outcome
    from execution_schedules s join schedule_occurrences o on o.schedule_key = s.key`);
  expect(rows).toEqual([{ is_next: true, outcome: 'skipped' }]);
}, 60_000);

test('a group that nobody looks at, and totals that are wrong', async () => {
  const id = await begin('counted');
  await run(sql`update row_counts set total = total + 5 where slot = (select min(slot) from row_counts)`);
  await repairs('total-wrong');
  const { rows } = await run(sql`select sum(total)::int as sum from row_counts`);
  expect(rows).toEqual([{ sum: 1 }]);
  await endsWell(id);
  await run(sql`insert into execution_groups (tenant, id, workflow_id, concurrency, visibility, created_by)
    values ('default_tenant', 'g', 'install', 1, 'tenant', 'admin')`);
  await run(sql`update executions set execution_group_id = 'g', resume_wish = 'resume' where id = ${id}`);
  await repairs('group-forgotten');
  await run(sql`update executions set resume_wish = null`);
}, 60_000);

test('a deployment that shows another execution than its latest is told again', async () => {
  const first = await begin('shown');
  await endsWell(first);
  // The end of an execution that has just ended may still be on its way.
  engine.peer.latest.delete('shown');
  expect(await checks()).toEqual([]);
  const long = (id: string) =>
    run(sql`update executions set created_at = created_at - interval '1 hour', started_at = started_at - interval '1 hour',
      ended_at = ended_at - interval '1 hour' where id = ${id}`);
  await long(first);
  await repairs('latest-execution');
  expect(engine.peer.latest.get('shown')).toMatchObject({ executionId: first, status: 'terminated' });
  expect(await checks()).toEqual([]);
  // A deployment never shows a dry run, or an execution that was refused before it began, as its latest.
  const { rows } =
    await run(sql`insert into executions (id, tenant, request_id, payload_hash, workflow_id, deployment_id,
      visibility, created_by, status, phase, parameters, is_dry_run, token_hash, wait_after_fail_s, created_at)
    select x.id::uuid, tenant, x.id, '', workflow_id, deployment_id, visibility, created_by, x.status, 'ended', '{}', x.dry, x.id,
      600, created_at from executions, (values (${newId()}, 'terminated', true), (${newId()}, 'failed', false)) as x(id, status, dry)
    where executions.id = ${first} returning id`);
  expect(rows).toHaveLength(2);
  expect(await checks()).toEqual([]);
  engine.peer.latest.set('shown', { executionId: first, status: 'failed', version: 1 });
  await repairs('latest-execution');
  expect(engine.peer.latest.get('shown')!.status).toBe('terminated');
  engine.peer.setDown(true);
  expect(await runDoctor(engine.deps, false)).toMatchObject([
    { check: 'latest-execution', about: expect.stringContaining('cannot be looked for'), is_repaired: false },
  ]);
  engine.peer.setDown(false);
  const second = await begin('shown');
  await long(second);
  const sent = async () => {
    const found = await runDoctor(engine.deps, true);
    expect(found.filter((one) => one.check === 'latest-execution')).toMatchObject([
      { id: second, is_repaired: true },
    ]);
  };
  await sent();
  await endsWell(second);
}, 60_000);

test('other services look after their own tables; one that is away is a finding, and does not hide the others', async () => {
  const finding = {
    check: 'upload-held',
    id: '1',
    about: 'an upload',
    repair: 'it goes on',
    isRepaired: false,
  };
  const asked: boolean[] = [];
  const parts: DoctorPart[] = [
    {
      service: 'deployments',
      examine: async () => {
        throw new AppError('service_unavailable_error', 'deployments is away');
      },
    },
    {
      service: 'catalog',
      examine: async (isRepairing) => {
        asked.push(isRepairing);
        return [{ ...finding, isRepaired: isRepairing, error: '' }];
      },
    },
  ];
  const away = { check: 'deployments', about: expect.stringContaining('is away'), is_repaired: false };
  const found = { check: 'upload-held', id: '1', error: null };
  expect(await runDoctor(engine.deps, false, parts)).toMatchObject([away, { ...found, is_repaired: false }]);
  expect(await runDoctor(engine.deps, true, parts)).toMatchObject([away, { ...found, is_repaired: true }]);
  expect(asked).toEqual([false, true]);
}, 60_000);
