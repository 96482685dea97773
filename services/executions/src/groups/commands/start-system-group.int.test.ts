import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup } from '../../testing/engine-setup';
import { admin } from '../../testing/http-rig';
import { specGroups } from '../http/wire-policy';
import { readExecutionGroup } from '../queries/execution-groups';
import { recordGroupCreation } from './record-group';

const TENANT = 'default_tenant';

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

const shown = (groupId: string) => readExecutionGroup(engine.db.query, admin, groupId, specGroups);

test('deployments made in a group have their creation recorded as a group, once', async () => {
  const created = {
    executionGroupId: newId(),
    deploymentGroupId: 'g',
    createdBy: 'admin',
    visibility: 'tenant',
    deployments: [1, 2].map((n) => ({
      deploymentId: `made-${n}`,
      blueprintId: 'bp',
      createExecutionId: newId(),
      displayName: `made ${n}`,
      visibility: 'tenant',
      parameters: { inputs: {} },
    })),
  };
  await recordGroupCreation(engine.deps, TENANT, created);
  await recordGroupCreation(engine.deps, TENANT, created);
  expect(await shown(created.executionGroupId)).toMatchObject({
    workflow_id: 'create_deployment_environment',
    concurrency: 10,
    status: 'terminated',
    execution_ids: created.deployments.map((one) => one.createExecutionId),
  });
  const { rows } =
    await sql`select 1 from events where execution_id = ${created.deployments[0]!.createExecutionId}`.execute(
      engine.db.query,
    );
  expect(rows).toHaveLength(2);
});

test('a system workflow on many deployments: repeated it starts nothing more', async () => {
  const ids = ['deleted-0', 'deleted-1', 'deleted-2'];
  for (const id of ids) engine.peer.deployments.set(id, peerDeployment({ [id]: [] }, ['create']));
  const groupId = newId();
  const request = {
    tenant: TENANT,
    groupId,
    deploymentGroupId: '',
    createdBy: 'admin',
    visibility: 'tenant',
    workflowId: 'delete_deployment_environment',
    parametersJson: '{}',
    force: false,
    concurrency: 2,
    deployments: ids.map((id) => ({ id, displayName: id, blueprintId: 'bp', visibility: 'tenant' })),
  };
  await engine.client.startExecutionGroup(request);
  await engine.client.startExecutionGroup(request);
  await eventually(async () => expect((await shown(groupId)).status).toBe('terminated'), {
    deadlineMs: 20_000,
  });
  const members = await sql`select 1 from executions where execution_group_id = ${groupId}`.execute(
    engine.db.query,
  );
  expect(members.rows).toHaveLength(3);
});
