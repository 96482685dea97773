// Deployments of another manager live on here: imported from its archive, activated, and then driven by this manager.
import { openArchive } from '@baton/cloudify-archive';
import { createImportPart, type ImportTables } from '@baton/import-part';
import { importsOn, recordsOfS71, S71 } from '@baton/import-part/testing';
import { silentLog } from '@baton/kernel';
import { createDb, type Db } from '@baton/postgres';
import { eventually } from '@baton/testkit/eventually';
import { fileSource } from '@baton/zip-reader';
import { createImportTables } from '../../services/deployments/src/imports/import-tables';
import { importTables as executionsTables } from '../../services/executions/src/imports/import-tables';
import { tgz } from '../contract/world';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf } from '../security/caller';

/** The blueprint of the archive with a node more. */
const NEXT = tgz({
  'blueprint.yaml': `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs: {greeting: {type: string, default: hi}}
node_templates:
  host: {type: cloudify.nodes.Root, interfaces: {cloudify.interfaces.lifecycle: {create: {implementation: "#!/bin/bash\\nctx instance runtime-properties msg made\\n"}}}}
  app: {type: cloudify.nodes.Root, capabilities: {scalable: {properties: {default_instances: 3}}}, relationships: [{type: cloudify.relationships.contained_in, target: host}]}
  extra: {type: cloudify.nodes.Root}
outputs: {msg: {value: {get_attribute: [host, msg]}}}
capabilities: {cap: {value: {get_attribute: [host, msg]}}}
`,
});
let fleet: Fleet;
let caller: Caller;
const open: Db<unknown>[] = [];

/** The import part of a service, on its database. */
function partOf(schema: string, tables: ImportTables) {
  const db = createDb({ url: fleet.databaseUrl, schema, applicationName: 'import-test', log: silentLog });
  open.push(db);
  const part = createImportPart({ db, tables, log: silentLog });
  return importsOn(
    [part],
    tables.importers.map(({ type }) => type),
  );
}

beforeAll(async () => {
  fleet = await startFleet({ mode: 'services', workers: 1 });
  caller = callerOf(fleet);
}, 180_000);
afterAll(async () => {
  for (const db of open) await db.close();
  await fleet?.stop();
}, 60_000);

const must = (method: string, path: string, body?: unknown, content?: Buffer) =>
  caller.must(caller.admin, method, path, body, content);

/** Runs a workflow to its end. */
async function runs(workflow_id: string, parameters: object = {}): Promise<void> {
  const { id } = await must('POST', '/executions', { deployment_id: 'snap-a', workflow_id, parameters });
  await endsWell(id);
}
const endsWell = (id: string) =>
  eventually(
    async () => {
      const { status, error } = await must('GET', `/executions/${id}`);
      if (['failed', 'cancelled'].includes(status)) throw new Error(`${id} ended as ${status}: ${error}`);
      expect(status).toBe('terminated');
    },
    { deadlineMs: 60_000, everyMs: 100 },
  );

async function blueprintOfS71(): Promise<Buffer> {
  const archive = await openArchive(await fileSource(S71));
  const pieces: Buffer[] = [];
  for await (const piece of archive.read('tenants/default_tenant/blueprints/snap-bp.tar.gz'))
    pieces.push(piece);
  await archive.close();
  return Buffer.concat(pieces);
}

test('an imported deployment can be operated, scaled, updated and uninstalled once it is activated', async () => {
  await must('PUT', '/blueprints/snap-bp', undefined, await blueprintOfS71());
  const deployments = partOf(
    'deployments',
    createImportTables({ open: () => Promise.reject(new Error('no working folders')) }),
  );
  const executions = partOf('executions', executionsTables);
  const records = await recordsOfS71();
  await deployments.run(records);
  await executions.run(records);

  // Deployments shows the latest execution of the archive.
  await eventually(
    async () =>
      expect(await must('GET', '/deployments/snap-a')).toMatchObject({
        latest_execution_status: 'completed',
        installation_status: 'active',
        deployment_status: 'good',
      }),
    { deadlineMs: 60_000, everyMs: 200 },
  );
  expect(await must('GET', '/deployments/snap-a/outputs')).toMatchObject({ outputs: { msg: 'made' } });
  const start = { deployment_id: 'snap-a', workflow_id: 'restart' };
  expect(await caller.send(caller.admin, 'POST', '/executions', start)).toMatchObject({ status: 409 });

  expect(await caller.send(caller.admin, 'DELETE', '/deployments/snap-b')).toMatchObject({ status: 409 });
  await must('DELETE', '/filters/deployments/snap-filter');

  await deployments.activate('default_tenant', ['snap-a']);
  await runs('execute_operation', { operation: 'cloudify.interfaces.lifecycle.create', node_ids: ['host'] });
  await runs('scale', { scalable_entity_name: 'app', delta: 1 });
  const instances = (await must('GET', '/node-instances?deployment_id=snap-a')).items;
  expect(
    instances
      .map(({ node_id: node, state }: { node_id: string; state: string }) => `${node} ${state}`)
      .sort(),
  ).toEqual(['app started', 'app started', 'app started', 'host started']);
  expect(instances.map(({ id }: { id: string }) => id)).toEqual(
    expect.arrayContaining(['host_94csij', 'app_osqcfh', 'app_vx1r17']),
  );

  await must('PUT', '/blueprints/next', undefined, NEXT);
  const update = await must('POST', '/deployment-updates/snap-a/update/initiate', { blueprint_id: 'next' });
  await endsWell(update.execution_id);
  expect(await must('GET', '/deployments/snap-a')).toMatchObject({ blueprint_id: 'next' });
  const nodes = (await must('GET', '/nodes?deployment_id=snap-a')).items;
  expect(nodes.map(({ id }: { id: string }) => id).sort()).toEqual(['app', 'extra', 'host']);

  await runs('uninstall');
  const { installation_status } = await must('GET', '/deployments/snap-a');
  expect(installation_status).toBe('inactive');
  await must('DELETE', '/deployments/snap-a');
  await must('DELETE', '/deployments/snap-b?force=true');
  await eventually(
    async () =>
      expect(await caller.send(caller.admin, 'GET', '/deployments/snap-a')).toMatchObject({ status: 404 }),
    { deadlineMs: 60_000, everyMs: 100 },
  );
}, 240_000);
