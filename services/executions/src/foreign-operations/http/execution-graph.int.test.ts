import { executionsRpc, type Principal } from '@baton/contracts';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { cancelExecution } from '../../engine/commands/cancel-execution';
import { resumeExecution } from '../../engine/commands/resume-execution';
import { requestExecution } from '../../executions/commands/request-execution';
import { RESTORE_VERSIONS } from '../../store/rows';
import { peerDeployment } from '../../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { admin, type HttpRig, httpRig } from '../../testing/http-rig';
import { startRequest } from '../../testing/start-request';
import { operationsRoutes } from './operations.routes';
import { specOperations } from './wire-policy';

/** GET /executions/{id}/graph in pages and as changes since a version: who may see it, what it counts, what it leaves out. */

const { OutcomeKind } = executionsRpc;

let engine: EngineSetup;
let rig: HttpRig;
beforeAll(async () => {
  engine = await engineSetup();
  const { db } = engine;
  rig = await httpRig(
    engine,
    operationsRoutes({ db, wire: specOperations, managerName: 'm', engine: engine.deps }),
  );
}, 60_000);
afterAll(async () => {
  await rig?.close();
  await engine?.stop();
});

const { begin, phaseIs, row } = drive(() => engine);
const ask = (id: string, query = '', principal: Principal = admin) =>
  rig.call('GET', `/executions/${id}/graph${query}`, undefined, principal);
// biome-ignore lint/suspicious/noExplicitAny: tests read answers freely.
const graph = async (id: string, query = ''): Promise<any> => {
  const { status, body } = await ask(id, query);
  expect([status, body.error_code]).toEqual([200, undefined]);
  return body;
};
// biome-ignore lint/suspicious/noExplicitAny: the same.
const operationsOf = (body: any): any[] => body.graphs.flatMap((one: any) => one.operations);

const nodes = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i): [string, string[]] => [`n${i}`, []]));

async function running(deploymentId: string, count: number): Promise<string> {
  engine.peer.deployments.set(deploymentId, peerDeployment(nodes(count), ['create', 'start']));
  const id = await begin(deploymentId, 'install');
  await phaseIs(id, 'running');
  return id;
}
async function runOne(id: string, workerId = 'w'): Promise<string> {
  const [lease] = (await engine.client.claimTask({ workerId, executionId: id, taskId: '', room: 1 })).leases;
  const { taskId, executionId, attempt } = lease!;
  const kind = OutcomeKind.OUTCOME_KIND_SUCCEEDED;
  await engine.client.finishTasks({
    workerId,
    room: 0,
    outcomes: [{ taskId, executionId, attempt, kind, resultJson: 'null', retryAfter: -1 }],
  });
  return taskId;
}

test('pages together hold each operation once, below the heads of all graphs', async () => {
  const id = await running('paged', 5);
  const whole = await graph(id);
  const total = operationsOf(whole).length;
  expect(whole).toMatchObject({
    is_planned: false,
    is_whole: true,
    total_operations: total,
    matched_operations: total,
  });
  expect(whole.version).toBe((await row(id)).version);
  const counted = Object.values<number>(whole.counts).reduce((sum, n) => sum + n, 0);
  expect(counted).toBe(total);
  expect(whole.counts.started).toBe(operationsOf(whole).filter(({ state }) => state === 'started').length);
  const pages: string[] = [];
  for (let offset = 0; offset < total; offset += 7) {
    const page = await graph(id, `?_size=7&_offset=${offset}`);
    expect(page).toMatchObject({ total_operations: total, counts: whole.counts });
    expect(page.graphs.map(({ name }: { name: string }) => name)).toEqual(['install']);
    pages.push(...operationsOf(page).map((one) => one.id));
  }
  expect(pages).toEqual(operationsOf(whole).map((one) => one.id));
  expect(operationsOf(await graph(id, `?_offset=${total}`))).toEqual([]);
  expect(operationsOf(await graph(id, '?_size=0'))).toEqual([]);
});

test('since a version: what has changed after it, with heads and counts of everything', async () => {
  const id = await running('moving', 8);
  const before = await graph(id);
  const nothing = await graph(id, `?since_version=${before.version}`);
  expect(nothing).toMatchObject({ is_whole: false, matched_operations: 0, counts: before.counts });
  expect(nothing.graphs).toMatchObject([{ name: 'install', ended: null, operations: [] }]);
  const ran = await runOne(id);
  const changed = await graph(id, `?since_version=${before.version}`);
  expect(changed.version).toBeGreaterThan(before.version);
  const ids = operationsOf(changed).map((one) => one.id);
  expect(ids).toContain(ran);
  expect(ids.length).toBeLessThan(before.total_operations / 2);
  expect(changed.counts).not.toEqual(before.counts);
  // Merged into the operations known before, the changes give the present operations.
  const known = new Map(operationsOf(before).map((one) => [one.id, one]));
  for (const one of operationsOf(changed)) known.set(one.id, one);
  const now = await graph(id);
  expect([...known.values()]).toEqual(operationsOf(now));
  // In a graph that is younger than the given version, everything is new.
  expect(await graph(id, '?since_version=0')).toMatchObject({
    is_whole: false,
    matched_operations: now.total_operations,
  });
});

test('changes over a resume, and over the restore of a snapshot, are not missed', async () => {
  const id = await running('resumed', 3);
  await runOne(id);
  await cancelExecution(engine.deps, id, 'force-cancel');
  await phaseIs(id, 'ended');
  const stopped = await graph(id);
  await resumeExecution(engine.deps, id, false);
  // Steps that follow from the resume may happen between the two requests.
  const now = await eventually(async () => {
    const known = new Map(operationsOf(stopped).map((one) => [one.id, one]));
    for (const one of operationsOf(await graph(id, `?since_version=${stopped.version}`)))
      known.set(one.id, one);
    const present = await graph(id);
    for (const one of operationsOf(present)) expect(known.get(one.id)).toEqual(one);
    return present;
  });
  await sql`update executions set version = version + ${RESTORE_VERSIONS} where id = ${id}`.execute(
    engine.db.query,
  );
  const restored = await graph(id, `?since_version=${now.version}`);
  expect(restored).toMatchObject({ is_whole: true, matched_operations: now.total_operations });
  expect(await graph(id, `?since_version=${restored.version}`)).toMatchObject({
    is_whole: false,
    matched_operations: 0,
  });
  // A version in the future cannot be compared: the answer is the whole graph.
  expect(await graph(id, `?since_version=${restored.version + 10}`)).toMatchObject({ is_whole: true });
});

test('a plan comes in pages as well', async () => {
  engine.peer.deployments.set('planned', peerDeployment(nodes(4), ['create']));
  const { id } = await requestExecution(
    engine.deps,
    startRequest('planned', { scheduledForMs: Date.parse('2100-01-01T00:00:00Z') }),
  );
  const whole = await graph(id, '?since_version=5');
  expect(whole).toMatchObject({
    is_planned: true,
    is_whole: true,
    counts: { pending: whole.total_operations },
  });
  const page = await graph(id, '?_size=3&_offset=1');
  expect(operationsOf(page)).toEqual(operationsOf(whole).slice(1, 4));
});

test('operations have the fields that are asked for, below a whole answer', async () => {
  const id = await running('slim', 2);
  const whole = await graph(id);
  const slim = await graph(id, '?_include=id,state,started_at&_size=3');
  expect(operationsOf(slim)).toEqual(
    operationsOf(whole)
      .slice(0, 3)
      .map(({ id: operation, state, started_at }) => ({ id: operation, state, started_at })),
  );
  expect({ ...slim, graphs: [] }).toEqual({ ...whole, graphs: [] });
  const { status, body } = await ask(id, '?_include=id,stat');
  expect(status).toBe(400);
  expect(body.message).toContain('did you mean `state`');
});

test('wrong parameters are named', async () => {
  const id = await running('asked', 1);
  for (const [query, field] of [
    ['?since_version=-1', 'since_version'],
    ['?since_version=1e3', 'since_version'],
    [`?since_version=${'9'.repeat(16)}`, 'since_version'],
    ['?_size=many', '_size'],
    ['?_offset=-2', '_offset'],
  ]) {
    const { status, body } = await ask(id, query);
    expect([query, status, body.error_code]).toEqual([query, 400, 'bad_parameters_error']);
    expect(body.message).toContain(field);
  }
  const { status, body } = await ask(id, '?since_versoin=1');
  expect(status).toBe(400);
  expect(body.message).toContain('did you mean `since_version`');
});

test('others do not learn that it is there', async () => {
  const id = await running('hidden', 1);
  await sql`update executions set visibility = 'private', created_by = 'alice' where id = ${id}`.execute(
    engine.db.query,
  );
  const user: Principal = {
    ...admin,
    username: 'bob',
    userId: 7,
    role: 'default',
    roles: ['user'],
    permissions: [],
    isBootstrapAdmin: false,
  };
  const stranger = { ...user, tenant: 'other' };
  for (const principal of [user, stranger]) {
    const { status, body } = await ask(id, '', principal);
    expect([status, body.error_code]).toEqual([404, 'not_found_error']);
  }
  expect((await ask(id, '', { ...user, username: 'alice' })).status).toBe(200);
  for (const odd of ['nosuch', '019aa5c4-1740-711d-a3c8-ff6b15e91d87', '%27'])
    expect((await ask(odd)).status).toBe(404);
});

test('of ten thousand tasks a change costs what has changed on the wire', async () => {
  const id = await running('large', 700);
  const bytes = (body: object) => JSON.stringify(body).length;
  const whole = await graph(id);
  expect(whole.total_operations).toBeGreaterThan(9_000);
  await runOne(id);
  const changed = await graph(id, `?since_version=${whole.version}`);
  expect(changed.total_operations).toBe(whole.total_operations);
  expect(bytes(changed)).toBeLessThan(bytes(whole) / 50);
  // The same answer comes from a replica that does not drive the execution.
  engine.deps.memory.forget(id);
  expect(await graph(id, `?since_version=${whole.version}`)).toEqual(changed);
  await cancelExecution(engine.deps, id, 'force-cancel');
  await eventually(async () => expect((await row(id)).phase).toBe('ended'), { deadlineMs: 20_000 });
}, 60_000);
