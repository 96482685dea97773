import { buildMessage, deploymentDeleted } from '@baton/contracts';
import { isoInstant, newId } from '@baton/kernel';
import { eventually, setFakeNow } from '@baton/testkit';
import { sql } from 'kysely';
import { setStatus } from '../../engine/commands/set-status';
import { specExecutions } from '../../executions/http/wire-policy';
import { onDeploymentCreated } from '../../executions/messages/on-deployment-created';
import { onDeploymentDeleted } from '../../executions/messages/on-deployment-deleted';
import { lockGuard } from '../../executions/store/executions.sql';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { admin, type HttpRig, httpRig } from '../../testing/http-rig';
import { schedulesRoutes } from '../http/schedules.routes';
import { specSchedules } from '../http/wire-policy';
import { fireSchedules } from './fire-schedules';
import { updateDefaultSchedules } from './make-default-schedules';

const START = Date.parse('2030-01-01T00:00:00Z');
const DEADLINE = { deadlineMs: 20_000 };

let engine: EngineSetup;
let http: HttpRig;
const call: HttpRig['call'] = (...asked) => http.call(...asked);
beforeAll(async () => {
  engine = await engineSetup();
  http = await httpRig(engine, schedulesRoutes({ ...engine.deps, wire: specSchedules }));
}, 120_000);
afterAll(async () => {
  await http?.close();
  await engine?.stop();
});

const setNow = (ms: number) => setFakeNow(engine.db.pool, new Date(ms).toISOString());
const weekly = { workflow_id: 'install', since: '2050-01-01 00:00:00', recurrence: '2 weeks', count: 5 };
const tenMinutes = { workflow_id: 'install', since: '2030-01-01 00:10:00', recurrence: '10 min' };

async function outcomes(deploymentId: string) {
  const { body } = await call('GET', `/execution-schedules/s/occurrences?deployment_id=${deploymentId}`);
  return body.items.map((one: any) => one.outcome).reverse();
}
async function executionsOf(deploymentId: string): Promise<{ id: string; status: string }[]> {
  const { rows } = await sql<{ id: string; status: string }>`
    select id, status from executions where deployment_id = ${deploymentId} order by created_at`.execute(
    engine.db.query,
  );
  return rows;
}
/** The service's own loop ticks too: together with two parallel commands this makes three replicas. */
async function tickUntil(deploymentId: string, expected: string[]) {
  await eventually(async () => {
    await Promise.all([fireSchedules(engine.deps), fireSchedules(engine.deps)]);
    expect(await outcomes(deploymentId)).toEqual(expected);
  }, DEADLINE);
}
async function endLatest(deploymentId: string, status: 'terminated' | 'failed') {
  const { id } = (await executionsOf(deploymentId)).at(-1)!;
  await setStatus(engine.deps, id, status, status === 'failed' ? 'broken' : '');
  await eventually(
    async () => expect((await executionsOf(deploymentId)).at(-1)!.status).toBe(status),
    DEADLINE,
  );
}

test('a schedule is made, shown, changed and deleted; bad input says what was expected', async () => {
  engine.peer.deployments.set('d', peerDeployment({ a: [] }));
  const path = '/execution-schedules/x1?deployment_id=d';
  const made = await call('PUT', path, weekly);
  expect(made).toMatchObject({
    status: 201,
    body: {
      id: 'x1',
      deployment_id: 'd',
      rule: { recurrence: '2 weeks', count: 5, weekdays: null },
      next_occurrence: '2050-01-01T00:00:00.000Z',
      enabled: true,
      slip: 0,
      latest_execution: null,
    },
  });
  expect(made.body.all_next_occurrences).toHaveLength(5);
  expect((await call('PUT', path, weekly)).body.error_code).toBe('conflict_error');
  expect((await call('GET', path)).body).toEqual(made.body);
  expect((await call('PATCH', path, { count: 2, enabled: 'false' })).body).toMatchObject({
    enabled: false,
    all_next_occurrences: ['2050-01-01 00:00:00', '2050-01-15 00:00:00'],
  });
  // The request of the original's clients to enable it: every key, with null for unchanged values.
  const unset = { since: null, until: null, recurrence: null, count: null, weekdays: null, rrule: null };
  expect((await call('PATCH', path, { ...unset, slip: null, enabled: true })).body).toMatchObject({
    since: made.body.since,
    rule: { recurrence: '2 weeks', count: 2 },
    enabled: true,
  });
  const bad = async (body: object, id = 'y') => {
    const answer = await call('PUT', `/execution-schedules/${id}?deployment_id=d`, { ...weekly, ...body });
    return [answer.status, answer.body.error_code, answer.body.field];
  };
  expect(await bad({ recurrence: '1 fortnight' })).toEqual([400, 'bad_parameters_error', 'recurrence']);
  expect(await bad({ rrule: 'FREQ=DAILY' })).toEqual([400, 'bad_parameters_error', 'recurrence']);
  expect(await bad({ workflow_id: 'instal' })).toEqual([400, 'nonexistent_workflow_error', 'workflow_id']);
  expect(await bad({ execution_arguments: { force: 'x' } })).toEqual([
    400,
    'bad_parameters_error',
    'execution_arguments.force',
  ]);
  expect((await bad({}, 'bad name'))[0]).toBe(400);
  expect((await call('PUT', '/execution-schedules/y?deployment_id=nosuch', weekly)).status).toBe(404);
  expect((await call('GET', '/execution-schedules/x1')).status).toBe(400);
  expect((await call('GET', path, undefined, { ...admin, tenant: 'other' })).status).toBe(404);
  const listed = await call('GET', '/execution-schedules?deployment_id=d&_include=id,next_occurrence');
  expect(listed.body.items).toEqual([{ id: 'x1', next_occurrence: '2050-01-01T00:00:00.000Z' }]);
  // The original's CLI uses the older word.
  for (const word of ['recurring', 'recurrence']) {
    const path = `/summary/execution_schedules?_target_field=workflow_id&_sub_field=${word}`;
    expect((await call('GET', path)).body.items).toEqual([
      {
        workflow_id: 'install',
        execution_schedules: 1,
        [`by ${word}`]: [{ [word]: 'recurring', execution_schedules: 1 }],
      },
    ]);
    expect((await call('GET', `/summary/execution_schedules?_target_field=${word}`)).status).toBe(400);
  }
  const found = async (text: string) =>
    (await call('GET', `/summary/execution_schedules?_target_field=workflow_id&_search=${text}`)).body.items;
  expect([(await found('x')).length, await found('no-such-id')]).toEqual([1, []]);
  expect((await call('DELETE', '/executions-schedules/x1?deployment_id=d')).status).toBe(204);
  expect((await call('DELETE', path)).status).toBe(404);
}, 60_000);

test('a summary tells schedules that run once from those that recur', async () => {
  engine.peer.deployments.set('kinds', peerDeployment({ a: [] }));
  const since = '2050-01-01 00:00:00';
  const rules: Record<string, [object, 'single' | 'recurring']> = {
    counted: [{ since, count: 1 }, 'single'],
    'counted-days': [{ since, recurrence: '1d', count: 1 }, 'single'],
    days: [{ since, recurrence: '1d' }, 'recurring'],
    rule: [{ rrule: 'FREQ=DAILY' }, 'recurring'],
    'rule-once': [{ rrule: 'DTSTART:20500101T000000Z\nRRULE:FREQ=DAILY;COUNT=1' }, 'single'],
    'rule-once-first': [{ rrule: 'COUNT=1;FREQ=DAILY' }, 'single'],
    'rule-ten': [{ rrule: 'FREQ=DAILY;COUNT=10' }, 'recurring'],
    'rule-and-date': [{ rrule: 'RRULE:FREQ=DAILY;COUNT=1\nRDATE:20510101T000000Z' }, 'recurring'],
  };
  for (const [id, [rule, kind]] of Object.entries(rules)) {
    const path = `/execution-schedules/${id}?deployment_id=kinds`;
    expect((await call('PUT', path, { workflow_id: 'install', ...rule })).status).toBe(201);
    const summary =
      '/summary/execution_schedules?_target_field=workflow_id&_sub_field=recurring&deployment_id=kinds';
    const [{ 'by recurring': counts }] = (await call('GET', summary)).body.items;
    expect([id, counts]).toEqual([id, [{ recurring: kind, execution_schedules: 1 }]]);
    expect((await call('DELETE', path)).status).toBe(204);
  }
}, 60_000);

test('every occurrence fires once or is recorded as skipped, whoever ticks and wherever the clock jumps', async () => {
  engine.peer.deployments.set('jumps', peerDeployment({ a: [] }));
  await setNow(START);
  await call('PUT', '/execution-schedules/s?deployment_id=jumps', tenMinutes);
  await setNow(START + 600_000);
  await tickUntil('jumps', ['fired']);
  const shown = await call('GET', '/execution-schedules/s?deployment_id=jumps');
  expect(shown.body.latest_skip).toBeNull();
  await setNow(START + 1_200_000);
  await tickUntil('jumps', ['fired', 'skipped']);
  const { items } = (await call('GET', '/execution-schedules?deployment_id=jumps&_include=id,latest_skip'))
    .body;
  expect(items).toEqual([
    {
      id: 's',
      latest_skip: {
        occurrence: '2030-01-01T00:20:00.000Z',
        outcome: 'skipped',
        reason: (await reasons('jumps'))[0],
      },
    },
  ]);
  await endLatest('jumps', 'terminated');
  // Half an hour later: two occurrences are too late, the third is due now.
  await setNow(START + 3_000_000);
  await tickUntil('jumps', ['fired', 'skipped', 'skipped', 'skipped', 'fired']);
  await endLatest('jumps', 'terminated');
  await setNow(START);
  expect(await fireSchedules(engine.deps)).toEqual({ again: false });
  // An occurrence that has fired does not fire again, even when a change computes the next occurrence anew.
  await call('PATCH', '/execution-schedules/s?deployment_id=jumps', { slip: 5 });
  await setNow(START + 600_000);
  await eventually(async () => {
    await fireSchedules(engine.deps);
    const { body } = await call('GET', '/execution-schedules/s?deployment_id=jumps');
    expect(Date.parse(body.next_occurrence)).toBe(START + 1_200_000);
  }, DEADLINE);
  expect(await executionsOf('jumps')).toHaveLength(2);
  await call('DELETE', '/execution-schedules/s?deployment_id=jumps');
}, 120_000);

test('stop_on_fail switches the schedule off; a refused start is recorded with its reason', async () => {
  engine.peer.deployments.set('stops', peerDeployment({ a: [] }));
  await setNow(START);
  await call('PUT', '/execution-schedules/s?deployment_id=stops', { ...tenMinutes, stop_on_fail: true });
  await setNow(START + 600_000);
  await tickUntil('stops', ['fired']);
  await endLatest('stops', 'failed');
  await setNow(START + 1_200_000);
  await tickUntil('stops', ['fired', 'skipped']);
  expect((await call('GET', '/execution-schedules/s?deployment_id=stops')).body).toMatchObject({
    enabled: false,
    latest_execution_status: 'failed',
  });
  engine.peer.deployments.set('refuses', peerDeployment({ a: [] }));
  await call('PUT', '/execution-schedules/s?deployment_id=refuses', {
    ...tenMinutes,
    parameters: { nosuch: 1 },
  });
  await setNow(START + 1_800_000);
  await tickUntil('refuses', ['refused']);
  await call('DELETE', '/execution-schedules/s?deployment_id=refuses');
}, 120_000);

test('default schedules of a blueprint are made once; a deleted deployment takes its schedules with it', async () => {
  await setNow(START);
  const created = {
    id: newId(),
    time: isoInstant(START),
    tenant: 'default_tenant',
    payload: {
      deploymentId: 'defaults',
      blueprintId: 'bp',
      createdBy: 'admin',
      defaultSchedules: {
        nightly: { workflow: 'install', since: '+1h', recurrence: '1d', slip: 3, default_enabled: false },
        broken: { workflow: 'install', since: '+1h' },
        number: { workflow: 'install', since: '+1h', recurrence: 5 },
        days: { workflow: 'install', since: '+1h', recurrence: '1d', weekdays: [1] },
        patient: { workflow: 'install', since: '+1h', recurrence: '1d', slip: 1e12 },
      },
    },
  };
  const handle = onDeploymentCreated(engine.deps);
  await handle(created as never);
  const listed = async () => (await call('GET', '/execution-schedules?deployment_id=defaults')).body.items;
  expect(await listed()).toMatchObject([
    { id: 'nightly', since: '2030-01-01T01:00:00.000Z', slip: 3, enabled: false, created_by: 'admin' },
    { id: 'patient', slip: 5_256_000 },
  ]);
  for (const id of ['nightly', 'patient'])
    await call('DELETE', `/execution-schedules/${id}?deployment_id=defaults`);
  await handle(created as never);
  expect(await listed()).toEqual([]);
  engine.peer.deployments.set('defaults', peerDeployment({ a: [] }));
  await call('PUT', '/execution-schedules/s?deployment_id=defaults', weekly);
  const gone = { deploymentId: 'defaults', deleteLogs: false };
  await onDeploymentDeleted({ db: engine.db, wire: specExecutions })(
    buildMessage(deploymentDeleted, { tenant: 'default_tenant', key: 'd', time: isoInstant(START) }, gone),
  );
  expect(await listed()).toEqual([]);
}, 60_000);

test('an update of a blueprint that changes a schedule loses nothing that had come', async () => {
  await setNow(START);
  engine.peer.deployments.set('updated', peerDeployment({ a: [] }));
  await call('PUT', '/execution-schedules/s?deployment_id=updated', tenMinutes);
  const owner = {
    tenant: 'default_tenant',
    deploymentId: 'updated',
    madeBy: null,
    visibility: 'tenant',
    createdBy: 'admin',
  };
  const defaults = { s: { workflow: 'install', recurrence: '10 min', slip: 5 } };
  await engine.db.tx(async (tx) => {
    // The fake time counts in this transaction only: for the loops, it has not come yet.
    await sql`select set_config('baton.fake_now', ${'2030-01-01T00:10:05.000Z'}, true)`.execute(tx);
    await updateDefaultSchedules(tx, engine.deps, owner, defaults);
  });
  await setNow(START + 605_000);
  await tickUntil('updated', ['fired']);
  const { body } = await call('GET', '/execution-schedules/s?deployment_id=updated');
  // It runs every ten minutes since its creation, not since the update.
  expect(body).toMatchObject({ slip: 5, next_occurrence: '2030-01-01T00:20:00.000Z' });
  await call('DELETE', '/execution-schedules/s?deployment_id=updated');
}, 60_000);

test('a change in the moment in which stop_on_fail stops a schedule does not start it again', async () => {
  await setNow(START);
  engine.peer.deployments.set('halted', peerDeployment({ a: [] }));
  await call('PUT', '/execution-schedules/s?deployment_id=halted', { ...tenMinutes, stop_on_fail: true });
  await setNow(START + 600_000);
  await tickUntil('halted', ['fired']);
  await endLatest('halted', 'failed');
  await setNow(START + 1_200_000);
  const changed = await call('PATCH', '/execution-schedules/s?deployment_id=halted', { slip: 1 });
  expect(changed.body).toMatchObject({ slip: 1, enabled: false });
  await tickUntil('halted', ['fired', 'skipped']);
  await call('DELETE', '/execution-schedules/s?deployment_id=halted');
}, 60_000);

const reasons = async (deploymentId: string) =>
  (await call('GET', `/execution-schedules/s/occurrences?deployment_id=${deploymentId}`)).body.items.map(
    (one: any) => one.reason,
  );

function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** At `atMs` the due occurrence of a deployment is started; the start continues when `meanwhile` is done. */
async function whileStarting(deploymentId: string, atMs: number, meanwhile: () => Promise<unknown>) {
  const [asked, done] = [gate(), gate()];
  engine.peer.duringFacts(async (id) => {
    if (id !== deploymentId) return;
    asked.open();
    await done.opened;
  });
  await setNow(atMs);
  const ticking = fireSchedules(engine.deps);
  await asked.opened;
  await meanwhile();
  done.open();
  await ticking;
  engine.peer.duringFacts(null);
}

test('what is due when its schedule is disabled does not start, and says why', async () => {
  await setNow(START);
  engine.peer.deployments.set('off', peerDeployment({ a: [] }));
  const path = '/execution-schedules/s?deployment_id=off';
  await call('PUT', path, tenMinutes);
  await whileStarting('off', START + 600_000, () => call('PATCH', path, { enabled: false }));
  await tickUntil('off', ['skipped']);
  expect(await reasons('off')).toEqual(['the schedule was disabled before it could be started']);
  expect(await executionsOf('off')).toEqual([]);
}, 60_000);

test('what cannot be started until its slip is over is skipped, also when it could be started again', async () => {
  await setNow(START);
  engine.peer.deployments.set('late', peerDeployment({ a: [] }));
  await call('PUT', '/execution-schedules/s?deployment_id=late', { ...tenMinutes, slip: 5 });
  await whileStarting('late', START + 600_000, () => setNow(START + 961_000));
  await tickUntil('late', ['skipped']);
  expect(await reasons('late')).toEqual(['it could not be started in time (slip: 5 minutes)']);
  await whileStarting('late', START + 1_200_000, () => setNow(START + 1_559_000));
  await tickUntil('late', ['skipped', 'fired']);
  await call('DELETE', '/execution-schedules/s?deployment_id=late');
}, 60_000);

test('a schedule whose next time no clock shows ends, and holds up no other', async () => {
  await setNow(START);
  for (const id of ['farthest', 'beside']) engine.peer.deployments.set(id, peerDeployment({ a: [] }));
  const far = { ...tenMinutes, recurrence: '9999999 days' };
  expect(await call('PUT', '/execution-schedules/s?deployment_id=farthest', far)).toMatchObject({
    status: 201,
    body: { all_next_occurrences: ['2030-01-01 00:10:00'] },
  });
  await call('PUT', '/execution-schedules/s?deployment_id=beside', tenMinutes);
  await setNow(START + 600_000);
  await tickUntil('beside', ['fired']);
  await tickUntil('farthest', ['fired']);
  const { body } = await call('GET', '/execution-schedules/s?deployment_id=farthest');
  expect(body.next_occurrence).toBeNull();
}, 60_000);

test('more than one look finds that cannot be started hold up no other', async () => {
  await setNow(START);
  const odd = Array.from({ length: 50 }, (_, i) => `odd-${i}`);
  for (const id of [...odd, 'sound']) {
    engine.peer.deployments.set(id, peerDeployment({ a: [] }));
    const since = id === 'sound' ? '2030-01-01 00:10:05' : '2030-01-01 00:10:00';
    const body = { ...tenMinutes, since, slip: 100_000 };
    expect((await call('PUT', `/execution-schedules/s?deployment_id=${id}`, body)).status).toBe(201);
  }
  for (const id of odd) engine.peer.deployments.get(id)!.workflows = null as never;
  await setNow(START + 606_000);
  // Only the loop of the service ticks: it keeps its progress between ticks.
  await eventually(async () => expect(await outcomes('sound')).toEqual(['fired']), DEADLINE);
  for (const id of odd) await call('DELETE', `/execution-schedules/s?deployment_id=${id}`);
}, 60_000);

test('starts that wait for a lock leave connections to requests', async () => {
  await setNow(START);
  const held = Array.from({ length: 12 }, (_, i) => `held-${i}`);
  for (const id of held) {
    engine.peer.deployments.set(id, peerDeployment({ a: [] }));
    await call('PUT', `/execution-schedules/s?deployment_id=${id}`, tenMinutes);
  }
  const waiting = async () => {
    const { rows } = await sql<{ n: number }>`
      select count(*)::integer as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      engine.db.query,
    );
    return rows[0]!.n;
  };
  const [locked, done] = [gate(), gate()];
  engine.peer.duringFacts(() => locked.opened);
  await setNow(START + 600_000);
  const holding = engine.db.tx(async (tx) => {
    for (const id of held) await lockGuard(tx, 'default_tenant', id);
    locked.open();
    await done.opened;
  });
  await eventually(async () => expect(await waiting()).toBe(4), DEADLINE);
  expect((await call('GET', '/execution-schedules/s?deployment_id=held-0')).status).toBe(200);
  done.open();
  await holding;
  engine.peer.duringFacts(null);
  for (const id of held)
    await eventually(async () => expect(await outcomes(id)).toEqual(['fired']), DEADLINE);
}, 60_000);
