// The archive of a real Cloudify Manager 7.1: checked, applied, compared; held back until it is activated; then it works.
import { readFileSync } from 'node:fs';
import { eventually } from '@baton/testkit';
import { adminClient, call, follow, followExecution, upload } from '../harness/session';
import { type Importer, S71, startImporter } from './importer';

let importer: Importer;
let checked: Awaited<ReturnType<Importer['check']>>;
beforeAll(async () => {
  importer = await startImporter();
}, 120_000);
afterAll(() => importer?.stop(), 60_000);

const archive = readFileSync(S71);
const refusal = (method: string, path: string, body?: unknown) =>
  importer.caller.send(importer.caller.admin, method, path, body);

test('the check loses nothing that can be carried, and changes nothing', async () => {
  checked = await importer.check(archive);
  expect(checked).toMatchObject({
    state: 'checked',
    source_version: 'cloudify 7.1.0',
    deployments_with_agents: 0,
  });
  for (const { type, read, imported, same, skipped, replaced, lost, conflicts } of checked.counts)
    expect([type, imported + same + skipped + replaced + lost + conflicts]).toEqual([type, read]);
  const lost = (await importer.report(checked.id)).filter(
    ({ fate }) => fate === 'lost' || fate === 'conflict',
  );
  expect(lost).toEqual([]);
  const { must, admin } = importer.caller;
  expect((await must(admin, 'GET', '/deployments')).items).toEqual([]);
});

test('applied, the API answers what the archive says', async () => {
  const applied = await importer.apply(checked);
  expect([applied.state, applied.error]).toEqual(['applied', '']);
  expect(await importer.verify(S71)).toEqual({ compared: 26, found: [] });
});

test('a second import of the same archive finds everything as it is', async () => {
  const again = await importer.check(archive);
  for (const { type, read, same, skipped } of again.counts)
    expect([type, same + skipped]).toEqual([type, read]);
});

test('until it is activated, nothing starts on an imported deployment', async () => {
  const refused = await refusal('POST', '/executions', { deployment_id: 'snap-a', workflow_id: 'uninstall' });
  expect([refused.status, refused.body.error_code]).toEqual([409, 'conflict_error']);
  expect(refused.body.message).toMatch(/baton import activate/);
  for (const [method, path, body] of [
    ['PUT', '/deployment-updates/snap-a/update/initiate', { blueprint_id: 'snap-bp' }],
    ['POST', '/deployment-modifications', { deployment_id: 'snap-a', nodes: { app: { instances: 3 } } }],
    ['DELETE', '/deployments/snap-a', undefined],
  ] as const)
    expect([path, (await refusal(method, path, body)).status]).toEqual([path, 409]);
});

test('activated, it is scaled, operated, updated and uninstalled', async () => {
  const { must, admin } = importer.caller;
  const opened = await must(admin, 'POST', `/imports/${checked.id}/activate`, {
    deployments: ['default_tenant/snap-a'],
  });
  expect(opened).toEqual({ deployments: 1, schedules: 0 });
  // The other deployment of the archive stays closed.
  const other = await refusal('POST', '/executions', { deployment_id: 'snap-b', workflow_id: 'install' });
  expect(other.status).toBe(409);
  const client = adminClient(importer.fleet);
  const run = async (workflow: string, parameters: object = {}) => {
    const { status, error, messages } = await follow(client, 'snap-a', workflow, { parameters });
    expect([workflow, status, error, status === 'terminated' ? [] : messages.slice(-5)]).toEqual([
      workflow,
      'terminated',
      expect.anything(),
      [],
    ]);
  };
  const states = async () =>
    (
      await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'snap-a', _sort: 'id' })
    ).items.map((one: { node_id: string; state: string }) => `${one.node_id} ${one.state}`);
  expect((await states()).toSorted()).toEqual(['app started', 'app started', 'host started']);
  await run('scale', { scalable_entity_name: 'app', delta: 1 });
  expect((await states()).filter((line: string) => line === 'app started')).toHaveLength(3);
  await run('execute_operation', { operation: 'cloudify.interfaces.lifecycle.create', node_ids: ['host'] });
  expect((await call(client, 'getDeploymentOutputs', { id: 'snap-a' })).outputs).toEqual({ msg: 'made' });
  await update('snap-a');
  await run('uninstall');
  expect(new Set(await states())).toEqual(new Set(['app deleted', 'host deleted']));
  await must(admin, 'DELETE', '/deployments/snap-a');
}, 180_000);

/** Updates to the same blueprint under another name. */
async function update(deployment: string): Promise<void> {
  const { must, admin, send } = importer.caller;
  const client = adminClient(importer.fleet);
  const { body: content, status } = await downloaded('snap-bp');
  expect(status).toBe(200);
  await upload(client, 'snap-bp-2', content);
  await eventuallyUploaded('snap-bp-2');
  const started = await must(admin, 'PUT', `/deployment-updates/${deployment}/update/initiate`, {
    blueprint_id: 'snap-bp-2',
  });
  const ended = await followExecution(client, started.execution_id);
  expect([ended.status, ended.status === 'terminated' ? [] : ended.messages.slice(-5)]).toEqual([
    'terminated',
    [],
  ]);
  expect((await send(admin, 'GET', `/deployments/${deployment}`)).body.blueprint_id).toBe('snap-bp-2');
}

async function downloaded(blueprint: string): Promise<{ status: number; body: Buffer }> {
  const { baseUrl, adminPassword } = importer.fleet;
  const answer = await fetch(`${baseUrl}/api/v3.1/blueprints/${blueprint}/archive`, {
    headers: {
      authorization: `Basic ${Buffer.from(`admin:${adminPassword}`).toString('base64')}`,
      tenant: 'default_tenant',
    },
  });
  return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
}

async function eventuallyUploaded(blueprint: string): Promise<void> {
  const { must, admin } = importer.caller;
  await eventually(async () => {
    expect((await must(admin, 'GET', `/blueprints/${blueprint}`)).state).toBe('uploaded');
  });
}
