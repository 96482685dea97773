// Operations of TypeScript plugins, from the upload of a .bplug to their effects.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { tgzOf } from '../../services/catalog/src/testing/archives';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
const TOKEN = 'token-of-the-zone';

beforeAll(async () => {
  fleet = await startE2eFleet({
    env: { BATON_TASK_RETRY_INTERVAL: '0', BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  for (const key of ['dns_token', 'not_declared'])
    await call(client, 'putSecret', { secret_key: key }, { value: TOKEN });
  await client.upload('uploadPlugin', { content: await bplug() });
  await upload(client, 'zone', archiveOf(join(__dirname, 'blueprints/module-plugin')));
  await call(client, 'createDeployment', { id: 'zone' }, { blueprint_id: 'zone' });
});
afterAll(async () => await fleet?.stop());

const YAML = `plugins:
  dns: {executor: central_deployment_agent, package_name: dns, package_version: 1.2.0}
node_types:
  dns.nodes.Record:
    derived_from: cloudify.nodes.Root
    properties: {name: {type: string}}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: dns.dns.nodes.Record.create, inputs: {ttl: {default: 300}}}
        delete: {implementation: dns.dns.nodes.Record.delete}
`;

async function bplug(): Promise<Buffer> {
  const about = {
    format: 1,
    name: 'dns',
    version: '1.2.0',
    sdk: '0.2.0',
    main: 'index.js',
    types: ['dns.nodes.Record'],
    secrets: ['dns_token'],
    description: 'records of a zone',
  };
  return tgzOf([
    { name: 'LICENSES.txt', content: '' },
    { name: 'index.js', content: readFileSync(join(__dirname, 'plugins/dns/index.js')) },
    { name: 'plugin.json', content: JSON.stringify(about) },
    { name: 'plugin.yaml', content: YAML },
  ]);
}

const operation = (name: string) =>
  follow(client, 'zone', 'execute_operation', { parameters: { operation: name, node_ids: ['record'] } });

test('operations of an uploaded plugin are carried out, tried again, and show no secret', async () => {
  const { messages } = await succeed(client, 'zone', 'install');
  expect(messages).toContainEqual(expect.stringContaining('the zone is locked'));
  expect(messages).toContain('asked with ********');
  expect(messages.join('\n')).not.toContain(TOKEN);
  const { outputs } = await call(client, 'getDeploymentOutputs', { id: 'zone' });
  expect(outputs).toEqual({ record: { id: 'record-www-300', tries: 1, created: 1 } });
});

test('a process that is lost fails its operation with its last words, or the operation runs again', async () => {
  const crashed = await operation('odd.crash');
  expect(crashed.status).toBe('failed');
  expect(crashed.error).toMatch(/not resumable: crash\.always/);
  expect(crashed.error).toContain('assertion failed in c.cc');
  expect(crashed.messages).toContain('the library gave up');
  const { status, messages } = await operation('odd.crash_once');
  expect([status, messages.filter((message) => message === 'ran again')]).toEqual([
    'terminated',
    ['ran again'],
  ]);
});

test('a secret that the plugin does not declare is refused, although the execution could read it', async () => {
  const { status, error } = await operation('odd.secret');
  expect(status).toBe('failed');
  expect(error).toContain('does not declare the secret not_declared; it declares: dns_token');
});

test('a workflow that the plugin does not have says so', async () => {
  const { status, error } = await follow(client, 'zone', 'in_plugin');
  expect(status).toBe('failed');
  expect(error).toContain('no workflow flows.any in plugin dns');
});

test('uninstall runs in the same way', async () => {
  const { messages } = await succeed(client, 'zone', 'uninstall');
  expect(messages).toContain('deleted record-www-300');
});
