import { listQuery, type Principal } from '@baton/contracts';
import { type JsonObject, newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { exportLogs } from '../../doctor/commands/export-logs';
import { setStatus } from '../../engine/commands/set-status';
import { onExecutionFinished } from '../../engine/messages/on-execution-finished';
import { listOperations } from '../../engine/queries/list-operations';
import { cloudifyOperations } from '../../foreign-operations/http/cloudify/wire-policy';
import { scheduleOnce } from '../../schedules/commands/put-schedule';
import { cloudifySchedules } from '../../schedules/http/cloudify/wire-policy';
import { scheduledDeployments } from '../../schedules/queries/scheduled-deployments';
import { insertSchedule } from '../../schedules/store/schedules.sql';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { startRequest } from '../../testing/start-request';
import { recordExecution } from '../commands/record-execution';
import { recordRefused } from '../commands/record-refused';
import { requestExecution } from '../commands/request-execution';
import { restoreExecution } from '../commands/restore-execution';
import { awaitedExecution } from '../queries/awaited-execution';
import { listExecutions, summarizeExecutions } from '../queries/list-executions';
import { readExecution } from '../store/executions.sql';
import { cloudifyExecutions } from './cloudify/wire-policy';
import { specExecutions } from './wire-policy';

const TENANT = 'default_tenant';
let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup({ BATON_WIRE: 'cloudify' });
}, 60_000);
afterAll(async () => await engine?.stop());

const admin = {
  username: 'admin',
  tenant: TENANT,
  role: 'sys_admin',
  roles: ['sys_admin'],
  permissions: [],
  tenants: [],
  isBootstrapAdmin: true,
} as unknown as Principal;

const rows = async <T>(query: ReturnType<typeof sql<T>>) => (await query.execute(engine.db.query)).rows;

test('a start that was refused for want of availability is kept as failed and never runs', async () => {
  engine.peer.deployments.set('away', peerDeployment({ a: [] }));
  await recordRefused(engine.deps, startRequest('away'));
  const kept = await rows(sql<Record<string, unknown>>`
    select status, phase, error, started_at from executions where deployment_id = 'away'`);
  expect(kept).toEqual([
    {
      status: 'failed',
      phase: 'ended',
      error: 'Error preparing execution: Workflow not available: install',
      started_at: null,
    },
  ]);
});

test('the execution that deleted a deployment goes with it, also when it ends after the deployment went', async () => {
  engine.peer.deployments.set('gone', peerDeployment({ a: [] }));
  const { id } = await requestExecution(
    engine.deps,
    startRequest('gone', { workflowId: 'delete_deployment_environment', isSystemWorkflow: true }),
  );
  const payload = {
    executionId: id,
    deploymentId: 'gone',
    workflowId: 'delete_deployment_environment',
    status: 'terminated' as const,
  };
  const finished = onExecutionFinished(engine.deps, cloudifyExecutions);
  const told = { tenant: TENANT, payload } as Parameters<typeof finished>[0];
  await eventually(async () => expect((await readExecution(engine.db.query, id))!.phase).toBe('ended'));
  await finished(told);
  expect(await readExecution(engine.db.query, id)).not.toBeNull();
  engine.peer.deployments.delete('gone');
  await finished(told);
  expect(await readExecution(engine.db.query, id)).toBeNull();
  expect(await rows(sql`select 1 from events where execution_id = ${id}`)).toEqual([]);
});

test('so does one that was cancelled when deployments had heard that it was through', async () => {
  const [deploymentId, workflowId] = ['overtaken', 'delete_deployment_environment'];
  const [first, second] = [newId(), newId()];
  const place = { ...peerDeployment({ a: [] }), madeBy: first };
  engine.peer.deployments.set(deploymentId, place);
  const end = async () => {
    const outcome = { status: 'cancelled' as const, error: '' };
    const past = { id: null, outcome, startedAt: null, endedAt: null };
    const owner = { createdBy: 'admin', createdAt: null, creatorId: 7 };
    const { id } = await restoreExecution(
      engine.deps,
      startRequest(deploymentId, { workflowId }),
      past,
      owner,
    );
    return { id, payload: { executionId: id, deploymentId, workflowId, status: outcome.status } };
  };
  const hear = async ({ payload }: { payload: object }) => {
    const finished = onExecutionFinished(engine.deps, specExecutions);
    await finished({ tenant: TENANT, payload } as Parameters<typeof finished>[0]);
  };
  const cancelled = await end();
  engine.peer.setDown(true);
  await hear(cancelled);
  engine.peer.setDown(false);
  await hear(cancelled);
  expect(await readExecution(engine.db.query, cancelled.id)).not.toBeNull();
  // A new deployment has the same id now.
  place.madeBy = second;
  await hear(cancelled);
  expect(await readExecution(engine.db.query, cancelled.id)).toBeNull();
  const again = await end();
  engine.peer.deployments.delete(deploymentId);
  await hear(again);
  expect(await readExecution(engine.db.query, again.id)).toBeNull();
});

test('recorded work has begun when it began, however late its end is told', async () => {
  const record = (deploymentId: string, createdAt?: string) =>
    recordExecution(engine.deps, {
      ...startRequest(deploymentId, { workflowId: 'upload_blueprint' }),
      blueprintId: null,
      displayName: null,
      visibility: 'tenant',
      outcome: { status: 'terminated', error: '' },
      createdAt,
    });
  const early = await record('early', '2020-01-02T03:04:05.678Z');
  expect(early).toMatchObject({ created_at: '2020-01-02T03:04:05.678Z', started_at: early.created_at });
  expect(early.ended_at! > early.created_at).toBe(true);
  const unknown = await record('unknown');
  expect(unknown.created_at).toBe(unknown.ended_at);
});

test('a start at a later time becomes a schedule of the workflow and hexadecimal digits', async () => {
  engine.peer.deployments.set('later', peerDeployment({ a: [] }));
  const scheduledForMs = Date.parse('2050-12-31T23:59:00Z');
  const deps = { ...engine.deps, wire: cloudifySchedules };
  await scheduleOnce(deps, admin, startRequest('later', { scheduledForMs }));
  const [made] = await rows(sql<{ id: string; next_occurrence: string }>`
    select id, next_occurrence from execution_schedules where deployment_id = 'later'`);
  expect(made!.id).toMatch(/^install_[0-9a-f]{32}$/);
  expect(made!.next_occurrence).toBe('2050-12-31T23:59:00.000Z');
  await sql`delete from execution_schedules where deployment_id = 'later'`.execute(engine.db.query);
});

test('a summary has statuses in their order, ends first', async () => {
  const ended = (status: 'failed' | 'terminated' | 'cancelled', error: string) =>
    recordExecution(engine.deps, {
      ...startRequest('counted'),
      blueprintId: 'bp',
      displayName: 'counted',
      visibility: 'tenant',
      outcome: { status, error },
    });
  await ended('cancelled', '');
  await ended('failed', 'no');
  await ended('terminated', '');
  const list = listQuery({ filters: { deployment_id: ['counted'] } });
  const by = async (field: string) =>
    (await summarizeExecutions(engine.db.query, admin, list, { _target_field: field })).items.map(
      (item) => (item as Record<string, unknown>)[field],
    );
  expect(await by('status')).toEqual(['terminated', 'failed', 'cancelled']);
  expect(await by('status_display')).toEqual(['completed', 'failed', 'cancelled']);
  await sql`update executions set execution_group_id = 'counting' where deployment_id = 'counted' and status = 'failed'`.execute(
    engine.db.query,
  );
  list.filters = { execution_group_id: ['counting'] };
  expect(await by('status')).toEqual(['failed']);
  expect((await listExecutions(engine.db.query, admin, list)).items).toMatchObject([{ status: 'failed' }]);
});

test('recorded work tells its log lines between its first and its last event', async () => {
  const { id } = await recordExecution(engine.deps, {
    ...startRequest('made', { workflowId: 'create_deployment_environment' }),
    blueprintId: 'bp',
    displayName: 'made',
    visibility: 'tenant',
    outcome: { status: 'terminated', error: '' },
    log: ['Creating 2 nodes', 'Creating 3 node-instances'],
  });
  const told = await rows(sql<{ kind: string; logger: string | null }>`
    select coalesce(event_type, message) as kind, logger from events where execution_id = ${id} order by seq`);
  expect(told.map((one) => one.kind)).toEqual([
    'workflow_started',
    'Creating 2 nodes',
    'Creating 3 node-instances',
    'workflow_succeeded',
  ]);
  expect(told[1]!.logger).toBe(`ctx.${id}`);
});

test('subgraphs of instances show the handler of the original, its name and interval', async () => {
  engine.peer.deployments.set('shown', peerDeployment({ a: [] }));
  const { id } = await requestExecution(engine.deps, startRequest('shown'));
  const subgraph = await eventually(async () => {
    const filter = { executionId: id, states: [], skipInternal: true };
    const found = await listOperations(engine.db.query, filter, sql`true`, {
      ...cloudifyOperations,
      managerName: 'm1',
    });
    const [first] = found.filter((one) => one.type === 'SubgraphTask');
    expect(first).toBeDefined();
    return first!;
  });
  expect(subgraph.parameters).toMatchObject({
    on_failure: { path: 'cloudify.plugins.lifecycle._SubgraphOnFailure', on_retry: 'reinstall' },
    info: { name: subgraph.name },
    retry_interval: 30,
  });
  const byId = (operationId: string) =>
    listOperations(engine.db.query, { operationId, states: [], skipInternal: false }, sql`true`, {
      ...cloudifyOperations,
      managerName: 'm1',
    });
  expect(await byId(subgraph.id)).toEqual([subgraph]);
  expect(await byId(id)).toEqual([]);
  await setStatus(engine.deps, id, 'cancelled', '');
});

test('a log bundle gets executions without their parameters, and events in order', async () => {
  const { id } = await recordExecution(engine.deps, {
    ...startRequest('told', { parameters: { password: 'canary' } }),
    blueprintId: 'bp',
    displayName: 'told',
    visibility: 'tenant',
    outcome: { status: 'terminated', error: '' },
    log: ['a line'],
  });
  const files: Record<string, string> = {};
  for await (const { file, data } of exportLogs(engine.deps))
    files[file] = (files[file] ?? '') + data.toString();
  const linesOf = (file: string) =>
    files[file]!.trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(linesOf('executions.jsonl').find((one) => one.id === id)).toMatchObject({ status: 'terminated' });
  expect(JSON.stringify(files)).not.toContain('canary');
  const events = linesOf('events.jsonl').filter((one) => one.execution_id === id);
  expect(events.map((one) => one.event_type ?? one.message)).toEqual([
    'workflow_started',
    'a line',
    'workflow_succeeded',
  ]);
});

test('deployments with schedules are told once each, in pages', async () => {
  const make = (tenant: string, deploymentId: string, id: string) =>
    engine.db.tx((tx) =>
      insertSchedule(tx, {
        key: newId(),
        tenant,
        deployment_id: deploymentId,
        id,
        workflow_id: 'install',
        parameters: null,
        execution_arguments: {},
        since: '2040-01-01T00:00:00Z',
        until: null,
        rule: { count: 1 },
        slip_minutes: 0,
        stop_on_fail: false,
        enabled: true,
        next_occurrence: null,
        visibility: 'tenant',
        created_by: 'admin',
        created_at: '2030-01-01T00:00:00Z',
      } as unknown as Parameters<typeof insertSchedule>[1]),
    );
  await make(TENANT, 'b', 's1');
  await make(TENANT, 'b', 's2');
  await make(TENANT, 'a', 's1');
  await make('t2', 'c', 's1');
  const db = engine.db.query;
  expect(await scheduledDeployments(db, TENANT, '', 10)).toEqual([`${TENANT}/a`, `${TENANT}/b`]);
  expect(await scheduledDeployments(db, null, `${TENANT}/a`, 1)).toEqual([`${TENANT}/b`]);
  expect(await scheduledDeployments(db, null, `${TENANT}/b`, 10)).toEqual(['t2/c']);
  const count = async (...deploymentIds: string[]) =>
    (await engine.client.countSchedules({ tenant: TENANT, deploymentIds })).total;
  expect([await count('b'), await count('a', 'b', 'c'), await count()]).toEqual([2, 3, 0]);
});

describe('the execution of an upload', () => {
  const bob = {
    ...admin,
    username: 'bob',
    role: 'default',
    roles: ['user'],
    isBootstrapAdmin: false,
  } as Principal;
  const uploadOf = (executionId: string, hasEnded: boolean) => ({
    executionId,
    tenant: TENANT,
    hasEnded,
    createdBy: 'ann',
    createdAt: '2026-01-01T00:00:00.000Z',
    visibility: 'private',
    parameters: { blueprint_id: 'b' } as JsonObject,
  });
  const ask = (id: string, upload: ReturnType<typeof uploadOf> | null, who: Principal = admin) => {
    const catalog = { ...engine.deps.catalog, findUpload: async () => upload };
    return awaitedExecution({ ...engine.deps, catalog, nowMs: () => Date.now() }, who, id);
  };
  const record = (id: string) =>
    recordExecution(engine.deps, {
      ...startRequest('', { workflowId: 'upload_blueprint', deploymentId: null }),
      id,
      blueprintId: null,
      displayName: null,
      visibility: 'tenant',
      outcome: { status: 'terminated', error: '' },
    });

  test('is there while the catalog has it in work, for those who may see it', async () => {
    const id = newId();
    expect(await ask(id, uploadOf(id, false))).toMatchObject({
      id,
      workflow_id: 'upload_blueprint',
      status: 'started',
      created_by: 'ann',
      parameters: { blueprint_id: 'b' },
      ended_at: null,
    });
    const notFound = { code: 'not_found_error' };
    await expect(ask(id, uploadOf(id, false), bob)).rejects.toMatchObject(notFound);
    await expect(ask(newId(0), null)).rejects.toMatchObject(notFound);
  });

  test.each([
    ['an upload', () => newId(0), true],
    // The id is made at the time of the request: its record is awaited only while the id is young.
    ['a validation, which the catalog does not keep', () => newId(), false],
  ])('is awaited while its record is on the way: %s', async (_name, make, isKept) => {
    const id = make();
    const asked = ask(id, isKept ? uploadOf(id, true) : null);
    await record(id);
    expect(await asked).toMatchObject({ id, status: 'terminated' });
  });
});
