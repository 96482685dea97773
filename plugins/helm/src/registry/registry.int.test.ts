// The login at a registry that asks for a name and a password, as registries do it (basic).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type TestNode, testNode } from '@baton/plugin-sdk/testing';
import { type KubeDouble, type KubeTools, kubeTools, startKubeDouble } from '@baton/testkit/kube-double';
import plugin from '../plugin';

const PASSWORD = 'open-sesame-3';
const login = `Basic ${Buffer.from(`reader:${PASSWORD}`).toString('base64')}`;

let tools: KubeTools;
/** Any server with a certificate will do. */
let server: KubeDouble;
beforeAll(async () => {
  tools = await kubeTools();
  server = await startKubeDouble();
  server.intercept = (request: IncomingMessage, response: ServerResponse) => {
    const isKnown = request.headers.authorization === login;
    response.writeHead(isKnown ? 200 : 401, isKnown ? {} : { 'www-authenticate': 'Basic realm="charts"' });
    response.end(`you sent ${request.headers.authorization}`);
    return true;
  };
});
afterAll(async () => await server?.stop());

const registry = (password: string, more: object = {}): TestNode =>
  testNode(plugin, 'cloudify.nodes.helm.Registry', {
    properties: {
      helm_config: { executable_path: tools.helm },
      resource_config: {
        host: server.url.replace('https://', ''),
        flags: [
          { name: 'username', value: 'reader' },
          { name: 'password', value: password },
          { name: 'insecure' },
        ],
        ...more,
      },
    } as never,
  });

it('is tried, and kept nowhere', async () => {
  const node = registry(PASSWORD);
  await node.run('create');
  await node.run('check_status');
  await node.run('delete');
  expect(JSON.stringify([node.runtimeProperties, node.log])).not.toContain(PASSWORD);
});

it('fails with a wrong password, which the error does not show', async () => {
  const error = await registry('wrong-password-4')
    .run('create')
    .catch((thrown: Error) => thrown);
  expect(String(error)).toMatch(/helm ended with 1/);
  expect(String((error as Error).stack)).not.toContain('wrong-password-4');
});

it.each([
  ['a host that is a flag', { host: '--insecure' }, 'expected the name of a host'],
  ['a registry of AWS', { ecr: { registry_id: 'x' } }, 'needs the API of AWS'],
  ['no password', { flags: [{ name: 'username', value: 'x' }] }, 'username and password are missing'],
])('refuses %s', async (_, more, message) => {
  await expect(registry(PASSWORD, more).run('create')).rejects.toThrow(message);
});
