import { createPrivateKey, createPublicKey } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { startE2eFleet } from '../harness/e2e';
import { builtPlugin } from '../harness/example';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;

beforeAll(async () => {
  fleet = await startE2eFleet({
    env: { BATON_TASK_RETRIES: '0', BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  await client.upload('uploadPlugin', { content: builtPlugin('utilities') });
  await upload(client, 'keys', archiveOf(join(__dirname, 'blueprints/utilities')));
  await call(client, 'createDeployment', { id: 'keys' }, { blueprint_id: 'keys' });
});
afterAll(async () => await fleet?.stop());

const secretKeys = async (): Promise<string[]> =>
  (await call(client, 'listSecrets', {})).items.map(({ key }: { key: string }) => key).sort();

test('install makes a key in secrets and a configuration with it; uninstall removes the secrets', async () => {
  const { messages } = await succeed(client, 'keys', 'install');
  expect(await secretKeys()).toEqual(['agent_private', 'agent_public']);
  const { value: pem } = await call(client, 'getSecret', { secret_key: 'agent_private' });
  const { value: line } = await call(client, 'getSecret', { secret_key: 'agent_public' });
  const { outputs } = await call(client, 'getDeploymentOutputs', { id: 'keys' });
  expect(outputs.public_key).toBe(line);
  expect(line).toMatch(/^ssh-rsa \S+$/);
  const { n } = createPublicKey(createPrivateKey(pem)).export({ format: 'jwk' });
  expect(Buffer.from(line.split(' ')[1], 'base64').includes(Buffer.from(n!, 'base64url'))).toBe(true);

  expect(outputs.cloud_config).toBe(`#cloud-config
users:
- name: centos
  ssh-authorized-keys:
  - ${line}
write_files:
- path: /etc/motd
  content: Welcome to Leipzig.
`);

  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'keys' });
  expect(JSON.stringify(items) + messages.join('\n')).not.toContain('PRIVATE KEY');

  await succeed(client, 'keys', 'uninstall');
  expect(await secretKeys()).toEqual([]);
});

test('a secret of somebody else is neither replaced nor removed', async () => {
  await call(client, 'putSecret', { secret_key: 'agent_private' }, { value: 'of somebody' });
  const { status, error } = await follow(client, 'keys', 'install');
  expect([status, error]).toEqual(['failed', expect.stringContaining('exists already: it is not replaced')]);
  await succeed(client, 'keys', 'uninstall', { ignore_failure: true });
  const { value } = await call(client, 'getSecret', { secret_key: 'agent_private' });
  expect(value).toBe('of somebody');
});
