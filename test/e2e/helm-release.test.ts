// examples/helm-release, with the real helm and kubectl, against the stand-in for the API of a cluster.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { type KubeDouble, type KubeTools, kubeTools, startKubeDouble } from '@baton/testkit/kube-double';
import { type Fleet, startFleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
let double: KubeDouble;
let tools: KubeTools;
let folder: string;

const NAME = 'helm-release';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-helm-release-'));
  tools = await kubeTools();
  double = await startKubeDouble();
  writeFileSync(join(folder, 'kubeconfig'), double.kubeconfig());
  fleet = await startFleet({
    mode: (process.env.BATON_E2E_MODE ?? 'standalone') as Fleet['mode'],
    workers: Number(process.env.BATON_E2E_WORKERS ?? 1),
    env: { BATON_TASK_RETRIES: '0', BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  for (const plugin of ['kubernetes', 'helm'])
    await client.upload('uploadPlugin', { content: built(plugin) });
  await call(client, 'putSecret', { secret_key: 'helm_release_kubeconfig' }, { value: double.kubeconfig() });
  await upload(client, NAME, archiveOf(join(root, 'examples', NAME)));
  const inputs = { helm_path: tools.helm };
  await call(client, 'createDeployment', { id: NAME }, { blueprint_id: NAME, inputs });
});
afterAll(async () => {
  await fleet?.stop();
  await double?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The package as `baton plugins build` makes it. */
function built(plugin: string): Buffer {
  const file = join(folder, `${plugin}.bplug`);
  const cli = ['--import', 'tsx', join(root, 'apps/cli/src/main.ts')];
  execFileSync(process.execPath, [...cli, 'plugins', 'build', `plugins/${plugin}`, '--out', file], {
    cwd: root,
  });
  return readFileSync(file);
}

const kubectl = (...args: string[]): string =>
  execFileSync(tools.kubectl, ['--kubeconfig', join(folder, 'kubeconfig'), '-n', 'baton-example', ...args], {
    encoding: 'utf8',
  });
const replicas = (): string => kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.spec.replicas}');
const outputs = async () => (await call(client, 'getDeploymentOutputs', { id: NAME })).outputs;
const drift = async () => await call(client, 'getDeploymentDrift', { id: NAME });

test('installs, shows drift, heals, updates and uninstalls', async () => {
  await succeed(client, NAME, 'install');
  expect(await outputs()).toEqual({
    release: 'deployed',
    objects: { 'Deployment web in baton-example': 'ready', 'Service web in baton-example': 'ready' },
  });
  expect(replicas()).toBe('2');
  expect(kubectl('get', 'configmap', 'page', '-o', 'jsonpath={.data.index\\.html}')).toBe('Hello');
  await succeed(client, NAME, 'check_status');
  await succeed(client, NAME, 'check_drift');
  expect((await drift()).total).toBe(0);

  kubectl('scale', 'deployment', 'web', '--replicas=5');
  kubectl('patch', 'configmap', 'page', '--type=merge', '-p', '{"data":{"index.html":"changed"}}');
  await succeed(client, NAME, 'check_drift');
  expect(JSON.stringify(await drift())).toContain('Deployment/web.spec.replicas');
  expect(JSON.stringify(await drift())).toContain('ConfigMap/page.data.index.html');
  await succeed(client, NAME, 'heal');
  expect(replicas()).toBe('2');
  expect(kubectl('get', 'configmap', 'page', '-o', 'jsonpath={.data.index\\.html}')).toBe('Hello');
});
