// Which facts become which events, and which webhook gets them.
import {
  deploymentCreated,
  deploymentDriftChanged,
  deploymentUpdated,
  executionStatusChanged,
  groupDeploymentsCreated,
} from '@baton/contracts';
import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { admin, startCluster } from '../testing/cluster-setup';
import { startReceiver } from '../testing/receiver';

let cluster: Awaited<ReturnType<typeof startCluster>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver();
  cluster = await startCluster({ BATON_WEBHOOKS_ALLOW: '127.0.0.0/8' });
});
afterEach(() => cluster.pool.query('delete from cluster_status.webhooks'));
afterAll(async () => {
  await receiver.close();
  await cluster.close();
});

const as = { ...admin, tenant: 'default_tenant' };
const call = (method: string, path: string, json?: unknown) => cluster.call(method, path, { as, json });
const make = async (id: string, more: Record<string, unknown> = {}) => {
  const made = await call('PUT', `/webhooks/${id}`, { url: receiver.url(`/${id}`), events: ['*'], ...more });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
};
const finished = () => ({
  executionId: newId(),
  deploymentId: 'd1',
  blueprintId: 'b1',
  workflowId: 'install',
  status: 'terminated' as const,
  createdBy: 'bob',
  changedAt: '2026-01-01T00:00:00.000Z',
});

it('sends what was asked for only: events, filter, and each deployment of a group', async () => {
  await make('filtered', { events: ['deployment.created'], filter: { deployment_id: ['g1', 'g3'] } });
  await cluster.tell(executionStatusChanged, finished());
  const one = (deploymentId: string) => ({
    deploymentId,
    blueprintId: 'b',
    createExecutionId: newId(),
    displayName: '',
    visibility: 'tenant',
    parameters: { password: 'canary-in-parameters' },
  });
  await cluster.tell(groupDeploymentsCreated, {
    executionGroupId: 'e',
    deploymentGroupId: 'g',
    createdBy: 'bob',
    visibility: 'tenant',
    deployments: ['g1', 'g2', 'g3'].map(one),
  });
  await cluster.tell(deploymentCreated, { deploymentId: 'other', blueprintId: 'b' });
  await eventually(() => expect(receiver.at('/filtered')).toHaveLength(2));
  expect(
    receiver
      .at('/filtered')
      .map(({ body }) => JSON.parse(body).data.deployment_id)
      .sort(),
  ).toEqual(['g1', 'g3']);
  expect(JSON.stringify(receiver.got)).not.toContain('canary');
});

it('tells an update of a deployment, and where drift began or ended, by its status', async () => {
  await make('changes', { events: ['deployment.updated', 'deployment.drift_changed'] });
  await make('alarms', { events: ['deployment.drift_changed'], filter: { status: 'drifted' } });
  const update = { deploymentId: 'd1', change: 'update' as const, blueprintId: 'b2', updateId: 'u1' };
  await cluster.tell(deploymentUpdated, update);
  const drift = { deploymentId: 'd1', driftedInstances: 2, newlyDrifted: 1, noLongerDrifted: 3 };
  const changedAt = '2026-01-01T00:00:00.000Z';
  await cluster.tell(deploymentDriftChanged, { ...drift, blueprintId: 'b2', changedAt });
  await cluster.tell(deploymentDriftChanged, { ...drift, driftedInstances: 0, changedAt });
  await eventually(() => expect(receiver.at('/changes')).toHaveLength(3));
  const told = receiver.at('/changes').map(({ body }) => JSON.parse(body));
  expect(told.find(({ type }) => type === 'deployment.updated').data).toEqual({
    deployment_id: 'd1',
    change: 'update',
    blueprint_id: 'b2',
    update_id: 'u1',
    link: '/api/v3.1/deployments/d1',
  });
  await eventually(() => expect(receiver.at('/alarms')).toHaveLength(1));
  expect(JSON.parse(receiver.at('/alarms')[0]!.body)).toEqual({
    type: 'deployment.drift_changed',
    timestamp: changedAt,
    data: {
      deployment_id: 'd1',
      blueprint_id: 'b2',
      status: 'drifted',
      drifted_instances: 2,
      newly_drifted: 1,
      no_longer_drifted: 3,
      link: '/api/v3.1/deployments/d1/drift',
    },
  });
  expect(
    told
      .map(({ data }) => data.status)
      .filter(Boolean)
      .sort(),
  ).toEqual(['drifted', 'in_sync']);
});
