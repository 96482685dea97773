// examples/helm-release, with the real helm and kubectl, against the stand-in for the API of a cluster.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@baton/client';
import { type KubeDouble, type KubeTools, kubeTools, startKubeDouble } from '@baton/testkit/kube-double';
import { startE2eFleet } from '../harness/e2e';
import { builtPlugin } from '../harness/example';
import type { Fleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, follow, followExecution, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
let double: KubeDouble;
let tools: KubeTools;
let folder: string;
let downloads: Server;

const run = promisify(execFile);
const NAME = 'helm-release';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-helm-release-'));
  tools = await kubeTools();
  double = await startKubeDouble();
  writeFileSync(join(folder, 'kubeconfig'), double.kubeconfig());
  const source = await serveHelm();
  fleet = await startE2eFleet({
    env: {
      BATON_TASK_RETRIES: '0',
      BATON_VALIDATE_RESPONSES: 'true',
      // The cluster and the download are on this machine: operations do not reach it otherwise.
      BATON_WORKER_EGRESS_ALLOW: [double.url, source].map((url) => new URL(url).host).join(','),
    },
  });
  client = adminClient(fleet);
  for (const plugin of ['kubernetes', 'helm'])
    await client.upload('uploadPlugin', { content: builtPlugin(plugin) });
  await call(client, 'putSecret', { secret_key: 'helm_release_kubeconfig' }, { value: double.kubeconfig() });
  await upload(client, NAME, archiveOf(join(root, 'examples', NAME)));
  const inputs = { helm_source: source };
  await call(client, 'createDeployment', { id: NAME }, { blueprint_id: NAME, inputs });
});
afterAll(async () => {
  await fleet?.stop();
  await double?.stop();
  downloads?.closeAllConnections();
  downloads?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Serves helm as its authors do: packed, in a folder. Returns the address. */
async function serveHelm(): Promise<string> {
  const archive = execFileSync('tar', ['czf', '-', '-C', dirname(tools.helm), 'helm'], {
    maxBuffer: 256 * 1024 * 1024,
  });
  downloads = createServer((_, response) => response.end(archive));
  await new Promise<void>((resolve) => downloads.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(downloads.address() as AddressInfo).port}/helm-linux-amd64.tar.gz`;
}

/** Not by execFileSync: the stand-in runs in this process. */
const kubectl = async (...args: string[]): Promise<string> => {
  const all = ['--kubeconfig', join(folder, 'kubeconfig'), '-n', 'baton-example', ...args];
  return (await run(tools.kubectl, all)).stdout;
};
const replicas = async (): Promise<string> =>
  await kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.spec.replicas}');
const page = async (): Promise<string> =>
  await kubectl('get', 'configmap', 'page', '-o', 'jsonpath={.data.index\\.html}');
const outputs = async () => (await call(client, 'getDeploymentOutputs', { id: NAME })).outputs;
const drift = async () => await call(client, 'getDeploymentDrift', { id: NAME });

test('installs, shows drift, heals and updates', async () => {
  const { messages } = await succeed(client, NAME, 'install');
  expect(await outputs()).toEqual({
    release: 'deployed',
    objects: { 'Deployment web in baton-example': 'ready', 'Service web in baton-example': 'ready' },
  });
  expect([await replicas(), await page()]).toEqual(['2', 'Hello']);
  await succeed(client, NAME, 'check_status');
  await succeed(client, NAME, 'check_drift');
  expect((await drift()).total).toBe(0);

  await kubectl('scale', 'deployment', 'web', '--replicas=5');
  await kubectl('patch', 'configmap', 'page', '--type=merge', '-p', '{"data":{"index.html":"changed"}}');
  await succeed(client, NAME, 'check_drift');
  const found = JSON.stringify(await drift());
  for (const path of ['Deployment/web.spec.replicas', 'ConfigMap/page.data.index.html'])
    expect(found).toContain(path);
  // An update that changes no input takes drift back; heal repairs what is missing.
  await update({});
  expect([await replicas(), await page()]).toEqual(['2', 'Hello']);

  await kubectl('delete', 'deployment', 'web');
  expect((await follow(client, NAME, 'check_status')).status).toBe('failed');
  await succeed(client, NAME, 'heal');
  expect(await replicas()).toBe('2');

  await update({ replicas: 3, greeting: 'Good morning' });
  expect([await replicas(), await page()]).toEqual(['3', 'Good morning']);
  await succeed(client, NAME, 'check_drift');
  expect((await drift()).total).toBe(0);

  await succeed(client, NAME, 'upgrade_release', {
    node_instance_id: await instanceOf('web'),
    set_values: [
      { name: 'replicas', value: '4' },
      { name: 'page', value: 'page' },
    ],
  });
  expect(await replicas()).toBe('4');

  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: NAME });
  expect(JSON.stringify(items) + messages.join('\n')).not.toContain(double.token);
});

test('another deployment uses the cluster by a token of its own, which is a secret', async () => {
  await upload(client, 'shared', archiveOf(join(__dirname, 'blueprints/shared-cluster')));
  await call(client, 'createDeployment', { id: 'shared' }, { blueprint_id: 'shared' });
  const { messages } = await succeed(client, 'shared', 'install');
  expect(double.store.get({ group: '', resource: 'configmaps' }, 'default', 'by-shared')!.data).toEqual({
    a: '1',
  });
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'shared' });
  const shown = JSON.stringify(items) + messages.join('\n');
  expect(shown).toContain('k8s-service-account-token');
  expect(shown).not.toMatch(/double\.default\.[a-z0-9-]+\.token/);
  await succeed(client, 'shared', 'check_status');
  await succeed(client, 'shared', 'uninstall');
  expect(double.store.get({ group: '', resource: 'configmaps' }, 'default', 'by-shared')).toBeUndefined();
  expect((await call(client, 'listSecrets', {})).items).toHaveLength(1);
});

test('uninstall leaves nothing', async () => {
  await succeed(client, NAME, 'uninstall');
  expect(await kubectl('get', 'namespace', 'baton-example', '--ignore-not-found')).toBe('');
  expect(await kubectl('get', 'all,configmap,secret')).toBe('');
});

const instanceOf = async (node: string): Promise<string> =>
  (await call(client, 'listNodeInstances', {}, undefined, { deployment_id: NAME, node_id: node })).items[0]
    .id;

/** Updates the deployment with new inputs, and waits for its end. */
async function update(inputs: object): Promise<void> {
  const { execution_id: id } = await call(
    client,
    'initiateDeploymentUpdate',
    { deployment_id: NAME },
    { inputs },
  );
  const done = await followExecution(client, id);
  expect([done.status, done.error]).toEqual(['terminated', '']);
}
