// The real helm, against the stand-in for the API of a cluster.
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { type TestNode, testNode } from '@baton/plugin-sdk/testing';
import { type KubeDouble, type KubeTools, kubeTools, startKubeDouble } from '@baton/testkit/kube-double';
import plugin from '../plugin';
import { type ChartServer, startChartServer } from '../testing/chart-server';

const PASSWORD = 'open-sesame-1';
const DEPLOYMENTS = { group: 'apps', resource: 'deployments' };

let tools: KubeTools;
let cluster: KubeDouble;
let charts: ChartServer;
beforeAll(async () => {
  tools = await kubeTools();
  cluster = await startKubeDouble();
  charts = await startChartServer(tools.helm);
});
afterAll(async () => {
  await charts?.stop();
  await cluster?.stop();
});
afterEach(() => {
  charts.answer = null;
});

function release(
  name: string,
  config: object = {},
  more: object = {},
  files: Record<string, string> = {},
): TestNode {
  return testNode(plugin, 'cloudify.nodes.helm.Release', {
    files,
    properties: {
      helm_config: { executable_path: tools.helm },
      client_config: { configuration: { file_content: cluster.kubeconfig() } },
      resource_config: { name, chart: `${charts.url}/web-0.1.0.tgz`, ...config },
      ...more,
    } as never,
  });
}

const deployment = (name: string, namespace = 'default') => cluster.store.get(DEPLOYMENTS, namespace, name);
const replicas = (name: string): unknown => deployment(name)?.spec?.replicas;
const change = (name: string, spec: object) =>
  cluster.send(
    'PATCH',
    `/apis/apps/v1/namespaces/default/deployments/${name}`,
    { spec },
    'application/merge-patch+json',
  );

describe('a release', () => {
  it('is installed with values of a file and set ones, checked, and uninstalled', async () => {
    const set_values = [{ name: 'password', value: PASSWORD }];
    const node = release(
      'life',
      { values_file: 'values.yaml', set_values },
      {},
      { 'values.yaml': 'replicas: 2\n' },
    );
    await node.run('start');
    expect(replicas('life')).toBe(2);
    await node.run('poststart');
    expect(node.runtimeProperties).toMatchObject({
      install_output: { name: 'life', namespace: 'default', info: { status: 'deployed' } },
      status_output: { version: 1 },
      kubernetes_status: { 'Deployment life in default': 'ready', 'Secret life-login in default': 'ready' },
    });
    await node.run('check_status');
    expect(await node.run('check_drift')).toBeNull();
    const all = JSON.stringify([node.runtimeProperties, node.log]);
    for (const text of [PASSWORD, Buffer.from(PASSWORD).toString('base64'), cluster.token])
      expect(all).not.toContain(text);

    await node.run('delete');
    expect(deployment('life')).toBeUndefined();
    expect(node.runtimeProperties).toEqual({});
    await expect(node.run('check_status')).rejects.toThrow('does not exist any more');
    expect(readdirSync(tmpdir()).filter((name) => /^baton-helm-[A-Za-z0-9]{6}$/.test(name))).toEqual([]);
  });

  it('shows drift of objects, values and versions, and heal takes it back', async () => {
    const node = release('drift', { set_values: [{ name: 'replicas', value: '1' }] });
    await node.run('start');
    await change('drift', { replicas: 5 });
    expect(await node.run('check_drift')).toEqual([
      { path: 'Deployment/drift.spec.replicas', stored: 1, present: 5 },
    ]);
    await node.run('heal');
    expect(replicas('drift')).toBe(1);
    expect(await node.run('check_drift')).toBeNull();

    await cluster.send('DELETE', '/apis/apps/v1/namespaces/default/deployments/drift');
    await expect(node.run('check_status')).rejects.toThrow(
      'objects of the release drift are missing: Deployment drift',
    );
    expect(await node.run('check_drift')).toEqual([
      { path: 'Deployment/drift', stored: 'there', present: null },
    ]);
    await node.run('heal');
    expect(replicas('drift')).toBe(1);

    node.properties.resource_config = {
      ...(node.properties.resource_config as object),
      chart: `${charts.url}/web-0.2.0.tgz`,
      flags: [{ name: 'version', value: '0.2.0' }],
      set_values: [{ name: 'replicas', value: 3 }],
    };
    expect(await node.run('check_drift')).toEqual([
      { path: 'values.replicas', stored: 'the declared value', present: 'another value' },
      { path: 'chart.version', stored: '0.2.0', present: '0.1.0' },
    ]);
    await node.run('update');
    expect(replicas('drift')).toBe(3);
    expect(await node.run('check_drift')).toBeNull();
    await node.run('delete');
  });

  it('is upgraded by upgrade_release; an upgrade that fails goes back', async () => {
    const node = release('up', { flags: [{ name: 'timeout', value: '3s' }] });
    await node.run('start');
    await node.run('upgrade_release', { set_values: [{ name: 'replicas', value: '2' }] });
    expect(replicas('up')).toBe(2);
    cluster.fate(/^missing:/, 'no-image');
    const broken = { set_values: [{ name: 'image', value: 'missing:1' }] };
    await expect(node.run('upgrade_release', broken)).rejects.toThrow(/rolled back/);
    expect(deployment('up')).toMatchObject({
      spec: { replicas: 2, template: { spec: { containers: [{ image: 'nginx:1.25' }] } } },
    });
    await node.run('delete');
  });

  it('of somebody else is not touched; with use_external_resource it is only read', async () => {
    await release('other').run('start');
    const second = release('other');
    await expect(second.run('start')).rejects.toThrow(
      'the release other exists already in default (deployed)',
    );
    await second.run('delete');
    const external = release('other', {}, { use_external_resource: true });
    await external.run('start');
    await external.run('delete');
    expect(replicas('other')).toBe(1);
  });

  it('that a lost worker has left pending is removed and installed again', async () => {
    const node = release('lost');
    await node.run('start');
    const secrets = { group: '', resource: 'secrets' };
    const kept = cluster.store.get(secrets, 'default', 'sh.helm.release.v1.lost.v1')!;
    expect(kept.metadata.labels).toMatchObject({ status: 'deployed' });
    await pending('lost');
    await node.run('start', {}, { isResumed: true });
    await node.run('check_status');
    expect(replicas('lost')).toBe(1);
    await node.run('delete');
  });

  it('goes into the namespace of its flags, which install makes', async () => {
    const flags = [{ name: 'namespace', value: 'team' }, { name: 'create-namespace' }];
    const node = release('spaced', { flags });
    await node.run('start');
    expect(deployment('spaced', 'team')).toBeDefined();
    expect(await node.run('check_drift')).toBeNull();
    await node.run('update');
    await node.run('delete');
    expect(deployment('spaced', 'team')).toBeUndefined();
  });
});

/** The release as helm stores it while it is being installed. */
async function pending(name: string): Promise<void> {
  const { gunzipSync, gzipSync } = await import('node:zlib');
  const path = `/api/v1/namespaces/default/secrets/sh.helm.release.v1.${name}.v1`;
  const { data } = (await cluster.send('GET', path)) as { data: { release: string } };
  const packed = Buffer.from(Buffer.from(data.release, 'base64').toString('utf8'), 'base64');
  const stored = JSON.parse(gunzipSync(packed).toString('utf8')) as { info: { status: string } };
  stored.info.status = 'pending-install';
  const text = gzipSync(JSON.stringify(stored)).toString('base64');
  const patch = {
    metadata: { labels: { status: 'pending-install' } },
    data: { release: Buffer.from(text).toString('base64') },
  };
  await cluster.send('PATCH', path, patch, 'application/merge-patch+json');
}

describe('a hostile blueprint', () => {
  it.each([
    [
      'a program behind the templates',
      { flags: [{ name: 'post-renderer', value: '/bin/sh' }] },
      'post-renderer is not taken: it names a program',
    ],
    [
      'another cluster',
      { flags: [{ name: '--kube-apiserver', value: 'http://x' }] },
      'client_config says the cluster',
    ],
    ['a flag in a flag', { flags: [{ name: 'wait --post-renderer=/bin/sh' }] }, 'is no name of a flag'],
    ['a chart of the machine', { chart: '/etc' }, 'is no path inside of the blueprint'],
    ['a chart that leads out', { chart: 'charts/../../secret' }, 'is no path inside of the blueprint'],
    [
      'a chart that is a flag',
      { chart: '--post-renderer=/bin/sh' },
      'expected repo/name, an https or oci address',
    ],
    ['a name that is a flag', { name: '--help' }, 'is no name of a release'],
    [
      'a namespace that is a flag',
      { flags: [{ name: 'namespace', value: '-x' }] },
      'is no name of a namespace',
    ],
  ])('cannot name %s', async (_, config, message) => {
    await expect(release('bad', config).run('start')).rejects.toThrow(message);
  });

  it('cannot read the machine by values, nor by a chart with paths that lead out', async () => {
    const files = { 'values.yaml': 'a: &a [x, x]\nb: [*a, *a]\n' };
    const bad = release('bad', { values_file: '../../etc/passwd' }, {}, files);
    await expect(bad.run('start')).rejects.toThrow('the test gives no file');
    const out = release('bad');
    charts.answer = () => ({ body: tarOf('web/../../../../tmp/baton-out', 'x') });
    await expect(out.run('start')).rejects.toThrow(/helm install failed: .*(illegally|outside|missing)/);
  });

  it('does not get a kubeconfig with a program to helm', async () => {
    const config = {
      users: [
        { name: 'u', user: { exec: { command: '/bin/sh', apiVersion: 'client.authentication.k8s.io/v1' } } },
      ],
    };
    const file = {
      ...config,
      clusters: [{ name: 'c', cluster: { server: cluster.url } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    const node = release('bad', {}, { client_config: { configuration: { file_content: file } } });
    await expect(node.run('start')).rejects.toThrow('gets credentials from a program (exec: /bin/sh)');
  });
});

/** A packed archive with one file. */
function tarOf(name: string, text: string): Buffer {
  const { gzipSync } = require('node:zlib') as typeof import('node:zlib');
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write(`${text.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        0', 148);
  header.write('ustar\0', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const content = Buffer.alloc(512);
  content.write(text);
  return gzipSync(Buffer.concat([header, content, Buffer.alloc(1024)]));
}
