// Components that bring their own archives, secrets and plugins, on this manager and on a second one; and their later life.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, request } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit';
import { tgzOf } from '../../services/catalog/src/testing/archives';
import { startE2eFleet } from '../harness/e2e';
import { type Fleet, startFleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, followExecution, succeed, upload } from '../harness/session';

const SOON = { deadlineMs: 30_000 };
const folder = mkdtempSync(join(tmpdir(), 'baton-parts-'));
const blueprint = join(folder, 'parent');
const servers: Server[] = [];
let fleet: Fleet;
let abroad: Fleet;
let client: Client;
let far: Client;
/** Port of the https server in front of the second manager. */
let tlsPort: number;
let archiveUrl: string;

beforeAll(async () => {
  const env = { BATON_TASK_RETRIES: '0', BATON_WORKER_SLOTS: '2', BATON_ALLOW_PRIVATE_URLS: 'true' };
  [fleet, abroad] = await Promise.all([
    startE2eFleet({ workers: 1, env }),
    startFleet({ mode: 'standalone', workers: 1, env: { BATON_WORKER_SLOTS: '2' } }),
  ]);
  client = adminClient(fleet);
  far = adminClient(abroad);
  await makeBlueprint();
  archiveUrl = `http://127.0.0.1:${await serving(
    createHttp((_, answer) => answer.end(readFileSync(join(blueprint, 'parts/child.zip')))),
  )}/child.zip`;
  tlsPort = await serving(tlsBefore(abroad));
  for (const at of [client, far]) await leafIs(at, { start: 'good', status: 'good' });
  await upload(client, 'child', archiveOf(join(blueprint, 'parts/child')));
  for (const name of ['bringing', 'parent', 'grown', 'consumer', 'abroad', 'reaching'])
    await client.upload('uploadBlueprint', {
      params: { blueprint_id: name },
      query: { application_file_name: `${name}.yaml` },
      content: archiveOf(blueprint),
    });
});
afterAll(async () => {
  for (const server of servers) server.close();
  await Promise.all([fleet?.stop(), abroad?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Copies the blueprint folder and adds generated files: archives, and the certificate of the second manager. */
async function makeBlueprint(): Promise<void> {
  cpSync(join(__dirname, 'blueprints/composition-parts'), blueprint, { recursive: true });
  const parts = join(blueprint, 'parts');
  execFileSync('python3', ['-m', 'zipfile', '-c', join(parts, 'child.zip'), 'child/'], { cwd: parts });
  const wheel = 'brought_plugin-1.0-py311-none-linux_x86_64';
  const about = {
    package_name: 'brought-plugin',
    package_version: '1.0',
    archive_name: `${wheel}.wgn`,
    package_source: 'brought-plugin==1.0',
    wheels: [`${wheel}.whl`],
    supported_platform: 'any',
    supported_python_versions: ['py311'],
  };
  const wagon = await tgzOf([
    { name: 'brought-plugin/package.json', content: JSON.stringify(about) },
    { name: `brought-plugin/wheels/${wheel}.whl`, content: 'a wheel' },
  ]);
  writeFileSync(join(parts, 'book.wgn'), wagon);
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(parts, 'abroad.pem')];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...files, ...subject],
    {
      stdio: 'ignore',
    },
  );
}

/** Serves until the end of the tests; returns the port. */
async function serving(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function tlsBefore({ baseUrl }: Fleet): Server {
  const key = readFileSync(join(folder, 'key.pem'));
  const cert = readFileSync(join(blueprint, 'parts/abroad.pem'));
  return createHttps({ key, cert }, (incoming, answer) => {
    const { method, headers, url } = incoming;
    const onwards = request(new URL(url!, baseUrl), { method, headers }, (reply) => {
      answer.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(answer);
    });
    incoming.pipe(onwards);
  });
}

const leafIs = async (at: Client, states: { start?: string; status?: string }): Promise<void> => {
  for (const [name, value] of Object.entries(states))
    await call(at, 'putSecret', { secret_key: `leaf_${name}` }, { value, update_if_exists: true });
};
const deploy = (id: string, blueprint_id: string, inputs: object = {}) =>
  call(client, 'createDeployment', { id }, { blueprint_id, inputs });

const run = (id: string, workflow: string, parameters?: object) => succeed(client, id, workflow, parameters);
async function failed(id: string, workflow: string, reason: string): Promise<void> {
  const done = await follow(client, id, workflow);
  expect([done.status, done.messages.join('\n')]).toEqual(['failed', expect.stringContaining(reason)]);
}
const idsOf = async (at: Client, list: string, field = 'id'): Promise<string[]> =>
  (await call(at, list, {})).items.map((item: Record<string, string>) => item[field]).sort();
const instanceOf = async (deployment_id: string) =>
  (await call(client, 'listNodeInstances', {}, undefined, { deployment_id })).items[0];
const removed = async (...ids: string[]): Promise<void> => {
  for (const id of ids) await call(client, 'deleteDeployment', { id });
  await eventually(async () =>
    expect((await idsOf(client, 'listDeployments')).filter((id) => ids.includes(id))).toEqual([]),
  );
};

test('components bring plugins, secrets and archives by path and URL, and take them away again', async () => {
  await deploy('bringing', 'bringing', { url: archiveUrl });
  const { messages } = await run('bringing', 'install');
  expect(messages).toContain('Plugin "book" was already uploaded...');
  const { items: plugins } = await call(client, 'listPlugins', {});
  expect(plugins).toEqual([
    expect.objectContaining({ package_name: 'brought-plugin', package_version: '1.0', title: 'book' }),
  ]);
  expect(await idsOf(client, 'listBlueprints')).toEqual(expect.arrayContaining(['fetched', 'zipped']));
  expect((await call(client, 'getSecret', { secret_key: 'brought_secret' })).value).toBe('brought');
  expect((await call(client, 'getSecret', { secret_key: 'brought_object' })).value).toBe('{"a":[1]}');
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'bringing' });
  const broughtBy = (node: string) =>
    items.find(({ node_id }: { node_id: string }) => node_id === node).runtime_properties.plugins;
  expect([broughtBy('zipped'), broughtBy('fetched')]).toEqual([[plugins[0].id], []]);

  await run('bringing', 'uninstall');
  expect(await idsOf(client, 'listPlugins')).toEqual([]);
  expect(await idsOf(client, 'listSecrets', 'key')).toEqual(['leaf_start', 'leaf_status']);
  expect(await idsOf(client, 'listBlueprints')).toEqual([
    'abroad',
    'bringing',
    'child',
    'consumer',
    'grown',
    'parent',
    'reaching',
  ]);
  await removed('bringing');
});

test('a component takes an uploaded archive of its tenant, and none of another one', async () => {
  await call(client, 'createTenant', { name: 'theirs' }, {});
  await client.upload('uploadBlueprint', {
    params: { blueprint_id: 'hidden' },
    content: archiveOf(join(blueprint, 'parts/child')),
    tenant: 'theirs',
  });
  await deploy('far', 'reaching', { archive: '../../../uploaded-blueprints/theirs/hidden/hidden.tar.gz' });
  await failed('far', 'install', 'leads out of the blueprints of the tenant default_tenant');
  await deploy('gone', 'reaching', {
    archive: '../../../uploaded-blueprints/default_tenant/hidden/hidden.tar.gz',
  });
  await failed('gone', 'install', 'no file or folder of a blueprint that the execution may read');
  await deploy('near', 'reaching', {
    archive: '../../../uploaded-blueprints/default_tenant/child/child.tar.gz',
  });
  await run('near', 'install');
  expect((await instanceOf('near')).runtime_properties.blueprint).toMatchObject({ id: 'reached' });
  await run('near', 'uninstall');
  expect(await idsOf(client, 'listBlueprints')).not.toContain('reached');
  await removed('near');
  for (const id of ['far', 'gone'])
    await call(client, 'deleteDeployment', { id }, undefined, { force: true });
});

test('a component that is not well is healed by the heal of its parent', async () => {
  await deploy('family', 'parent');
  await run('family', 'install');
  const part = (await instanceOf('family')).id;
  await leafIs(client, { status: 'bad' });
  await failed('family', 'check_status', `Expected deployment '${part}' to be in a good state`);
  expect(await instanceOf('family')).toMatchObject({ system_properties: { status: { ok: false } } });
  // Only parts that the child's check finds broken are reinstalled, and nothing of the parent.
  await run('family', 'heal');
  await leafIs(client, { status: 'good' });
  expect(await instanceOf('family')).toMatchObject({ id: part, state: 'started' });
  expect((await instanceOf(part)).state).toBe('started');
  await run('family', 'check_status');
  const { items } = await call(client, 'listExecutions', {}, undefined, { deployment_id: part });
  const workflows = items.map(
    ({ workflow_id, status }: Record<string, string>) => `${workflow_id} ${status}`,
  );
  expect(workflows).toEqual(expect.arrayContaining(['heal terminated', 'check_status failed']));
  expect(workflows).not.toContain('uninstall terminated');
});

test('an update adds labels to the component; after it nothing is left to do', async () => {
  const part = (await instanceOf('family')).id;
  const labelsOf = async (): Promise<string[]> => {
    const { labels } = await call(client, 'getDeployment', { id: part });
    return labels.map(({ key, value }: Record<string, string>) => `${key}=${value}`).sort();
  };
  for (const kept of ['yes', 'no']) {
    const body = { inputs: { labels: [{ kept }] } };
    const update = await call(client, 'initiateDeploymentUpdate', { deployment_id: 'family' }, body);
    expect(await followExecution(client, update.execution_id)).toMatchObject({ status: 'terminated' });
  }
  expect(await labelsOf()).toEqual(['csys-obj-parent=family', 'kept=no', 'kept=yes']);
  await run('family', 'check_drift');
  expect((await instanceOf('family')).system_properties.configuration_drift).toMatchObject({
    ok: true,
    result: null,
  });
});

test('a new blueprint comes with the update of the parent, and the component stays what it is', async () => {
  const part = (await instanceOf('family')).id;
  const leaf = (await instanceOf(part)).id;
  const body = { blueprint_id: 'grown' };
  const update = await call(client, 'initiateDeploymentUpdate', { deployment_id: 'family' }, body);
  expect(await followExecution(client, update.execution_id)).toMatchObject({ status: 'terminated' });
  expect(await call(client, 'getDeployment', { id: part })).toMatchObject({
    blueprint_id: 'grown-part',
    installation_status: 'active',
  });
  expect((await instanceOf(part)).id).toBe(leaf);
  const { items } = await call(client, 'listExecutions', {}, undefined, { deployment_id: part });
  expect(items.map(({ workflow_id }: { workflow_id: string }) => workflow_id)).not.toContain('uninstall');
  await run('family', 'uninstall');
  await removed('family');
});

test('a shared resource is checked for its state and for what has changed', async () => {
  await deploy('common', 'child');
  await run('common', 'install');
  await deploy('consumer', 'consumer');
  await run('consumer', 'install');
  await run('consumer', 'check_status');
  await run('consumer', 'check_drift');
  expect((await instanceOf('consumer')).system_properties).toMatchObject({
    status: { ok: true },
    configuration_drift: { ok: true, result: null },
  });
  const body = { inputs: { color: 'blue' } };
  const update = await call(
    client,
    'initiateDeploymentUpdate',
    { deployment_id: 'common' },
    { ...body, force: true },
  );
  expect(await followExecution(client, update.execution_id)).toMatchObject({ status: 'terminated' });
  await run('consumer', 'check_drift');
  expect((await instanceOf('consumer')).system_properties.configuration_drift.result).toEqual({
    capabilities: ['color'],
  });
  await run('consumer', 'execute_operation', { operation: 'cloudify.interfaces.lifecycle.refresh' });
  await run('consumer', 'check_drift');
  expect((await instanceOf('consumer')).system_properties.configuration_drift.result).toBeNull();

  await follow(client, 'common', 'uninstall', { force: true });
  await failed('consumer', 'check_status', "Expected deployment 'common' to be installed");
  await run('consumer', 'uninstall');
  await removed('consumer', 'common');
});

test.each([
  ['whose certificate is a file of the blueprint', { cert: 'parts/abroad.pem' }],
  ['that is trusted as it is', { trust_all: true }],
])('a component on a second manager of this machine, %s', async (_how, trust) => {
  const password = abroad.adminPassword;
  const login = { host: '127.0.0.1', port: tlsPort, protocol: 'https', username: 'admin', password };
  await deploy('home', 'abroad', { client: { ...login, ...trust } });
  await run('home', 'install');
  expect(await instanceOf('home')).toMatchObject({
    runtime_properties: { deployment: { id: 'far' }, capabilities: { color: 'red' } },
  });
  expect(await idsOf(far, 'listDeployments')).toEqual(['far']);
  expect(await idsOf(client, 'listDeployments')).toEqual(['home']);
  expect((await call(far, 'getDeployment', { id: 'far' })).labels).toEqual([]);
  const { items } = await call(client, 'listInterDeploymentDependencies', {});
  expect(items).toEqual([
    expect.objectContaining({ target_deployment_id: null, external_target: expect.anything() }),
  ]);
  await run('home', 'check_status');
  await run('home', 'uninstall');
  for (const list of ['listDeployments', 'listBlueprints', 'listInterDeploymentDependencies'])
    expect(await idsOf(far, list)).toEqual([]);
  await removed('home');
});

test('a second manager that is not trusted is not talked to, and not tried again', async () => {
  const login = { host: '127.0.0.1', port: tlsPort, protocol: 'https', username: 'admin', password: 'x' };
  await deploy('home', 'abroad', { client: login });
  await failed('home', 'install', 'self-signed certificate');
  await call(client, 'deleteDeployment', { id: 'home' }, undefined, { force: true });
});

test('a wait goes on after the loss of its worker, and starts nothing twice', async () => {
  await leafIs(client, { start: 'slow' });
  await deploy('patient', 'parent');
  const { id } = await call(
    client,
    'startExecution',
    {},
    { deployment_id: 'patient', workflow_id: 'install' },
  );
  await eventually(async () => {
    const { items } = await call(client, 'listEvents', {}, undefined, { message: '%the leaf starts%' });
    expect(items.length).toBeGreaterThan(0);
    const { items: leaves } = await call(client, 'listNodeInstances', {}, undefined, { node_id: 'leaf' });
    expect(leaves.map(({ state }: { state: string }) => state)).toEqual(['starting']);
  }, SOON);
  await leafIs(client, { start: 'good' });
  await loseWorkers();
  expect(await followExecution(client, id)).toMatchObject({ status: 'terminated' });
  const { items } = await call(client, 'listExecutions', {}, undefined, { workflow_id: 'install' });
  const mine = items.filter(({ created_at }: { created_at: string }) => created_at >= startedOf(items, id));
  expect(mine.map(({ status }: { status: string }) => status)).toEqual(['terminated', 'terminated']);
  await run('patient', 'uninstall');
  await removed('patient');
});

const startedOf = (items: { id: string; created_at: string }[], id: string): string =>
  items.find((one) => one.id === id)!.created_at;

/** Kills all workers with kill -9; the standalone restarts its own workers by itself. */
async function loseWorkers(): Promise<void> {
  for (const worker of fleet.workers()) {
    worker.signal('SIGKILL');
    await worker.ended();
    worker.start();
  }
  if (fleet.mode !== 'standalone') return;
  const pid = fleet.processes.get('standalone')!.pid()!;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  for (const child of children)
    if (readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('services/worker'))
      process.kill(Number(child), 'SIGKILL');
}
