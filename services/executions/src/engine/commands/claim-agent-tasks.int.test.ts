import { agentTaskReady, executionsRpc } from '@baton/contracts';
import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import type { StoredTask } from '../../store/rows';
import { agentOf, askAsAgent, hostedDeployment, instancesOf } from '../../testing/agents';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { presentOperation } from '../queries/list-operations';
import { announceToAgents } from './announce-to-agents';
import { cancelExecution } from './cancel-execution';
import { reapLeases } from './reap-leases';
import { takeFromAgent } from './take-from-agent';

/** Operations of agents: who may take them, what a new stream settles, and how long an agent keeps them. */

const { OutcomeKind } = executionsRpc;
const DEADLINE = { deadlineMs: 15_000 };
const GRACE_MS = 900_000;

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

const { begin, row, phaseIs } = drive(() => engine);
const ask = (workerId: string, more: Parameters<typeof askAsAgent>[2] = {}) =>
  askAsAgent(engine.client, workerId, more);

/** Starts the installation of a deployment; returns its execution once its operations are ready. */
async function installed(id: string, hosts: string[], options: Parameters<typeof hostedDeployment>[1] = {}) {
  engine.peer.deployments.set(id, hostedDeployment(hosts, options));
  const execution = await begin(id, 'install');
  await phaseIs(execution, 'running');
  return execution;
}

const claim = async (workerId: string, executionId: string, taskId = '', room = 50) =>
  (await engine.client.claimTask({ workerId, executionId, taskId, room })).leases;

const outcomeOf = (
  { taskId, executionId, attempt }: executionsRpc.TaskLease,
  kind = OutcomeKind.OUTCOME_KIND_SUCCEEDED,
) => ({ taskId, executionId, attempt, kind, resultJson: 'null', errorJson: '', retryAfter: -1 });

const finish = (workerId: string, leases: readonly executionsRpc.TaskLease[], room = 50) =>
  engine.client.finishTasks({ workerId, room, outcomes: leases.map((lease) => outcomeOf(lease)) });

async function leaseSeconds(taskId: string): Promise<number> {
  const { rows } = await sql<{ s: number }>`
    select extract(epoch from lease_until - app_now())::float8 as s from tasks where id = ${taskId}`.execute(
    engine.db.query,
  );
  return rows[0]!.s;
}

const heldOf = (leases: readonly executionsRpc.TaskLease[]) =>
  leases.map(({ taskId, attempt }) => ({ taskId, attempt }));

describe('who may take an operation', () => {
  test('the agent of its host alone, through every call that gives operations', async () => {
    const id = await installed('who', ['wa', 'wb']);
    const ofA = (await ask(agentOf('wa_1'), { room: 0 })).leases;
    expect(ofA).toEqual([]);
    const { rows } = await sql<{ id: string; agent: string | null }>`
      select id, agent from tasks where execution_id = ${id} and state = 'sent' order by agent`.execute(
      engine.db.query,
    );
    expect(rows.map(({ agent }) => agent)).toEqual(['default_tenant/wa_1', 'default_tenant/wb_1', null]);
    const [taskOfA, taskOfB, central] = rows.map((task) => task.id);
    // Named operations of others: a worker, another agent, and the agent of another tenant with the same host.
    expect(await claim('w1', id, taskOfA, 1)).toMatchObject([{ taskId: central }]);
    expect(await claim('w2', id, taskOfA)).toEqual([]);
    expect(await claim(agentOf('wx_1'), id, taskOfA)).toEqual([]);
    expect(await claim(agentOf('wa_1', 'other'), id, taskOfA)).toEqual([]);
    expect((await ask(agentOf('wa_1', 'other'))).leases).toEqual([]);
    expect(await claim(agentOf('wb_1'), id, taskOfA)).toMatchObject([{ taskId: taskOfB }]);
    const { leases } = await ask(agentOf('wa_1'));
    expect(leases).toMatchObject([{ taskId: taskOfA, executionId: id, attempt: 1, leaseMs: GRACE_MS }]);
    const assignment = JSON.parse(leases[0]!.assignmentJson);
    expect(assignment).toMatchObject({ executor: 'host_agent', agent: 'default_tenant/wa_1' });
  });

  test('a report brings no operation of another kind of worker', async () => {
    const id = await installed('reports', ['ra'], { apps: 3 });
    const [central] = await claim('w1', id, '', 1);
    expect(instancesOf([central!])).toEqual(['ra_central_1']);
    expect((await finish('w1', [central!])).leases).toEqual([]);
    const [first, ...more] = (await ask(agentOf('ra_1'), { room: 1 })).leases;
    expect(more).toEqual([]);
    // It gets the next ones of its own with its report, up to its room.
    const answer = await finish(agentOf('ra_1'), [first!], 2);
    expect(answer.leases).toHaveLength(2);
    await finish(agentOf('ra_1'), answer.leases);
    await phaseIs(id, 'ended');
    expect((await row(id)).status).toBe('terminated');
  });

  test('another agent cannot report or keep an operation', async () => {
    await installed('thief', ['ta', 'tb']);
    const { leases } = await ask(agentOf('ta_1'));
    expect(await finish(agentOf('tb_1'), leases, 0)).toMatchObject({
      refused: leases.map(({ taskId }) => taskId),
    });
    const ids = leases.map(({ taskId }) => taskId);
    expect(await engine.client.heartbeat({ workerId: agentOf('tb_1'), taskIds: ids })).toMatchObject({
      lost: ids,
      proofs: {},
    });
    const { lost, leases: given } = await ask(agentOf('tb_1'), { room: 0, held: heldOf(leases) });
    expect([lost, given]).toEqual([ids, []]);
  });

  test('executions of others are not even read for an agent', async () => {
    const id = await installed('private', ['pa']);
    const [lease] = (await ask(agentOf('pa_1'))).leases;
    await engine.restart();
    const before = await row(id);
    const outcome = outcomeOf(lease!);
    const report = (workerId: string, more: object = {}) =>
      engine.client.finishTasks({ workerId, room: 5, outcomes: [{ ...outcome, ...more }] });
    expect(await report(agentOf('px_1'))).toEqual({ refused: [lease!.taskId], leases: [], untaken: [] });
    expect(await claim(agentOf('px_1'), id, lease!.taskId)).toEqual([]);
    expect(await claim(agentOf('px_1'), 'no id')).toEqual([]);
    // Its own operation under the name of another execution.
    const other = await installed('private-2', ['pb']);
    expect((await report(agentOf('pa_1'), { executionId: other })).refused).toEqual([lease!.taskId]);
    expect((await row(id)).version).toBe(before.version);
    expect((await report(agentOf('pa_1'))).refused).toEqual([]);
  });

  test('a process that has only the stored data keeps them apart as well', async () => {
    const id = await installed('restarted', ['sa'], { apps: 2 });
    await engine.restart();
    expect(instancesOf(await claim('w1', id))).toEqual(['sa_central_1']);
    expect(instancesOf((await ask(agentOf('sa_1'))).leases)).toEqual(['sa_app0_1', 'sa_app1_1']);
  });
});

test('one call takes operations of several executions, up to the room', async () => {
  const first = await installed('many-1', ['ma'], { apps: 2 });
  const second = await installed('many-2', ['mb', 'ma'], { apps: 2 });
  const { leases } = await ask(agentOf('ma_1'), { room: 3 });
  expect(leases).toHaveLength(3);
  expect(new Set(leases.map(({ executionId }) => executionId))).toEqual(new Set([first, second]));
  expect((await ask(agentOf('ma_1'), { room: 3 })).leases).toHaveLength(1);
  expect((await ask(agentOf('ma_1'), { room: 3 })).leases).toEqual([]);
});

test('lists of operations show the name of the agent', async () => {
  const id = await installed('named', ['oa'], { config: { install_method: 'remote', service_name: 'web' } });
  await ask(agentOf('oa_1'));
  const { rows } =
    await sql<StoredTask>`select * from tasks where execution_id = ${id} and agent is not null`.execute(
      engine.db.query,
    );
  const shown = presentOperation(
    { ...rows[0]!, started_at: null, ended_at: null },
    () => null,
    await row(id),
    {
      onFailure: () => null,
      managerName: 'm',
      showsRuns: false,
    },
  );
  expect(shown.agent_name).toBe('web');
  expect(shown.parameters.task_kwargs).toMatchObject({
    executor: 'host_agent',
    agent: 'default_tenant/oa_1',
  });
});

test('every gateway hears that an operation is ready for an agent', async () => {
  const heard: { agent: string; executionId: string; taskId: string }[] = [];
  const subscription = await engine.broker.subscribe(
    agentTaskReady,
    ({ payload }) => void heard.push(payload),
  );
  const id = await installed('woken', ['ka', 'kb'], { apps: 3 });
  const own = () => heard.filter(({ executionId }) => executionId === id);
  await eventually(async () => expect(own()).toHaveLength(2), DEADLINE);
  expect(
    own()
      .map(({ agent }) => agent)
      .sort(),
  ).toEqual(['default_tenant/ka_1', 'default_tenant/kb_1']);
  const ofA = own().find(({ agent }) => agent === 'default_tenant/ka_1')!;
  expect((await claim(agentOf('ka_1'), id, ofA.taskId, 1))[0]!.taskId).toBe(ofA.taskId);
  // What nobody claims is said again, once for each agent and execution: the first message may be lost.
  await sql`update tasks set dispatched_at = app_now() - interval '6 seconds' where execution_id = ${id}`.execute(
    engine.db.query,
  );
  const before = own().length;
  await announceToAgents(engine.deps);
  await eventually(async () => {
    const again = own().slice(before);
    expect(new Set(again.map(({ agent }) => agent))).toEqual(
      new Set(['default_tenant/ka_1', 'default_tenant/kb_1']),
    );
  }, DEADLINE);
  await subscription.close();
});

describe('a new stream', () => {
  test('gets again, with the same attempt, what its journal does not name', async () => {
    const id = await installed('again', ['aa'], { apps: 3 });
    const { leases } = await ask(agentOf('aa_1'), { room: 2 });
    const [kept, unheard] = leases;
    // The answer with the second lease was lost, and the process has no room: it gets it all the same.
    const answer = await ask(agentOf('aa_1'), { isNewStream: true, room: 0, held: heldOf([kept!]) });
    expect(heldOf(answer.leases)).toEqual(heldOf([unheard!]));
    expect(answer.lost).toEqual([]);
    // Room counts what was given again.
    const full = await ask(agentOf('aa_1'), { isNewStream: true, room: 1, held: heldOf([kept!]) });
    expect(heldOf(full.leases)).toEqual(heldOf([unheard!]));
    // Later in the stream nothing is given twice.
    expect(instancesOf((await ask(agentOf('aa_1'), { held: heldOf([kept!]) })).leases)).toHaveLength(1);
    expect((await finish(agentOf('aa_1'), leases, 0)).refused).toEqual([]);
    expect((await row(id)).phase).toBe('running');
  });

  test('renews the leases that it names or is given', async () => {
    await installed('renewed', ['na'], { apps: 2 });
    const { leases } = await ask(agentOf('na_1'));
    const ids = leases.map(({ taskId }) => taskId);
    await sql`update tasks set lease_until = app_now() + interval '5 seconds' where id = any(${ids}::uuid[])`.execute(
      engine.db.query,
    );
    await ask(agentOf('na_1'), { isNewStream: true, held: heldOf(leases.slice(0, 1)) });
    for (const id of ids) expect(await leaseSeconds(id)).toBeGreaterThan(GRACE_MS / 1000 - 60);
  });

  test('is told what it has lost, and a stale attempt counts as lost', async () => {
    await installed('stale', ['la']);
    const [lease] = (await ask(agentOf('la_1'))).leases;
    await sql`update tasks set lease_until = app_now() - interval '1 second' where id = ${lease!.taskId}`.execute(
      engine.db.query,
    );
    await eventually(async () => {
      await reapLeases(engine.deps);
      expect((await ask(agentOf('la_1'), { room: 0, held: heldOf([lease!]) })).lost).toEqual([lease!.taskId]);
    }, DEADLINE);
    const unknown = { taskId: newId(), attempt: 1 };
    const stale = await ask(agentOf('la_1'), { isNewStream: true, held: [...heldOf([lease!]), unknown] });
    expect(stale.lost.sort()).toEqual([lease!.taskId, unknown.taskId].sort());
    expect(heldOf(stale.leases)).toEqual([{ taskId: lease!.taskId, attempt: 2 }]);
    expect(JSON.parse(stale.leases[0]!.assignmentJson).isResumed).toBe(true);
    expect((await finish(agentOf('la_1'), [lease!], 0)).refused).toEqual([lease!.taskId]);
  });

  test('an agent that restarted gives back what it ran, and gets the next attempt', async () => {
    await installed('left', ['fa']);
    const [lease] = (await ask(agentOf('fa_1'))).leases;
    const left = outcomeOf(lease!, OutcomeKind.OUTCOME_KIND_LEFT);
    const answer = await engine.client.finishTasks({
      workerId: agentOf('fa_1'),
      room: 1,
      outcomes: [{ ...left, resultJson: '' }],
    });
    expect(heldOf(answer.leases)).toEqual([{ taskId: lease!.taskId, attempt: 2 }]);
  });

  test('gives back what never began and nobody wants any more, so that the deployment is free', async () => {
    const id = await installed('killed', ['da']);
    const { leases } = await ask(agentOf('da_1'));
    await cancelExecution(engine.deps, id, 'kill');
    await phaseIs(id, 'ended');
    expect((await row(id)).has_left_runs).toBe(true);
    // Without the new stream the run may be at the agent, which learns of the kill.
    const ids = leases.map(({ taskId }) => taskId);
    const beat = await engine.client.heartbeat({ workerId: agentOf('da_1'), taskIds: ids });
    expect(beat.kill).toEqual(ids);
    expect(await ask(agentOf('da_1'), { isNewStream: true })).toEqual({ leases: [], lost: [] });
    expect((await row(id)).has_left_runs).toBe(false);
  });
});

describe('the lease of an agent', () => {
  test('lasts for its grace, also when it is renewed', async () => {
    await installed('lease', ['ga']);
    const [lease] = (await ask(agentOf('ga_1'))).leases;
    expect(await leaseSeconds(lease!.taskId)).toBeGreaterThan(GRACE_MS / 1000 - 60);
    await sql`update tasks set lease_until = app_now() + interval '5 seconds' where id = ${lease!.taskId}`.execute(
      engine.db.query,
    );
    const { proofs } = await engine.client.heartbeat({
      workerId: agentOf('ga_1'),
      taskIds: [lease!.taskId],
      proofs: [lease!.proof],
    });
    expect(await leaseSeconds(lease!.taskId)).toBeGreaterThan(GRACE_MS / 1000 - 60);
    const [endMs] = JSON.parse(
      Buffer.from(proofs[lease!.taskId]!.split('.')[0]!, 'base64url').toString(),
    ) as [number];
    expect(endMs).toBeGreaterThan(engine.deps.agents.leaseMs - 60_000 + Date.parse((await timeOfDb()) ?? ''));
  });

  test('holds up a killed deployment for a minute at most', async () => {
    const id = await installed('dead', ['ea']);
    const [lease] = (await ask(agentOf('ea_1'))).leases;
    await cancelExecution(engine.deps, id, 'kill');
    await phaseIs(id, 'ended');
    const left = await leaseSeconds(lease!.taskId);
    expect(left).toBeGreaterThan(30);
    expect(left).toBeLessThanOrEqual(60);
  });
});

describe('a revoked agent', () => {
  test('loses what it took before, not what a new agent with its address has taken', async () => {
    await installed('revoked', ['va'], { apps: 2 });
    const [lease] = (await ask(agentOf('va_1'), { room: 1 })).leases;
    const revokedAt = (await timeOfDb())!;
    const [later] = (await ask(agentOf('va_1'), { room: 1 })).leases;
    await takeFromAgent(engine.deps, { agent: 'default_tenant/va_1', revokedAt });
    await eventually(async () => {
      await reapLeases(engine.deps);
      const { lost } = await ask(agentOf('va_1'), { room: 0, held: heldOf([lease!, later!]) });
      expect(lost).toEqual([lease!.taskId]);
    }, DEADLINE);
    expect((await finish(agentOf('va_1'), [lease!], 0)).refused).toEqual([lease!.taskId]);
    const [again] = (await ask(agentOf('va_1'))).leases;
    expect(heldOf([again!])).toEqual([{ taskId: lease!.taskId, attempt: 2 }]);
    expect(JSON.parse(again!.assignmentJson).isResumed).toBe(true);
  });
});

async function timeOfDb(): Promise<string | undefined> {
  const { rows } = await sql<{ now: string }>`select app_now()::text as now`.execute(engine.db.query);
  return rows[0]?.now;
}

test.each([
  ['w1', /agent:<tenant>/],
  ['agent:', /agent:<tenant>/],
  ['agent:/vm_1', /agent:<tenant>/],
  ['agent:vm_1', /agent:<tenant>/],
])('%s is no agent', async (workerId, message) => {
  await expect(ask(workerId)).rejects.toMatchObject({ code: 'bad_parameters_error', message });
});

test('a list of held operations is bounded and checked', async () => {
  const many = Array.from({ length: 1_000_000 }, () => ({ taskId: 'x', attempt: 1 }));
  await expect(ask(agentOf('ha_1'), { held: many })).rejects.toMatchObject({
    code: 'bad_parameters_error',
    message: /at most 2000/,
  });
  await expect(ask(agentOf('ha_1'), { held: many.slice(0, 1) })).rejects.toMatchObject({
    code: 'bad_parameters_error',
    message: /x is no id/,
  });
  const ids = many.map(({ taskId }) => taskId);
  const tooMany = { code: 'bad_parameters_error', message: /at most 2000/ };
  await expect(engine.client.heartbeat({ workerId: agentOf('ha_1'), taskIds: ids })).rejects.toMatchObject(
    tooMany,
  );
  const outcomes = many.map(({ taskId }) => ({ taskId, executionId: 'x', attempt: 1 }));
  await expect(
    engine.client.finishTasks({ workerId: agentOf('ha_1'), outcomes: outcomes as never, room: 0 }),
  ).rejects.toMatchObject(tooMany);
  const unknown = Array.from({ length: 2_000 }, () => ({ taskId: newId(), attempt: 1 }));
  expect(
    (await ask(agentOf('ha_1'), { held: unknown, isNewStream: true, room: 2 ** 31 - 1 })).lost,
  ).toHaveLength(2_000);
});
