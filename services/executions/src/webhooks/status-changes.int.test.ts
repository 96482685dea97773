import { buildMessage, executionStatusChanged, webhookInterestChanged } from '@baton/contracts';
import { isoInstant, systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { peerDeployment } from '../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../testing/engine-setup';
import { noteListening, tellStatusChanges } from './commands/tell-status-changes';

let engine: EngineSetup;
const { begin, workToEnd } = drive(() => engine);
const heard: { executionId: string; status: string; deploymentId: string }[] = [];
beforeAll(async () => {
  engine = await engineSetup();
  const handler = async ({ payload }: { payload: (typeof heard)[number] }) => void heard.push(payload);
  await engine.broker.consume(executionStatusChanged, {
    queue: 'cluster-status-webhooks',
    prefetch: 1,
    handler,
  });
  for (const id of ['d1', 'd2']) engine.peer.deployments.set(id, peerDeployment({ a: [] }));
}, 120_000);
afterAll(() => engine?.stop());

const tenant = 'default_tenant';
const kept = async () =>
  (await engine.db.pool.query('select status from executions.status_changes order by id')).rows;

it('keeps nothing in a tenant that does not listen', async () => {
  await workToEnd(await begin('d1', 'install'));
  expect(await kept()).toEqual([]);
});

it('tells each start and end once to a tenant that listens, from its own transaction on', async () => {
  await noteListening(engine.deps, tenant, { isListening: true, version: 2 });
  // A message of before, that comes late.
  await noteListening(engine.deps, tenant, { isListening: false, version: 1 });
  const id = await begin('d2', 'install');
  await workToEnd(id);
  // Two replicas at once.
  await Promise.all([tellStatusChanges(engine.deps), tellStatusChanges(engine.deps)]);
  await eventually(() =>
    expect(
      heard
        .filter(({ executionId }) => executionId === id)
        .map(({ status }) => status)
        .sort(),
    ).toEqual(['started', 'terminated']),
  );
  expect(heard[0]).toMatchObject({ deploymentId: 'd2', workflowId: 'install', createdBy: 'admin' });
  expect(await kept()).toEqual([]);
});

it('starts with the rights of a user where a service asks for that', async () => {
  const start = (more: object) =>
    begin('nosuch', 'csys_update_deployment', { hasRightsOfUser: true, createdBy: 'bob', ...more });
  await expect(start({})).rejects.toMatchObject({ details: { permission: 'deployment_update_create' } });
  const allowed = { permissions: ['deployment_update_create'] };
  await expect(start(allowed)).rejects.toMatchObject({ code: 'not_found_error' });
});

it('learns from a message who listens', async () => {
  const about = { tenant: 'other', key: 'other', time: isoInstant(systemClock.now()) };
  await engine.broker.publish([
    buildMessage(webhookInterestChanged, about, { isListening: true, version: 1 }),
  ]);
  await eventually(async () => {
    const { rows } = await engine.db.pool.query(
      `select version from executions.listening_tenants where tenant = 'other'`,
    );
    expect(rows).toHaveLength(1);
  });
});
