// Repositories of a deployment: a release finds the chart of a node Repo, on a machine that has never seen the repository.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testNode } from '@baton/plugin-sdk/testing';
import { type KubeDouble, type KubeTools, kubeTools, startKubeDouble } from '@baton/testkit/kube-double';
import plugin from '../plugin';
import { type ChartServer, startChartServer } from '../testing/chart-server';

const PASSWORD = 'open-sesame-2';
const login = `Basic ${Buffer.from(`reader:${PASSWORD}`).toString('base64')}`;

let tools: KubeTools;
let cluster: KubeDouble;
let charts: ChartServer;
/** Answers as a manager does for the nodes of the deployment. */
let manager: Server;
const asked: string[] = [];

const config = () => ({
  name: 'local',
  repo_url: charts.url,
  flags: [
    { name: 'username', value: 'reader' },
    { name: 'password', value: PASSWORD },
  ],
});

beforeAll(async () => {
  tools = await kubeTools();
  cluster = await startKubeDouble();
  charts = await startChartServer(tools.helm);
  manager = createServer((request, response) => {
    asked.push(request.url!);
    const node = { type_hierarchy: ['cloudify.nodes.Root', 'cloudify.nodes.helm.Repo'] };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ items: [{ ...node, properties: { resource_config: config() } }] }));
  });
  await new Promise<void>((resolve) => manager.listen(0, '127.0.0.1', resolve));
  const REST_PORT = String((manager.address() as AddressInfo).port);
  Object.assign(process.env, { REST_PROTOCOL: 'http', REST_HOST: '127.0.0.1', REST_PORT });
});
afterAll(async () => {
  for (const name of ['REST_PROTOCOL', 'REST_HOST', 'REST_PORT']) delete process.env[name];
  manager?.closeAllConnections();
  manager?.close();
  await charts?.stop();
  await cluster?.stop();
});
beforeEach(() => {
  charts.answer = ({ headers }) =>
    headers.authorization === login ? null : { status: 401, body: 'who are you?' };
});

const helm_config = () => ({ executable_path: tools.helm });

it('a repository is read with its password, which shows nowhere', async () => {
  const node = testNode(plugin, 'cloudify.nodes.helm.Repo', {
    properties: { helm_config: helm_config(), resource_config: config() } as never,
  });
  await node.run('start');
  expect(charts.requests.at(-1)).toEqual({ path: 'index.yaml', authorization: login });
  await node.run('update_repo');
  await node.run('check_status');
  expect(await node.run('check_drift')).toBeNull();
  node.properties.resource_config = { ...config(), name: 'renamed' } as never;
  expect(await node.run('check_drift')).toEqual([
    {
      path: 'repo',
      stored: { name: 'renamed', url: charts.url },
      present: { name: 'local', url: charts.url },
    },
  ]);
  expect(JSON.stringify([node.runtimeProperties, node.log])).not.toContain(PASSWORD);
  charts.answer = () => ({ status: 401, body: PASSWORD });
  await expect(node.run('check_status')).rejects.toThrow(
    expect.objectContaining({ message: expect.not.stringContaining(PASSWORD) }),
  );
});

it('a release installs a chart of the repository', async () => {
  const node = testNode(plugin, 'cloudify.nodes.helm.Release', {
    properties: {
      helm_config: helm_config(),
      client_config: { configuration: { file_content: cluster.kubeconfig() } },
      resource_config: {
        name: 'from-repo',
        chart: 'local/web',
        flags: [{ name: 'version', value: '0.1.0' }],
      },
    } as never,
  });
  await node.run('start');
  await node.run('poststart');
  expect(asked.at(-1)).toContain('/nodes?deployment_id=test&_evaluate_functions=true');
  expect(await node.run('check_drift')).toBeNull();
  const pulled = await node.run('pull_chart', { flags: [{ name: 'version', value: '0.2.0' }] });
  expect(pulled).toEqual({
    file: 'web-0.2.0.tgz',
    bytes: expect.any(Number),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  await node.run('delete');
});

it('a chart of no repository is named, with the repositories that are there', async () => {
  const node = testNode(plugin, 'cloudify.nodes.helm.Release', {
    properties: {
      helm_config: helm_config(),
      client_config: { configuration: { file_content: cluster.kubeconfig() } },
      resource_config: { name: 'none', chart: 'other/web' },
    } as never,
  });
  await expect(node.run('start')).rejects.toThrow(
    'no chart of a repository of the deployment (there: local)',
  );
});
