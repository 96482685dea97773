import { buildMessage, deploymentCreated, deploymentDeleted } from '@baton/contracts';
import { isoInstant, newId } from '@baton/kernel';
import { eventually, setFakeNow } from '@baton/testkit';
import { sql } from 'kysely';
import { fireSchedules } from '../../schedules/commands/fire-schedules';
import { updateDefaultSchedules } from '../../schedules/commands/make-default-schedules';
import { schedulesRoutes } from '../../schedules/http/schedules.routes';
import { specSchedules } from '../../schedules/http/wire-policy';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { type HttpRig, httpRig } from '../../testing/http-rig';
import { specExecutions } from '../http/wire-policy';
import { onDeploymentCreated } from './on-deployment-created';
import { onDeploymentDeleted } from './on-deployment-deleted';

/** A deployment is deleted and made again before the executions service has heard that the first one is gone. */

const START = Date.parse('2030-01-01T00:00:00Z');
const DELETED = START + 3_600_000;
const tenant = 'default_tenant';
const daily = { workflow_id: 'install', since: '2030-01-01 05:00:00', recurrence: '1 day' };

let engine: EngineSetup;
let http: HttpRig;
beforeAll(async () => {
  engine = await engineSetup();
  http = await httpRig(engine, schedulesRoutes({ ...engine.deps, wire: specSchedules }));
}, 120_000);
afterAll(async () => {
  await http?.close();
  await engine?.stop();
});

const setNow = (ms: number) => setFakeNow(engine.db.pool, new Date(ms).toISOString());
const about = (key: string, atMs: number) => ({ tenant, key, time: isoInstant(atMs) });
const put = (deploymentId: string, id: string) =>
  http.call('PUT', `/execution-schedules/${id}?deployment_id=${deploymentId}`, daily);

/** Makes a deployment with a schedule of its blueprint; returns the id of the execution that made it. */
async function make(deploymentId: string, atMs: number): Promise<string> {
  const createExecutionId = newId();
  await setNow(atMs);
  engine.peer.deployments.set(deploymentId, { ...peerDeployment({ a: [] }), madeBy: createExecutionId });
  const defaultSchedules = {
    nightly: { workflow: 'install', since: '2030-01-01 05:00:00', recurrence: '1d' },
  };
  const made = { deploymentId, blueprintId: 'bp', createExecutionId, createdBy: 'admin', defaultSchedules };
  await onDeploymentCreated(engine.deps)(buildMessage(deploymentCreated, about(deploymentId, atMs), made));
  return createExecutionId;
}

/** `createExecutionId`: absent in messages of an older release. */
async function hearDeleted(deploymentId: string, createExecutionId: string | undefined, atMs: number) {
  const gone = { deploymentId, deleteLogs: true, createExecutionId };
  const handle = onDeploymentDeleted({ db: engine.db, wire: specExecutions });
  await handle(buildMessage(deploymentDeleted, about(deploymentId, atMs), gone));
}

async function kept(deploymentId: string) {
  const names = async (statement: ReturnType<typeof sql<{ name: string }>>) =>
    (await statement.execute(engine.db.query)).rows.map(({ name }) => name);
  return {
    schedules: await names(sql`select id as name from execution_schedules
      where deployment_id = ${deploymentId} order by id`),
    executions: await names(sql`select id::text as name from executions
      where deployment_id = ${deploymentId} order by id`),
    events: await names(sql`select distinct execution_id::text as name from events
      where deployment_id = ${deploymentId} order by 1`),
  };
}

test.each(['of today', 'of an older release'])(
  'a late message %s takes nothing of a new deployment',
  async (release) => {
    const id = `again-${release.split(' ').at(-1)}`;
    const first = await make(id, START);
    expect((await put(id, 'own')).status).toBe(201);
    expect((await put(id, 'left')).status).toBe(201);
    const second = await make(id, DELETED + 1_000);
    // The schedules of the first deployment do not block schedules of the same names.
    expect((await put(id, 'own')).status).toBe(201);
    expect((await put(id, 'own')).status).toBe(409);
    await hearDeleted(id, release === 'of today' ? first : undefined, DELETED);
    const all = { schedules: ['nightly', 'own'], executions: [second], events: [second] };
    expect(await kept(id)).toEqual(all);
    // The message comes again, from a clock that is ahead.
    await hearDeleted(id, first, DELETED + 60_000);
    expect(await kept(id)).toEqual(all);
    await hearDeleted(id, second, DELETED + 60_000);
    expect(await kept(id)).toEqual({ schedules: [], executions: [], events: [] });
  },
  60_000,
);

test('an update of a new deployment makes its schedule anew where the one of the first is still there', async () => {
  await make('updated', START);
  const madeBy = newId();
  await setNow(DELETED + 1_000);
  const owner = { tenant, deploymentId: 'updated', madeBy, visibility: 'tenant', createdBy: 'admin' };
  const defaults = { nightly: { workflow: 'install', since: '2030-01-01 06:00:00', recurrence: '1d' } };
  await engine.db.tx((tx) => updateDefaultSchedules(tx, engine.deps, owner, defaults));
  const { rows } = await sql<{ deployment_made_by: string }>`
    select deployment_made_by from execution_schedules where deployment_id = 'updated'`.execute(
    engine.db.query,
  );
  expect(rows).toEqual([{ deployment_made_by: madeBy }]);
}, 60_000);

test('what an older release stored goes with its deployment by the time it was made', async () => {
  await make('older', START);
  await setNow(DELETED + 1_000);
  expect((await put('older', 'later')).status).toBe(201);
  for (const table of ['executions', 'execution_schedules'])
    await sql`update ${sql.table(table)} set deployment_made_by = null where deployment_id = 'older'`.execute(
      engine.db.query,
    );
  await hearDeleted('older', newId(), DELETED);
  expect(await kept('older')).toEqual({ schedules: ['later'], executions: [], events: [] });
}, 60_000);

test('a schedule of a deployment that is gone does not run on a new one of its id', async () => {
  await make('strange', START);
  await put('strange', 'own');
  engine.peer.deployments.get('strange')!.madeBy = newId();
  await setNow(Date.parse('2030-01-01T05:00:00Z'));
  await eventually(async () => {
    await fireSchedules(engine.deps);
    const path = '/execution-schedules/own/occurrences?deployment_id=strange';
    const { items } = (await http.call('GET', path)).body;
    expect(items).toMatchObject([{ outcome: 'refused', reason: expect.stringContaining('strange') }]);
  });
  expect((await kept('strange')).executions).toHaveLength(1);
}, 60_000);
