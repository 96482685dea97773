import { executionsRpc } from '@baton/contracts';
import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { recordEvents } from '../../events/commands/record-events';
import { dequeueExecutions } from '../../executions/commands/dequeue-executions';
import { explainExecution } from '../../executions/queries/explain-execution';
import { readExecution } from '../../executions/store/executions.sql';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup, type Probe, succeed, work } from '../../testing/engine-setup';
import { admin as principal } from '../../testing/http-rig';
import { specGroups } from '../http/wire-policy';
import { readExecutionGroup } from '../queries/execution-groups';
import { readGroup } from '../store/execution-groups.sql';
import { actOnGroup, type GroupAction } from './act-on-group';
import { changeExecutionGroup } from './change-execution-group';
import { createExecutionGroup } from './create-execution-group';

const DEADLINE = { deadlineMs: 20_000 };
const TENANT = 'default_tenant';
const admin = { username: 'admin', isAdministrator: true };

// biome-ignore lint/suspicious/noExplicitAny: tests read rows freely.
type Row = Record<string, any>;

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

/** Creates `count` deployments of one node each, members of the group `name`. */
function group(name: string, count: number): string[] {
  const ids = Array.from({ length: count }, (_, i) => `${name}-${i}`);
  for (const id of ids) {
    const deployment = peerDeployment({ [id]: [] }, ['create']);
    engine.peer.deployments.set(id, deployment);
  }
  engine.peer.groups.set(name, ids);
  return ids;
}

async function begin(name: string, more: Record<string, unknown> = {}): Promise<Row> {
  const groupId = newId();
  return await createExecutionGroup(
    engine.deps,
    {
      tenant: TENANT,
      createdBy: 'admin',
      isAdministrator: true,
      groupId,
      deploymentGroupId: name,
      workflowId: 'install',
      defaultParameters: {},
      parameters: {},
      isForced: false,
      concurrency: 2,
      visibility: null,
      createdAt: null,
      ...more,
    },
    (tx) => readExecutionGroup(tx, principal, groupId, specGroups),
  );
}

async function members(groupId: string) {
  const { rows } = await sql<Row>`
    select id, deployment_id, status, phase, error, parameters from executions where execution_group_id = ${groupId}
    order by created_at, id`.execute(engine.db.query);
  return rows;
}

const shown = (groupId: string) => readExecutionGroup(engine.db.query, principal, groupId, specGroups);
const isActive = (row: Row) => !['waiting', 'ended'].includes(row.phase);

/** Works on all members until the group has the status; returns the highest number of members that were active at once. */
async function workUntil(groupId: string, status: string, probe?: Probe): Promise<number> {
  let most = 0;
  await eventually(async () => {
    for (const row of await members(groupId))
      if (row.phase === 'running') await work(engine.client, row.id, 'w1', probe);
    most = Math.max(most, (await members(groupId)).filter(isActive).length);
    expect((await shown(groupId)).status).toBe(status);
  }, DEADLINE);
  return most;
}

const act = async (groupId: string, action: GroupAction) =>
  actOnGroup(engine.deps, (await readGroup(engine.db.query, TENANT, groupId))!, action);

test('a restored group gets the executions that ended before, and starts none', async () => {
  const ids = group('past', 2);
  const asked = { tenant: TENANT, createdBy: 'admin', workflowId: 'install', parametersJson: '{}' };
  const made = await Promise.all(
    ids.map((deploymentId) => engine.client.startExecution({ ...asked, deploymentId, requestId: newId() })),
  );
  const associated = made.map(({ executionId }) => executionId);
  const isRefused = (ids: string[]) =>
    expect(begin('past', { associated: ids })).rejects.toMatchObject({ code: 'bad_parameters_error' });
  await isRefused(associated);
  await eventually(async () => {
    for (const id of associated) await work(engine.client, id, 'w1');
    const { rows } =
      await sql`select 1 from executions where id = any(${associated}) and phase = 'ended'`.execute(
        engine.db.query,
      );
    expect(rows).toHaveLength(2);
  }, DEADLINE);
  const { id } = await begin('past', { associated });
  expect(await shown(id)).toMatchObject({ status: 'terminated', concurrency: 2 });
  expect((await members(id)).map((row) => row.id).sort()).toEqual([...associated].sort());
  await isRefused(associated);
  await isRefused(['nosuch']);
});

test('one execution a deployment, never more of them active than the concurrency, with two replicas dequeuing', async () => {
  const ids = group('wide', 12);
  const made = await begin('wide', { concurrency: 5 });
  expect(made).toMatchObject({ workflow_id: 'install', deployment_group_id: 'wide', concurrency: 5 });
  expect((await members(made.id)).map((row) => row.deployment_id)).toEqual(ids);
  expect((await members(made.id)).filter(isActive)).toHaveLength(5);
  await Promise.all(Array.from({ length: 4 }, () => dequeueExecutions(engine.deps)));
  expect((await members(made.id)).filter(isActive)).toHaveLength(5);
  expect(await workUntil(made.id, 'terminated')).toBeLessThanOrEqual(5);
  expect(new Set((await members(made.id)).map((row) => row.status))).toEqual(new Set(['terminated']));
});

test('the group tells changes of its members as events of its own', async () => {
  group('told', 1);
  const made = await begin('told');
  expect(made.status).toBe('pending');
  await workUntil(made.id, 'terminated');
  const { rows } = await sql<{ message: string }>`
    select * from events where execution_group_id = ${made.id} order by created_at, storage_id`.execute(
    engine.db.query,
  );
  const [id] = made.execution_ids;
  expect(rows.map((row) => row.message)).toEqual([
    `execution '${id}' changed state to 'started'`,
    `execution '${id}' changed state to 'terminated'`,
  ]);
  expect(rows[0]).toMatchObject({
    event_type: 'execution_state_change',
    execution_id: null,
    deployment_id: null,
  });
});

test('parameters: the defaults, over them those of the deployment; foreign deployments are refused', async () => {
  for (const id of group('params', 2)) {
    const { workflows } = engine.peer.deployments.get(id)!;
    Object.assign(workflows, { install: { ...workflows.install, parameters: { a: {}, b: {} } } });
  }
  const made = await begin('params', {
    defaultParameters: { a: 1, b: 1 },
    parameters: { 'params-1': { b: 2 } },
  });
  expect((await members(made.id)).map((row) => row.parameters)).toEqual([
    { a: 1, b: 1 },
    { a: 1, b: 2 },
  ]);
  await act(made.id, 'force-cancel');
  await expect(begin('params', { parameters: { stranger: {} } })).rejects.toMatchObject({
    code: 'bad_parameters_error',
    details: { field: 'parameters.stranger' },
  });
});

test('a parameter that the workflow does not declare is refused, and names the deployment', async () => {
  const ids = group('undeclared', 2);
  for (const wrong of [{ defaultParameters: { nosuch: 1 } }, { parameters: { [ids[1]!]: { nosuch: 1 } } }])
    await expect(begin('undeclared', wrong)).rejects.toMatchObject({
      code: 'illegal_execution_parameters_error',
      message: expect.stringMatching(/`undeclared-[01]`.*nosuch/s),
    });
});

test('a deployment without the workflow is told in the log, one where it is not available gets a failed execution', async () => {
  const [none, unavailable] = group('mixed', 3) as [string, string, string];
  delete engine.peer.deployments.get(none)!.workflows.install;
  engine.peer.deployments.get(unavailable)!.workflows.install!.availability_rules = { available: false };
  const made = await begin('mixed');
  const rows = await members(made.id);
  expect(rows.map((row) => row.deployment_id)).toEqual(['mixed-1', 'mixed-2']);
  expect(rows[0]).toMatchObject({ status: 'failed' });
  const { rows: logs } = await sql<{ message: string }>`
    select message from events where execution_group_id = ${made.id} and is_log`.execute(engine.db.query);
  expect(logs.map((log) => log.message).join()).toContain('mixed-0');
  await workUntil(made.id, 'failed');
});

test('a member that was refused at the beginning runs when it is resumed', async () => {
  const [refused] = group('retaken', 2) as [string, string];
  const { install } = engine.peer.deployments.get(refused)!.workflows;
  install!.availability_rules = { available: false };
  const made = await begin('retaken');
  await workUntil(made.id, 'failed');
  delete install!.availability_rules;
  await act(made.id, 'resume');
  await workUntil(made.id, 'terminated');
});

test('a member whose deployment is busy waits and does not keep the others from starting', async () => {
  group('busy', 3);
  const { executionId } = await engine.client.startExecution({
    tenant: TENANT,
    requestId: newId(),
    createdBy: 'admin',
    deploymentId: 'busy-0',
    workflowId: 'install',
    parametersJson: '{}',
  });
  const made = await begin('busy', { concurrency: 2 });
  const active = (await members(made.id)).filter(isActive).map((row) => row.deployment_id);
  expect(active).toEqual(['busy-1', 'busy-2']);
  await eventually(async () => {
    await work(engine.client, executionId, 'w1');
    await workUntil(made.id, 'terminated');
  }, DEADLINE);
});

test('a member that has become impossible while it waited fails, and the others start', async () => {
  const [, gone, unavailable] = group('changed', 4) as [string, string, string];
  const made = await begin('changed', { concurrency: 1 });
  engine.peer.deployments.delete(gone);
  engine.peer.deployments.get(unavailable)!.workflows.install!.availability_rules = { available: false };
  await workUntil(made.id, 'failed');
  const rows = await members(made.id);
  expect(rows.map((row) => row.status)).toEqual(['terminated', 'failed', 'failed', 'terminated']);
  expect(rows[1]!.error).toMatch(/^Error dequeueing execution: .*changed-1/);
  expect(rows[2]!.error).toMatch(/^Error dequeueing execution: .*not available/);
});

test('concurrency 0 pauses, more room starts what waits', async () => {
  group('paused', 3);
  const made = await begin('paused', { concurrency: 0 });
  expect(made.status).toBe('queued');
  expect(await dequeueExecutions(engine.deps)).toBe(0);
  const row = (await readGroup(engine.db.query, TENANT, made.id))!;
  await changeExecutionGroup(engine.deps, row, admin, { concurrency: 3 });
  await workUntil(made.id, 'terminated');
});

test('cancel ends what is queued at once and the active ones when they can; resume goes on with both', async () => {
  group('cancelled', 4);
  const made = await begin('cancelled', { concurrency: 1 });
  await eventually(async () => expect((await members(made.id))[0]!.phase).toBe('running'), DEADLINE);
  await act(made.id, 'force-cancel');
  await workUntil(made.id, 'cancelled');
  expect((await members(made.id)).every((row) => row.status === 'cancelled')).toBe(true);
  await act(made.id, 'resume');
  await workUntil(made.id, 'terminated');
});

test('resume keeps to the concurrency, with two replicas; cancel takes the rest back', async () => {
  group('resumed', 8);
  const made = await begin('resumed', { concurrency: 8 });
  await act(made.id, 'force-cancel');
  await workUntil(made.id, 'cancelled');
  const row = (await readGroup(engine.db.query, TENANT, made.id))!;
  await changeExecutionGroup(engine.deps, row, admin, { concurrency: 3 });
  await Promise.all([act(made.id, 'resume'), act(made.id, 'resume')]);
  expect((await shown(made.id)).status).toBe('started');
  await Promise.all(Array.from({ length: 4 }, () => dequeueExecutions(engine.deps)));
  expect((await members(made.id)).filter(isActive)).toHaveLength(3);
  expect(await workUntil(made.id, 'terminated')).toBeLessThanOrEqual(3);
  expect(new Set((await members(made.id)).map((one) => one.status))).toEqual(new Set(['terminated']));

  group('taken-back', 4);
  const other = await begin('taken-back', { concurrency: 4 });
  await act(other.id, 'force-cancel');
  await workUntil(other.id, 'cancelled');
  const paused = (await readGroup(engine.db.query, TENANT, other.id))!;
  await changeExecutionGroup(engine.deps, paused, admin, { concurrency: 0 });
  expect(await act(other.id, 'force-resume')).toBe(4);
  expect((await shown(other.id)).status).toBe('queued');
  const [first] = await members(other.id);
  const execution = (await readExecution(engine.db.query, first!.id))!;
  expect(await explainExecution(engine.db.query, execution, engine.deps.queue)).toMatchObject([
    { kind: 'queue', message: expect.stringContaining(other.id) },
  ]);
  await act(other.id, 'cancel');
  expect((await shown(other.id)).status).toBe('cancelled');
  await changeExecutionGroup(engine.deps, paused, admin, { concurrency: 4 });
  await dequeueExecutions(engine.deps);
  expect((await members(other.id)).filter(isActive)).toEqual([]);
});

test('a member whose deployment has something else at work is resumed after it', async () => {
  group('beside', 2);
  const made = await begin('beside', { concurrency: 2 });
  await act(made.id, 'force-cancel');
  await workUntil(made.id, 'cancelled');
  const { executionId } = await engine.client.startExecution({
    tenant: TENANT,
    requestId: newId(),
    createdBy: 'admin',
    deploymentId: 'beside-0',
    workflowId: 'install',
    parametersJson: '{}',
  });
  await act(made.id, 'resume');
  expect((await members(made.id)).filter(isActive).map((one) => one.deployment_id)).toEqual(['beside-1']);
  await eventually(async () => {
    await work(engine.client, executionId, 'w1');
    await workUntil(made.id, 'terminated');
  }, DEADLINE);
});

test('deployments join the group that collects successes or failures', async () => {
  const ids = group('collected', 3);
  engine.peer.groups.set('good', []);
  engine.peer.groups.set('bad', []);
  const made = await begin('collected', { concurrency: 0 });
  const row = (await readGroup(engine.db.query, TENANT, made.id))!;
  await expect(
    changeExecutionGroup(engine.deps, row, admin, { success_group_id: 'nosuch' }),
  ).rejects.toMatchObject({
    code: 'not_found_error',
  });
  await changeExecutionGroup(engine.deps, row, admin, {
    concurrency: 5,
    success_group_id: 'good',
    failure_group_id: 'bad',
  });
  const probe: Probe = ({ instance }) =>
    instance.startsWith(ids[1]!)
      ? {
          kind: executionsRpc.OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE,
          errorJson: JSON.stringify({ exception_type: 'E', message: 'no', traceback: '', causes: [] }),
        }
      : succeed({ operation: '', instance, attempt: 1, retry: 0 });
  await workUntil(made.id, 'failed', probe);
  await eventually(() => {
    expect(engine.peer.groups.get('good')!.sort()).toEqual([ids[0], ids[2]]);
    expect(engine.peer.groups.get('bad')).toEqual([ids[1]]);
  }, DEADLINE);
});

test('events that somebody else sends for a group are its own, without an execution', async () => {
  group('told', 1);
  const { id } = await begin('told');
  const told = {
    events: [{ event_type: 'custom', message: 'seen' }],
    logs: [{ level: 'info', message: 'line' }],
  };
  expect(await recordEvents(engine.deps, principal, { ...told, execution_group_id: id })).toBe(2);
  const { rows } = await sql<Row>`
    select execution_id, seq, event_type, level, message, tenant, workflow_id from events
    where execution_group_id = ${id} and message in ('seen', 'line') order by storage_id`.execute(
    engine.db.query,
  );
  const common = { execution_id: null, seq: 0, tenant: TENANT, workflow_id: null };
  expect(rows).toEqual([
    { ...common, event_type: 'custom', level: null, message: 'seen' },
    { ...common, event_type: null, level: 'info', message: 'line' },
  ]);
  await expect(
    recordEvents(engine.deps, principal, { ...told, execution_group_id: 'nosuch' }),
  ).rejects.toMatchObject({ code: 'not_found_error' });
});

test('groups whose members are all blocked hold up no other group', async () => {
  group('held', 1);
  const held = await begin('held');
  await eventually(async () => expect((await members(held.id))[0]!.phase).toBe('running'), DEADLINE);
  // As many groups as one tick of the queue examines.
  const blocked = [];
  for (let i = 0; i < 20; i++) blocked.push((await begin('held')).id);
  group('late', 2);
  const late = await begin('late', { concurrency: 1 });
  expect(await workUntil(late.id, 'terminated')).toBe(1);
  await workUntil(held.id, 'terminated');
  for (const id of blocked) await workUntil(id, 'terminated');
  // A group without waiting members is not examined again.
  await eventually(async () => {
    await dequeueExecutions(engine.deps);
    const { rows } = await sql`select id from execution_groups where has_queued`.execute(engine.db.query);
    expect(rows).toEqual([]);
  }, DEADLINE);
}, 60_000);
