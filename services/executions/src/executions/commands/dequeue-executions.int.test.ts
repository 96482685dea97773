import { executionsRpc } from '@baton/contracts';
import { newId } from '@baton/kernel';
import { eventually, setFakeNow } from '@baton/testkit';
import { sql } from 'kysely';
import { cancelExecution } from '../../engine/commands/cancel-execution';
import { resumeExecution } from '../../engine/commands/resume-execution';
import { setStatus } from '../../engine/commands/set-status';
import { wakeExecution, wakeExecutions } from '../../engine/commands/wake-executions';
import { createExecutionGroup } from '../../groups/commands/create-execution-group';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup, work } from '../../testing/engine-setup';
import { startRequest } from '../../testing/start-request';
import type { StartRequest } from '../domain/start-request';
import { explainExecution } from '../queries/explain-execution';
import { readExecution } from '../store/executions.sql';
import { dequeueExecutions } from './dequeue-executions';
import { requestExecution } from './request-execution';

const DEADLINE = { deadlineMs: 20_000 };

let engine: EngineSetup;
beforeEach(async () => {
  engine = await engineSetup();
}, 60_000);
afterEach(async () => await engine?.stop());

async function ask(deploymentId: string | null, more: Partial<StartRequest> = {}): Promise<string> {
  if (deploymentId !== null && !engine.peer.deployments.has(deploymentId))
    engine.peer.deployments.set(deploymentId, peerDeployment({ a: [] }));
  const { id } = await requestExecution(engine.deps, startRequest(deploymentId, more));
  return id;
}
const rowOf = async (id: string) => (await readExecution(engine.db.query, id))!;
const end = (id: string) => setStatus(engine.deps, id, 'terminated', '');
const why = async (id: string) =>
  (await explainExecution(engine.db.query, await rowOf(id), engine.deps.queue)).map((one) => one.kind);
const isAtWork = (id: string) =>
  eventually(async () => expect(['planning', 'running']).toContain((await rowOf(id)).phase), DEADLINE);

test('no more than max_concurrent_workflows leave the queue, and why says so', async () => {
  const limit = engine.deps.queue.maxConcurrent();
  const running: string[] = [];
  for (let i = 0; i <= limit; i++) running.push(await ask(`d${i}`));
  const queued = await ask('d0', { mayQueue: true, workflowId: 'uninstall' });
  await end(running[0]!);
  await eventually(async () => expect((await rowOf(running[0]!)).phase).toBe('ended'), DEADLINE);
  await dequeueExecutions(engine.deps);
  expect((await rowOf(queued)).status).toBe('queued');
  expect(await why(queued)).toEqual(['concurrency']);
  await end(running[1]!);
  await isAtWork(queued);
}, 60_000);

test('a system-wide execution waits for all others and holds up all others', async () => {
  const first = await ask('one');
  const systemWide = { workflowId: 'uninstall_plugin', isSystemWorkflow: true };
  await expect(ask(null, systemWide)).rejects.toMatchObject({
    code: 'existing_running_execution_error',
    details: { executions: [first] },
  });
  const wide = await ask(null, { ...systemWide, mayQueue: true });
  const forced = await ask('two', { isForced: true });
  expect([(await rowOf(wide)).status, (await rowOf(forced)).status]).toEqual(['queued', 'queued']);
  expect(await why(wide)).toEqual(['lock']);
  await end(first);
  await eventually(async () => expect((await rowOf(wide)).phase).toBe('ended'), DEADLINE);
  await isAtWork(forced);
}, 60_000);

test('a system-wide execution does not hold up what those that it waits for wait for, whatever is queued before that', async () => {
  const parent = await ask('env');
  const busy = await ask('component');
  const earlier = await ask('component', { mayQueue: true, workflowId: 'uninstall' });
  const wide = await ask(null, { workflowId: 'restore_snapshot', isSystemWorkflow: true, mayQueue: true });
  const awaited = await ask('component', { mayQueue: true });
  const other = await ask('other');
  const statuses = async () => {
    const rows = await Promise.all([earlier, wide, other].map(rowOf));
    return rows.map(({ status }) => status);
  };
  await waitFor(parent, awaited);
  await end(busy);
  await isAtWork(awaited);
  expect(await statuses()).toEqual(['queued', 'queued', 'queued']);
  await end(awaited);
  await end(parent);
  await eventually(async () => expect(await statuses()).toEqual(['queued', 'started', 'queued']), DEADLINE);
  await end(wide);
  await isAtWork(earlier);
  await isAtWork(other);
}, 60_000);

/** Lets an operation of execution `parent` wait for the end of execution `awaited`. */
async function waitFor(parent: string, awaited: string): Promise<void> {
  const kind = executionsRpc.OutcomeKind.OUTCOME_KIND_DEFERRED;
  const defer = () => ({ kind, untilExecution: awaited, retryAfter: 60 });
  await eventually(async () => {
    expect(await work(engine.client, parent, 'w1', defer)).not.toEqual([]);
  }, DEADLINE);
}

/** Creates an execution group on these deployments; returns its executions in order. */
async function askGroup(deploymentIds: readonly string[], concurrency: number): Promise<string[]> {
  for (const id of deploymentIds)
    if (!engine.peer.deployments.has(id)) engine.peer.deployments.set(id, peerDeployment({ a: [] }));
  const groupId = newId();
  engine.peer.groups.set(groupId, [...deploymentIds]);
  const { tenant, createdBy, isAdministrator, workflowId } = startRequest(null);
  const by = { tenant, createdBy, isAdministrator, workflowId, visibility: null, createdAt: null };
  const as = { groupId, deploymentGroupId: groupId, isForced: false, concurrency };
  await createExecutionGroup(
    engine.deps,
    { ...by, ...as, defaultParameters: {}, parameters: {} },
    async () => null,
  );
  const { rows } = await sql<{ id: string }>`select id from executions where execution_group_id = ${groupId}
    order by created_at`.execute(engine.db.query);
  return rows.map((row) => row.id);
}

test('a system-wide execution does not hold up members of groups that those wait for for which it waits', async () => {
  const wide = { workflowId: 'restore_snapshot', isSystemWorkflow: true, mayQueue: true };
  const parent = await ask('env');
  const waiting = await ask(null, wide);
  // As many older groups as one call checks.
  const older: string[] = [];
  for (let i = 0; i < 20; i++) older.push(...(await askGroup([`other-${i}`], 1)));
  const earlier = await ask('component', { mayQueue: true, workflowId: 'uninstall' });
  const [awaited, beside] = await askGroup(['component', 'else'], 1);
  await waitFor(parent, awaited!);
  await isAtWork(awaited!);
  for (const id of [waiting, earlier, beside!, ...older]) expect((await rowOf(id)).status).toBe('queued');
  await end(awaited!);
  await end(parent);
  await eventually(async () => expect((await rowOf(waiting)).status).toBe('started'), DEADLINE);
}, 60_000);

test('a member of a full group starts when an operation of another member waits for it', async () => {
  const [first, other, awaited] = await askGroup(['one', 'two', 'three'], 1);
  await waitFor(first!, awaited!);
  await isAtWork(awaited!);
  expect((await rowOf(other!)).status).toBe('queued');
  await end(awaited!);
  await end(first!);
  await isAtWork(other!);
}, 60_000);

test('what an operation waits for does not wait for what is queued before it on its deployment', async () => {
  const [first, other] = await askGroup(['one', 'two'], 1);
  const awaited = await ask('two', { mayQueue: true });
  await waitFor(first!, awaited);
  await isAtWork(awaited);
  expect((await rowOf(other!)).status).toBe('queued');
  await end(awaited);
  await end(first!);
  await isAtWork(other!);
}, 60_000);

test('nothing is resumed beside a system-wide execution at work, by force neither', async () => {
  const stopped = await ask('stopped');
  await cancelExecution(engine.deps, stopped, 'force-cancel');
  await eventually(async () => expect((await rowOf(stopped)).phase).toBe('ended'), DEADLINE);
  const wide = await ask(null, { workflowId: 'restore_snapshot', isSystemWorkflow: true });
  await eventually(async () => expect((await rowOf(wide)).status).toBe('started'), DEADLINE);
  for (const isForced of [false, true])
    await expect(resumeExecution(engine.deps, stopped, isForced)).rejects.toMatchObject({
      code: 'existing_running_execution_error',
      details: { executions: [wide] },
    });
  expect((await rowOf(stopped)).status).toBe('cancelled');
  await end(wide);
  await eventually(async () => expect((await rowOf(wide)).phase).toBe('ended'), DEADLINE);
  await resumeExecution(engine.deps, stopped, false);
  await isAtWork(stopped);
}, 60_000);

test('blocked ones at the head hold up nobody; nothing starts in maintenance', async () => {
  const first = await ask('busy');
  for (let i = 0; i < 7; i++) await ask('busy', { mayQueue: true });
  const other = await ask('free');
  const behind = await ask('free', { mayQueue: true, workflowId: 'uninstall' });
  let isPaused = true;
  const paused = { ...engine.deps, queue: { ...engine.deps.queue, isPaused: () => isPaused } };
  expect(await dequeueExecutions(paused)).toBe(0);
  isPaused = false;
  await end(other);
  await isAtWork(behind);
  expect((await rowOf(first)).phase).not.toBe('ended');
}, 60_000);

test('one that is scheduled for later is in nobody’s way until its time', async () => {
  const later = await ask('one', {
    workflowId: 'uninstall',
    scheduledForMs: Date.parse('2100-01-01T00:00:00Z'),
  });
  const now = await ask('one');
  await isAtWork(now);
  expect((await rowOf(later)).status).toBe('scheduled');
  // A running execution still blocks.
  await expect(ask('one', { workflowId: 'uninstall' })).rejects.toMatchObject({
    code: 'existing_running_execution_error',
    details: { executions: [now] },
  });
}, 60_000);

test('whether a workflow is available is asked when its time has come', async () => {
  const notYet = peerDeployment({ a: [] });
  notYet.workflows.uninstall!.availability_rules = { available: false };
  engine.peer.deployments.set('notyet', notYet);
  const uninstall = { workflowId: 'uninstall' };
  await expect(ask('notyet', uninstall)).rejects.toMatchObject({ code: 'unavailable_workflow_error' });
  const soon = await ask('notyet', { ...uninstall, scheduledForMs: Date.parse('2100-01-01T00:00:00Z') });
  expect((await rowOf(soon)).status).toBe('scheduled');
  await setFakeNow(engine.db.pool, '2100-01-01T00:00:01Z');
  await wakeExecution(engine.deps, soon);
  await eventually(async () => expect((await rowOf(soon)).status).toBe('failed'), DEADLINE);
  expect((await rowOf(soon)).error).toMatch(
    /^Error dequeueing execution: Workflow uninstall is not available/,
  );
}, 60_000);

test('one that waited runs with the parameters, the defaults and the program of its workflow as it is then', async () => {
  const first = await ask('renewed');
  const given = { parameters: { own: 'given' }, allowCustomParameters: true };
  const queued = await ask('renewed', { mayQueue: true, workflowId: 'uninstall', ...given });
  expect(await rowOf(queued)).toMatchObject({ program: 'uninstall', parameters: { own: 'given' } });
  const { workflows } = engine.peer.deployments.get('renewed')!;
  workflows.uninstall = { ...workflows.stop!, parameters: { own: {}, added: { default: 7 } } };
  await end(first);
  await isAtWork(queued);
  const parameters = { own: 'given', added: 7 };
  expect(await rowOf(queued)).toMatchObject({ program: 'stop', parameters });
}, 60_000);

test('what became impossible while it waited ends as failed', async () => {
  const first = await ask('gone');
  const queued = await ask('gone', { mayQueue: true, workflowId: 'uninstall' });
  delete engine.peer.deployments.get('gone')!.workflows.uninstall;
  await end(first);
  await eventually(async () => expect((await rowOf(queued)).status).toBe('failed'), DEADLINE);
  expect((await rowOf(queued)).error).toMatch(
    /^Error dequeueing execution: Workflow uninstall does not exist/,
  );
}, 60_000);

test('a stopped execution is not resumed beside another of its deployment, unless by force', async () => {
  const first = await ask('shared');
  await cancelExecution(engine.deps, first, 'force-cancel');
  await eventually(async () => expect((await rowOf(first)).phase).toBe('ended'), DEADLINE);
  const second = await ask('shared');
  await isAtWork(second);
  await expect(resumeExecution(engine.deps, first, false)).rejects.toMatchObject({
    code: 'existing_running_execution_error',
    details: { executions: [second] },
  });
  expect((await rowOf(first)).status).toBe('cancelled');
  await resumeExecution(engine.deps, first, true);
  await isAtWork(first);
}, 60_000);

test('the original resumes beside others, and so do we on its wire', async () => {
  const first = await ask('beside');
  await cancelExecution(engine.deps, first, 'force-cancel');
  await eventually(async () => expect((await rowOf(first)).phase).toBe('ended'), DEADLINE);
  const second = await ask('beside');
  await isAtWork(second);
  await resumeExecution(engine.deps, first, false, { mayRunBeside: true });
  await isAtWork(first);
  await eventually(async () => expect((await rowOf(second)).status).toBe('started'), DEADLINE);
}, 60_000);

test.each([3_000_000, 1e12])(
  'one that is to wait %s s after a failure runs',
  async (waitAfterFailS) => {
    const id = await ask('patient', { waitAfterFailS });
    await eventually(async () => {
      await work(engine.client, id, 'w1');
      expect((await rowOf(id)).status).toBe('terminated');
    }, DEADLINE);
  },
  60_000,
);

test('one whose deployment is not as it can be fails and says so, instead of being planned for ever', async () => {
  const broken = peerDeployment({ a: [] });
  delete (broken.nodes[0] as { type_hierarchy?: unknown }).type_hierarchy;
  engine.peer.deployments.set('broken', broken);
  const id = await ask('broken');
  await eventually(async () => expect((await rowOf(id)).status).toBe('failed'), DEADLINE);
  expect((await rowOf(id)).error).toMatch(/^The workflow cannot be planned: /);
}, 60_000);

test('those that cannot be checked now hold up nobody, in groups neither', async () => {
  const ids = Array.from({ length: 6 }, (_, i) => `odd-${i}`);
  const busy = await Promise.all([...ids, 'sound'].map((id) => ask(id)));
  for (const id of ids) await ask(id, { mayQueue: true });
  const behind = await ask('sound', { mayQueue: true });
  const members = await askGroup([...ids, 'sound'], 2);
  for (const id of ids) engine.peer.deployments.get(id)!.workflows = null as never;
  for (const id of busy) await end(id);
  await isAtWork(behind);
  await end(behind);
  await isAtWork(members.at(-1)!);
}, 60_000);

test.each(['queued', 'scheduled'] as const)(
  'one that a client sets back to %s runs again',
  async (status) => {
    const id = await ask('back');
    await isAtWork(id);
    await eventually(async () => expect((await rowOf(id)).phase).toBe('running'), DEADLINE);
    await setStatus(engine.deps, id, status, '');
    await eventually(async () => {
      await wakeExecutions(engine.deps);
      await dequeueExecutions(engine.deps);
      await work(engine.client, id, 'w1');
      expect((await rowOf(id)).status).toBe('terminated');
    }, DEADLINE);
  },
  60_000,
);

test('one whose graph is too large to be stored fails and says so', async () => {
  await sql`create function too_large() returns trigger language plpgsql as
    $$ begin raise 'no room for it' using errcode = 'program_limit_exceeded'; end $$`.execute(
    engine.db.query,
  );
  await sql`create trigger too_large before insert on tasks_graphs for each row execute function too_large()`.execute(
    engine.db.query,
  );
  engine.peer.deployments.set('large', peerDeployment({ a: [] }));
  const id = await ask('large');
  await eventually(async () => expect((await rowOf(id)).status).toBe('failed'), DEADLINE);
  expect((await rowOf(id)).error).toMatch(/^The workflow cannot be planned: its graph cannot be stored: /);
}, 60_000);

/** Makes deployments that answer every call with an error; returns their ids. */
function askOdd(count: number): string[] {
  const ids = Array.from({ length: count }, (_, i) => `odd-${i}`);
  for (const id of ids)
    engine.peer.deployments.set(id, { ...peerDeployment({ a: [] }), workflows: null as never });
  return ids;
}

test('nor do more than one look finds, at the head of the queue', async () => {
  const busy = await ask('sound');
  const behind = await ask('sound', { mayQueue: true });
  await sql`insert into executions select (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid(),
      'request_id', d.id, 'deployment_id', d.id, 'created_at', e.created_at - interval '1 minute'))).*
    from executions e, unnest(${askOdd(60)}::text[]) as d(id) where e.id = ${behind}::uuid`.execute(
    engine.db.query,
  );
  await end(busy);
  await isAtWork(behind);
}, 60_000);

test('nor do the members of more older groups than one look finds', async () => {
  const busy = await ask('sound');
  const [member] = await askGroup(['sound'], 1);
  const odd = askOdd(50);
  await sql`insert into execution_groups select (jsonb_populate_record(g, jsonb_build_object('id', d.id,
      'created_at', g.created_at - interval '1 minute'))).*
    from execution_groups g, unnest(${odd}::text[]) as d(id)`.execute(engine.db.query);
  await sql`insert into executions select (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid(),
      'request_id', d.id, 'deployment_id', d.id, 'execution_group_id', d.id))).*
    from executions e, unnest(${odd}::text[]) as d(id) where e.id = ${member!}::uuid`.execute(
    engine.db.query,
  );
  await end(busy);
  await isAtWork(member!);
}, 60_000);

test('nor do more members of its own group than one look finds', async () => {
  const busy = await ask('sound');
  const [member] = await askGroup(['sound'], 1);
  await sql`insert into executions select (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid(),
      'request_id', d.id, 'deployment_id', d.id, 'created_at', e.created_at - interval '1 minute'))).*
    from executions e, unnest(${askOdd(30)}::text[]) as d(id) where e.id = ${member!}::uuid`.execute(
    engine.db.query,
  );
  await end(busy);
  await isAtWork(member!);
}, 60_000);
