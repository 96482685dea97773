// The plugin of plugins/utilities: built as authors build theirs, uploaded, and used by a blueprint of the original plugin.
import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { type Fleet, startFleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, follow, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;

beforeAll(async () => {
  fleet = await startFleet({
    mode: (process.env.BATON_E2E_MODE ?? 'standalone') as Fleet['mode'],
    workers: Number(process.env.BATON_E2E_WORKERS ?? 1),
    env: { BATON_TASK_RETRIES: '0', BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  await client.upload('uploadPlugin', { content: built() });
  await upload(client, 'keys', archiveOf(join(__dirname, 'blueprints/utilities')));
  await call(client, 'createDeployment', { id: 'keys' }, { blueprint_id: 'keys' });
});
afterAll(async () => await fleet?.stop());

/** The package as `baton plugins build` makes it. */
function built(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'baton-utilities-'));
  try {
    const file = join(folder, 'utilities.bplug');
    const cli = ['--import', 'tsx', join(root, 'apps/cli/src/main.ts')];
    execFileSync(process.execPath, [...cli, 'plugins', 'build', 'plugins/utilities', '--out', file], {
      cwd: root,
    });
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

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
