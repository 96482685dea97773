// examples/three-parts: Terraform, Ansible over ssh and an HTTP API as parts of one deployment.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { type Sshd, startSshd } from '../../plugins/ansible/src/testing/sshd';
import { startE2eFleet } from '../harness/e2e';
import { builtPlugin } from '../harness/example';
import type { Fleet } from '../harness/fleet';
import { type ItemsApi, startItemsApi } from '../harness/items-api';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, follow, followExecution, succeed, upload } from '../harness/session';

jest.setTimeout(300_000);

const standIns = join(root, 'plugins/terraform/src/testing');
const hasTerraform = spawnSync('terraform', ['version']).status === 0;
const TOKEN = 'token-of-the-api-7';
const PARTS = ['shop-items', 'shop-page', 'shop-stack'];

let api: ItemsApi;
let sshd: Sshd;
let fleet: Fleet;
let client: Client;

beforeAll(async () => {
  [api, sshd] = await Promise.all([startItemsApi(TOKEN), startSshd()]);
  fleet = await startE2eFleet({
    env: {
      BATON_TASK_RETRIES: '0',
      BATON_VALIDATE_RESPONSES: 'true',
      BATON_WORKER_EGRESS_ALLOW: `127.0.0.1:${sshd.port},127.0.0.1:${api.port}`,
      ...(hasTerraform ? {} : { BATON_WORKER_SHARED_PATHS: standIns }),
    },
  });
  client = adminClient(fleet);
  for (const plugin of ['terraform', 'ansible', 'utilities'])
    await client.upload('uploadPlugin', { content: builtPlugin(plugin) });
  const secrets = { stack_admin_password: 'correct horse', ansible_host_key: sshd.key };
  for (const [key, value] of Object.entries({ ...secrets, ansible_host_token: 't', http_api_token: TOKEN }))
    await call(client, 'putSecret', { secret_key: key }, { value });
  for (const example of ['terraform-stack', 'ansible-host', 'http-api', 'three-parts'])
    await upload(client, example, archiveOf(join(root, 'examples', example)));
});
afterAll(async () => {
  await fleet?.stop();
  await sshd?.stop();
  await api?.stop();
});

const page = (): string => join(sshd.place, 'greeting/index.html');
const greeted = (address: string): string => `<h1>${address} from greeter</h1>\n`;
const named = (name: string) => [...api.items.values()].find((item) => item.name === name);
const partIds = async (): Promise<string[]> =>
  (await call(client, 'listDeployments', {})).items
    .map(({ id }: { id: string }) => id)
    .filter((id: string) => id !== 'shop')
    .sort();
const drifted = async (id: string): Promise<number> => {
  const { drifted_instances: own } = await call(client, 'getDeployment', { id });
  return own;
};

test('the parts are made in order, and values go from one to the next', async () => {
  const inputs = {
    ...(hasTerraform ? {} : { terraform_program: join(standIns, 'stand-in.cjs') }),
    machine: {
      address: '127.0.0.1',
      port: sshd.port,
      user: sshd.user,
      folder: join(sshd.place, 'greeting'),
    },
    api: { host: '127.0.0.1', port: api.port, tls: false },
  };
  await call(client, 'createDeployment', { id: 'shop' }, { blueprint_id: 'three-parts', inputs });
  await succeed(client, 'shop', 'install');
  expect(await partIds()).toEqual(PARTS);
  expect(readFileSync(page(), 'utf8')).toBe(greeted('https://staging.example.org/'));
  expect(named('server')).toMatchObject({ size: 1 });
  const { outputs } = await call(client, 'getDeploymentOutputs', { id: 'shop' });
  expect(outputs.address).toBe('https://staging.example.org/');
  await succeed(client, 'shop', 'check_status');
});

test('drift of the parts shows at the parts; what is broken is healed through the parent', async () => {
  writeFileSync(page(), 'defaced\n');
  named('network')!.size = 9;
  await succeed(client, 'shop', 'check_drift');
  expect(await Promise.all(PARTS.map(drifted))).toEqual([1, 1, 0]);

  api.items.delete(named('server')!.id as string);
  expect((await follow(client, 'shop', 'check_status')).status).toBe('failed');
  await succeed(client, 'shop', 'heal');
  expect(named('server')).toMatchObject({ size: 1 });
});

/** A deployment update of the parent, to its end. */
async function update(body: object): Promise<void> {
  const { execution_id } = await call(client, 'initiateDeploymentUpdate', { deployment_id: 'shop' }, body);
  expect(await followExecution(client, execution_id)).toMatchObject({ status: 'terminated' });
}

test('an update of the parent goes through to its part, and the next one to the part that reads its address', async () => {
  const address = 'https://production.example.org/';
  await update({ inputs: { environment: 'production' } });
  expect((await call(client, 'getDeploymentOutputs', { id: 'shop' })).outputs).toEqual({ address });
  await succeed(client, 'shop', 'check_drift');
  expect(await drifted('shop')).toBe(1);
  await update({});
  expect(readFileSync(page(), 'utf8')).toBe(greeted(address));
  await succeed(client, 'shop', 'check_drift');
  expect(await drifted('shop')).toBe(0);
});

test('uninstall ends the parts and deletes their deployments', async () => {
  await succeed(client, 'shop', 'uninstall');
  expect(await partIds()).toEqual([]);
  expect(api.items.size).toBe(0);
});
