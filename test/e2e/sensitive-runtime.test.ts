// Sensitive runtime properties of a TypeScript plugin: secrets of the tenant, and references to them.
import { join } from 'node:path';
import { type Client, createClient } from '@baton/client';
import { builtPlugin } from '../harness/author-plugin';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
const TOKEN = 'first-token-of-the-account';

beforeAll(async () => {
  fleet = await startE2eFleet({
    env: { BATON_TASK_RETRIES: '0', BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  await client.upload('uploadPlugin', { content: await builtPlugin('vault') });
  await upload(client, 'vault', archiveOf(join(__dirname, 'blueprints/vault')));
  await call(client, 'createDeployment', { id: 'vault' }, { blueprint_id: 'vault' });
});
afterAll(async () => await fleet?.stop());

const secretKeys = async (): Promise<string[]> =>
  (await call(client, 'listSecrets', {})).items.map(({ key }: { key: string }) => key).sort();
const accountOf = async (deployment: string) => {
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: deployment });
  return items.find(({ node_id: node }: { node_id: string }) => node === 'account');
};

test('the API shows references, later operations and other nodes get the values, no line shows them', async () => {
  const { messages } = await succeed(client, 'vault', 'install');
  const { id, runtime_properties: runtime } = await accountOf('vault');
  expect(runtime).toEqual({
    id: 'a1',
    token: { get_secret: expect.stringMatching(`^runtime\\.vault\\.${id}\\.token\\.[0-9a-f]{16}$`) },
    login: { get_secret: [expect.stringMatching(`^runtime\\.vault\\.${id}\\.login\\.`), 'value'] },
  });
  expect(await secretKeys()).toEqual([runtime.login.get_secret[0], runtime.token.get_secret]);
  const { value } = await call(client, 'getSecret', { secret_key: runtime.token.get_secret });
  expect(value).toBe(TOKEN);
  const { outputs } = await call(client, 'getDeploymentOutputs', { id: 'vault' });
  expect(outputs).toEqual({ user: 'admin', token: TOKEN });
  const said = messages.filter((message: string) => /^(made|started|got) /.test(message));
  expect(said).toEqual([
    'made with ********',
    'started with ******** and ********',
    `got ${TOKEN.length} characters: ********, of object`,
  ]);
  expect(messages.join('\n')).not.toContain('first-token');
});

test('a new value changes the secret, and the reference stays', async () => {
  const { runtime_properties: before } = await accountOf('vault');
  await succeed(client, 'vault', 'execute_operation', {
    operation: 'vault.change',
    node_ids: ['account'],
    operation_kwargs: { to: 'second-token' },
    allow_kwargs_override: true,
  });
  expect((await accountOf('vault')).runtime_properties).toEqual(before);
  const { value } = await call(client, 'getSecret', { secret_key: before.token.get_secret });
  expect(value).toBe('second-token');
});

test('uninstall removes the secrets', async () => {
  await succeed(client, 'vault', 'uninstall');
  expect(await secretKeys()).toEqual([]);
});

test('whoever starts an operation needs the right to write secrets: the operation says so', async () => {
  await call(client, 'createUser', {}, { username: 'olga', password: 'olga-password', role: 'default' });
  await call(
    client,
    'addTenantUser',
    {},
    { tenant_name: 'default_tenant', username: 'olga', role: 'operations' },
  );
  const olga = createClient({
    baseUrl: fleet.baseUrl,
    username: 'olga',
    password: 'olga-password',
    tenant: 'default_tenant',
  });
  const { status, error } = await follow(olga, 'vault', 'install');
  expect(status).toBe('failed');
  expect(error).toMatch(
    /the execution may not write the secret runtime\.vault\.\S+, which holds a sensitive runtime property/,
  );
  expect(error).not.toContain('first-token');
  // Nothing was made, so nothing has to be removed.
  expect((await follow(olga, 'vault', 'uninstall')).status).toBe('terminated');
});
