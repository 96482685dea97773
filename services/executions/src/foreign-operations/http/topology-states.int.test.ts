import type { Principal } from '@baton/contracts';
import { sql } from 'kysely';
import { peerDeployment } from '../../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { admin, type HttpRig, httpRig } from '../../testing/http-rig';
import { operationsRoutes } from './operations.routes';
import { specOperations } from './wire-policy';

/** GET /executions/{id}/topology-states: states of node instances, replayed event by event of an execution. */

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

const { begin, row, workToEnd } = drive(() => engine);
const ask = (id: string, query = '', principal: Principal = admin) =>
  rig.call('GET', `/executions/${id}/topology-states${query}`, undefined, principal);
const statesOf = ({ instances }: { instances: { id: string; state: string }[] }) =>
  Object.fromEntries(instances.map(({ id, state }) => [id, state]));

async function installed(deploymentId: string, more: object = {}): Promise<string> {
  engine.peer.deployments.set(deploymentId, peerDeployment({ a: [], b: ['a'] }, ['create', 'start']));
  const id = await begin(deploymentId, 'install', more);
  await workToEnd(id);
  return id;
}

test('plays the states back from the first event to the last', async () => {
  const id = await installed('played');
  const { last_event_seq: last } = await row(id);
  const played: Record<string, string>[] = [];
  for (let seq = 1; seq <= last; seq++) {
    const { status, body } = await ask(id, `?at=${seq}`);
    expect([status, body.at.seq, body.is_whole]).toEqual([200, seq, true]);
    played.push(statesOf(body));
  }
  // An instance that depends on another one begins after it.
  const b = played.findIndex((states) => states.b_1 !== undefined);
  expect(played[b]!.a_1).toBe('started');
  const lives = (instance: string) => [...new Set(played.flatMap((states) => states[instance] ?? []))];
  expect(lives('a_1').at(-1)).toBe('started');
  expect(lives('a_1').length).toBeGreaterThan(2);
  expect(lives('a_1')).toEqual(lives('b_1'));
  const now = (await ask(id)).body;
  expect([now.at, statesOf(now)]).toEqual([null, { a_1: 'started', b_1: 'started' }]);
  expect(statesOf((await ask(id, `?at=${last + 1_000}`)).body)).toEqual(statesOf(now));
});

test('a dry run gives no instance a state', async () => {
  expect((await ask(await installed('dry', { dryRun: true }))).body.instances).toEqual([]);
});

test('says when times were not noted, and when no event is left', async () => {
  const id = await installed('older');
  await sql`update task_marks m set created_at = null from tasks_graphs g
    where g.id = m.graph_id and g.execution_id = ${id}`.execute(engine.db.query);
  expect((await ask(id)).body).toMatchObject({ is_whole: false, instances: [] });
  await sql`delete from events where execution_id = ${id}`.execute(engine.db.query);
  const { status, body } = await ask(id, '?at=5');
  expect([status, body.error_code]).toEqual([404, 'not_found_error']);
});

test('wrong parameters are named, and others do not learn that it is there', async () => {
  const id = await installed('asked');
  for (const query of ['?at=-1', '?at=x', '?At=1']) {
    const { status, body } = await ask(id, query);
    expect([status, body.error_code]).toEqual([400, 'bad_parameters_error']);
  }
  const user: Principal = {
    ...admin,
    username: 'bob',
    userId: 7,
    role: 'default',
    roles: ['user'],
    permissions: [],
    isBootstrapAdmin: false,
  };
  expect((await ask(id, '', user)).status).toBe(200);
  expect((await ask(id, '', { ...user, tenant: 'other' })).status).toBe(404);
  await sql`update executions set visibility = 'private' where id = ${id}`.execute(engine.db.query);
  expect((await ask(id, '', user)).status).toBe(404);
});
