import type { Principal } from '@baton/contracts';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { admin, type HttpRig, httpRig } from '../../testing/http-rig';
import { specWire } from '../../wire-policy';
import { executionsRoutes } from '../http/executions.routes';

const helper: Principal = {
  ...admin,
  isBootstrapAdmin: false,
  permissions: ['set_execution_details'],
  userId: 5,
  username: 'ann',
};
const ID = '11111111-1111-4111-8111-111111111111';
const past = {
  deployment_id: 'd',
  workflow_id: 'gone_from_the_blueprint',
  id: ID,
  force_status: 'failed',
  error: 'it broke',
  created_at: '2020-01-02T03:04:05.678Z',
  started_at: '2020-01-02T03:04:06Z',
  ended_at: '2020-01-02 03:05:00',
  created_by: 'carol',
};

let engine: EngineSetup;
let http: HttpRig;
const call: HttpRig['call'] = (...asked) => http.call(...asked);
beforeAll(async () => {
  engine = await engineSetup();
  engine.peer.deployments.set('d', peerDeployment({ a: [] }));
  http = await httpRig(
    engine,
    executionsRoutes({ ...engine.deps, nowMs: () => Date.parse('2030-01-01') }, specWire),
  );
}, 120_000);
afterAll(async () => {
  await http?.close();
  await engine?.stop();
});

test('an execution of another manager is stored as it was, and runs nothing', async () => {
  const made = await call('POST', '/executions', past);
  expect(made).toMatchObject({
    status: 201,
    body: {
      id: ID,
      status: 'failed',
      error: 'it broke',
      created_by: 'carol',
      created_at: '2020-01-02T03:04:05.678Z',
      started_at: '2020-01-02T03:04:06.000Z',
      ended_at: '2020-01-02T03:05:00.000Z',
      total_operations: 0,
    },
  });
  expect((await call('GET', `/executions/${ID}`)).body).toEqual(made.body);
  expect((await call('POST', '/executions', past)).body.error_code).toBe('conflict_error');
  const ofSystem = { workflow_id: 'create_snapshot', deployment_id: '', force_status: 'terminated' };
  expect((await call('POST', '/executions', ofSystem)).body).toMatchObject({
    status: 'terminated',
    error: '',
    deployment_id: null,
  });
  expect((await call('GET', '/executions?status=pending&status=started')).body.items).toEqual([]);
});

test.each([
  [{ force_status: 'started' }, 400, 'force_status'],
  [{ force_status: null }, 400, 'id'],
  [{ id: 'x' }, 400, 'id'],
  [{ ended_at: 'yesterday' }, 400, 'ended_at'],
  [{ created_by: 'nosuch' }, 400, 'created_by'],
])('%j is refused', async (changes, status, field) => {
  expect(await call('POST', '/executions', { ...past, ...changes })).toMatchObject({
    status,
    body: { field },
  });
});

test('times and the creator need their rights; an unknown deployment is not found', async () => {
  const ask = async (changes: object, principal: Principal) =>
    (await call('POST', '/executions', { ...past, id: null, ...changes }, principal)).status;
  const bare = { created_at: null, started_at: null, ended_at: null, created_by: null };
  expect(await ask({ ...bare, created_by: 'carol' }, helper)).toBe(403);
  expect(await ask({ ...bare, created_at: past.created_at }, helper)).toBe(403);
  expect(await ask(bare, { ...helper, permissions: [] })).toBe(403);
  expect(await ask(bare, helper)).toBe(201);
  expect(await ask({ deployment_id: 'nosuch' }, admin)).toBe(404);
});
