import { Readable } from 'node:stream';
import { importsOn, recordsOfS71, type TestRecord } from '@baton/import-part/testing';
import { newId } from '@baton/kernel';
import { startTestDeployments, type TestDeployments } from '../testing/test-deployments';
import { createImportTables } from './import-tables';

let service: TestDeployments;
let part: ReturnType<typeof importsOn>;
let archive: TestRecord[];
const types = createImportTables({ open: async () => Readable.from([]) }).importers.map(({ type }) => type);

beforeAll(async () => {
  archive = await recordsOfS71();
});
beforeEach(async () => {
  service = await startTestDeployments();
  part = importsOn(service.parts.rpc, types);
});
afterEach(() => service.stop());

const itemsOf = (type: string) =>
  archive.filter((record) => record.type === type).map(({ item }) => JSON.parse(item));

test('takes the deployments of an archive over as it shows them', async () => {
  const { counts, fates, outcome } = await part.run(archive);
  expect(counts).toMatchObject({
    sites: { read: 1, imported: 1 },
    deployments: { read: 2, imported: 2 },
    nodes: { read: 4, imported: 4 },
    node_instances: { read: 6, imported: 6 },
  });
  expect(fates).toEqual([]);
  expect(outcome.notes).toEqual([]);

  for (const item of itemsOf('deployments')) {
    const { body } = await service.call('GET', `/deployments/${item.id}`);
    const { labels, installation_status, deployment_status, ...plain } = body;
    expect(plain).toMatchObject({
      id: item.id,
      blueprint_id: 'snap-bp',
      created_at: item.created_at,
      created_by: 'admin',
      inputs: item.inputs,
      outputs: item.outputs,
      capabilities: item.capabilities,
      workflows: item.workflows.map(({ is_available: _, ...workflow }: object & { is_available: boolean }) =>
        expect.objectContaining(workflow),
      ),
      policy_types: item.policy_types,
      policy_triggers: item.policy_triggers,
    });
    expect({ installation_status }).toEqual({ installation_status: item.installation_status });
    expect(labels.map(({ key, value }: { key: string; value: string }) => `${key}=${value}`)).toEqual([
      'csys-imported-from=cloudify 7.1.0',
      expect.stringMatching(/^csys-quarantine=job of /),
      item.id === 'snap-a' ? 'env=prod' : 'env=dev',
    ]);
  }
  const instances = (await service.call('GET', '/node-instances?_size=100')).body.items;
  for (const item of itemsOf('node_instances'))
    expect(instances).toContainEqual(
      expect.objectContaining({
        id: item.id,
        deployment_id: item.deployment_id,
        node_id: item.node_id,
        state: item.state,
        index: item.index,
        version: 1,
        runtime_properties: item.runtime_properties,
        relationships: item.relationships,
        is_status_check_ok: item.is_status_check_ok,
      }),
    );
  const nodes = (await service.call('GET', '/nodes?_size=100')).body.items;
  for (const item of itemsOf('nodes')) {
    const shown = nodes.find(
      ({ id, deployment_id: of }: { id: string; deployment_id: string }) =>
        id === item.id && of === item.deployment_id,
    );
    expect(shown).toMatchObject({
      type: item.type,
      type_hierarchy: item.type_hierarchy,
      properties: item.properties,
      operations: item.operations,
      relationships: item.relationships,
      number_of_instances: item.number_of_instances,
      max_number_of_instances: item.max_number_of_instances,
    });
  }
});

test('changes nothing when the archive comes again', async () => {
  await part.run(archive);
  const before = await rowsOf(service);
  const { counts } = await part.run(archive);
  expect(counts).toMatchObject({
    deployments: { read: 2, same: 2 },
    nodes: { read: 4, same: 4 },
    node_instances: { read: 6, same: 6 },
  });
  expect(await rowsOf(service)).toEqual(before);
});

test('refuses whatever would change a deployment until it is activated', async () => {
  await part.run(archive);
  const refused = { status: 409, body: { error_code: 'conflict_error' } };
  const answer = await service.call('POST', '/deployment-updates/snap-a/update/initiate', {
    blueprint_id: 'mini',
  });
  expect(answer).toMatchObject(refused);
  expect(answer.body.message).toContain('baton import activate');
  expect(await service.call('DELETE', '/deployments/snap-a')).toMatchObject(refused);
  expect(
    await service.call('POST', '/deployment-modifications', {
      deployment_id: 'snap-a',
      nodes: { app: { instances: 3 } },
    }),
  ).toMatchObject(refused);
  const facts = () =>
    service.rpc.getDeployment({
      tenant: 'default_tenant',
      deploymentId: 'snap-a',
      username: 'admin',
      isAdministrator: true,
      leavingWith: '',
    });
  expect((await facts()).quarantine).toBe('cloudify 7.1.0');

  expect(await part.activate('default_tenant', ['snap-a'])).toEqual({ deployments: 1, schedules: 0 });
  expect(await part.activate('default_tenant', ['snap-a'])).toEqual({ deployments: 0, schedules: 0 });
  expect((await facts()).quarantine).toBe('');
  expect(
    await service.call('POST', '/deployment-modifications', {
      deployment_id: 'snap-a',
      nodes: { app: { instances: 3 } },
    }),
  ).toMatchObject({ status: 201 });
  const { body } = await service.call('GET', '/deployments/snap-a');
  expect(body.labels.map(({ key }: { key: string }) => key)).not.toContain('csys-quarantine');
});

test('executions of this manager are later than all that came with the archive', async () => {
  await part.run(archive);
  const ends = (executionId: string, status: string) =>
    service.rpc.executionEnded({
      ...{ tenant: 'default_tenant', deploymentId: 'snap-a', executionId, workflowId: 'install', status },
      ...{ totalOperations: 0, finishedOperations: 0, lastStateSeq: 0, version: 1 },
    });
  const shown = async () => {
    const { latest_execution, latest_execution_status } = (await service.call('GET', '/deployments/snap-a'))
      .body;
    return [latest_execution, latest_execution_status];
  };
  const imported = '5ac26363-3a85-4b6d-b989-d34ed2a5820a';
  await ends(imported, 'terminated');
  expect(await shown()).toEqual([imported, 'completed']);
  const own = newId();
  await ends(own, 'failed');
  expect(await shown()).toEqual([own, 'failed']);
  await ends(imported, 'terminated');
  expect(await shown()).toEqual([own, 'failed']);
});

/** Content of the tables that an import writes. */
async function rowsOf({ db }: TestDeployments): Promise<unknown[]> {
  const tables = ['sites', 'deployments', 'deployment_plans', 'deployment_labels', 'nodes', 'node_instances'];
  const found = [];
  for (const table of tables)
    found.push((await db.pool.query(`select t::text as row from ${table} t order by 1`)).rows);
  return found;
}
