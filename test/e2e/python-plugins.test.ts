// Functions of Python plugins, from the upload of a wagon to their effects.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, createClient } from '@baton/client';
import { eventually } from '@baton/testkit/eventually';
import { tgzOf, zipOf } from '../../services/catalog/src/testing/archives';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, followExecution, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;

beforeAll(async () => {
  fleet = await startE2eFleet({
    env: { BATON_TASK_RETRY_INTERVAL: '0', BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  await client.upload('uploadPlugin', { content: await wagonOf('orchard') });
  // Its wheel is none.
  await client.upload('uploadPlugin', {
    content: await wagonAround('mildew', Buffer.from('PK, and no more')),
  });
  await upload(client, 'orchard', archiveOf(join(__dirname, 'blueprints/python-plugin')));
  await call(client, 'createDeployment', { id: 'orchard' }, { blueprint_id: 'orchard' });
});
afterAll(async () => await fleet?.stop());

/** Returns a wagon with one wheel: a package of plugins/. */
async function wagonOf(name: string): Promise<Buffer> {
  const folder = join(__dirname, 'plugins', name);
  const about = `${name}_plugin-1.0.dist-info/METADATA`;
  const wheel = await zipOf([
    ...readdirSync(folder).map((file) => ({
      name: `${name}/${file}`,
      content: readFileSync(join(folder, file)),
    })),
    { name: about, content: `Metadata-Version: 2.1\nName: ${name}-plugin\nVersion: 1.0\n` },
  ]);
  return await wagonAround(name, wheel);
}

async function wagonAround(name: string, wheel: Buffer): Promise<Buffer> {
  const file = `${name}_plugin-1.0-py3-none-any`;
  const packageJson = {
    package_name: `${name}-plugin`,
    package_version: '1.0',
    package_source: `${name}-plugin==1.0`,
    archive_name: `${file}.wgn`,
    supported_platform: 'any',
    supported_python_versions: ['py3'],
    wheels: [`${file}.whl`],
  };
  return await tgzOf([
    { name: `${name}-plugin/package.json`, content: JSON.stringify(packageJson) },
    { name: `${name}-plugin/wheels/${file}.whl`, content: wheel },
  ]);
}

const said = (id: string, message: string) =>
  eventually(
    async () => {
      const { items } = await call(client, 'listEvents', {}, undefined, { execution_id: id });
      expect(items.map((item: { message: string }) => item.message)).toContain(message);
    },
    { deadlineMs: 30_000 },
  );

test('operations of an uploaded plugin are carried out, tried again and fail as they say', async () => {
  const { messages } = await succeed(client, 'orchard', 'install');
  expect(messages).toContainEqual(expect.stringContaining('the ground is frozen'));
  expect(messages).toContainEqual(expect.stringContaining('digging'));
  const { outputs } = await call(client, 'getDeploymentOutputs', { id: 'orchard' });
  expect(outputs).toEqual({ planted: ['apple', 3, 'tree'] });
  await succeed(client, 'orchard', 'uninstall');
});

test('workflows of an uploaded plugin get their parameters', async () => {
  const { messages } = await succeed(client, 'orchard', 'harvest', { baskets: 5 });
  expect(messages).toContainEqual(expect.stringContaining('5 baskets of apple'));
});

test('lifecycles of single instances stand in the order that a plugin gives them', async () => {
  await succeed(client, 'orchard', 'install');
  const { messages } = await succeed(client, 'orchard', 'regrow', { order: ['tree', 'fence'] });
  const ends = messages.filter((message) => /^Subgraph succeeded '(install_)?(tree|fence)_/.test(message));
  expect(ends.map((message) => message.replace(/_\w{6}'.*$/, ''))).toEqual([
    "Subgraph succeeded 'tree",
    "Subgraph succeeded 'fence",
    "Subgraph succeeded 'install_tree",
    "Subgraph succeeded 'install_fence",
  ]);
});

test('failures that a plugin passes over are told, and what comes behind runs', async () => {
  const { messages } = await succeed(client, 'orchard', 'prune');
  expect(messages).toContainEqual(expect.stringContaining('the ladder broke'));
  expect(messages).toContain('Ignoring task orchard.tasks.broken failure');
  expect(messages).toContain('pruned');
});

test('a workflow that returns the value of older code after a cancel is cancelled', async () => {
  const start = { deployment_id: 'orchard', workflow_id: 'give_in' };
  const { id } = await call(client, 'startExecution', {}, start);
  await said(id, 'looks for a cancel');
  await call(client, 'actOnExecution', { executionId: id }, { action: 'cancel' });
  expect((await followExecution(client, id)).status).toBe('cancelled');
});

test('an operation of a plugin runs workflows of a shared resource and tells what they told', async () => {
  await client.upload('uploadBlueprint', {
    params: { blueprint_id: 'neighbour' },
    query: { application_file_name: 'neighbour.yaml' },
    content: archiveOf(join(__dirname, 'blueprints/python-plugin')),
  });
  await call(client, 'createDeployment', { id: 'neighbour' }, { blueprint_id: 'neighbour' });
  const { messages } = await succeed(client, 'neighbour', 'install');
  expect(messages).toContainEqual(expect.stringContaining('7 baskets of apple'));
  await succeed(client, 'neighbour', 'uninstall');
  await succeed(client, 'orchard', 'uninstall');
});

test('a plugin that is nowhere fails its operation at once, and says where it was looked for', async () => {
  const parameters = { operation: 'odd.absent', node_ids: ['tree'] };
  const { status, error } = await follow(client, 'orchard', 'execute_operation', { parameters });
  expect(status).toBe('failed');
  expect(error).toContain('neither a folder plugins/nowhere nor plugins/nowhere.zip');
});

test('a corrupted wagon fails its own operations at once and says why; other plugins and deployments go on (78)', async () => {
  const parameters = { operation: 'odd.mildewed', node_ids: ['tree'] };
  const { status, error, messages } = await follow(client, 'orchard', 'execute_operation', { parameters });
  expect([status, messages.filter((text) => text.startsWith('Task started'))]).toEqual([
    'failed',
    [expect.anything()],
  ]);
  expect(error).toMatch(
    /plugin mildew cannot be installed: the wheel mildew_plugin-1\.0-py3-none-any\.whl is broken/,
  );
  await succeed(client, 'orchard', 'harvest', { baskets: 1 });
});

test('a plain user resumes a cancelled operation by force, also one that is not resumable: it runs again (31)', async () => {
  const user = { username: 'paula', password: 'paula-password' };
  await call(client, 'createUser', {}, { ...user, role: 'default' });
  const member = { tenant_name: 'default_tenant', username: 'paula', role: 'user' };
  await call(client, 'addTenantUser', {}, member);
  const paula = createClient({ baseUrl: fleet.baseUrl, ...user, tenant: 'default_tenant' });
  const parameters = { operation: 'odd.ripen', node_ids: ['tree'] };
  const start = { deployment_id: 'orchard', workflow_id: 'execute_operation', parameters };
  const { id } = await call(paula, 'startExecution', {}, start);
  await said(id, 'ripens');
  await call(paula, 'actOnExecution', { executionId: id }, { action: 'force-cancel' });
  expect((await followExecution(paula, id)).status).toBe('cancelled');
  await call(paula, 'actOnExecution', { executionId: id }, { action: 'force-resume' });
  await said(id, 'is ripe');
  await eventually(
    async () => expect((await call(paula, 'getExecution', { executionId: id })).status).toBe('terminated'),
    { deadlineMs: 30_000 },
  );
});
