// examples/ansible-host: Ansible of this machine, in the isolation of operations, over ssh to a real sshd on loopback.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { type Sshd, startSshd } from '../../plugins/ansible/src/testing/sshd';
import { type Fleet, startFleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, followExecution, succeed, upload } from '../harness/session';

jest.setTimeout(300_000);

const TOKEN = 'token-of-the-site-7431';
let sshd: Sshd;
let fleet: Fleet;
let client: Client;

beforeAll(async () => {
  sshd = await startSshd();
  fleet = await startFleet({
    mode: (process.env.BATON_E2E_MODE ?? 'standalone') as Fleet['mode'],
    workers: Number(process.env.BATON_E2E_WORKERS ?? 1),
    env: {
      BATON_TASK_RETRY_INTERVAL: '0',
      BATON_VALIDATE_RESPONSES: 'true',
      // The machine of the example is this one: operations do not reach it otherwise.
      BATON_WORKER_EGRESS_ALLOW: `127.0.0.1:${sshd.port}`,
    },
  });
  client = adminClient(fleet);
  await call(client, 'putSecret', { secret_key: 'ansible_host_key' }, { value: sshd.key });
  await call(client, 'putSecret', { secret_key: 'ansible_host_token' }, { value: TOKEN });
  await client.upload('uploadPlugin', { content: built() });
  await upload(client, 'greeter', archiveOf(join(root, 'examples/ansible-host')));
  const { port, user, place } = sshd;
  const inputs = { address: '127.0.0.1', port, user, folder: join(place, 'greeting') };
  await call(client, 'createDeployment', { id: 'greeter' }, { blueprint_id: 'greeter', inputs });
});
afterAll(async () => {
  await fleet?.stop();
  await sshd?.stop();
});

/** The package as `baton plugins build` makes it. */
function built(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'baton-ansible-'));
  try {
    const file = join(folder, 'ansible.bplug');
    const cli = ['--import', 'tsx', join(root, 'apps/cli/src/main.ts')];
    const args = [...cli, 'plugins', 'build', 'plugins/ansible', '--out', file];
    execFileSync(process.execPath, args, { cwd: root });
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const page = (): string => join(sshd.place, 'greeting/index.html');
const drift = async (): Promise<{ total: number }> => {
  await succeed(client, 'greeter', 'check_drift');
  return await call(client, 'getDeploymentDrift', { id: 'greeter' });
};
const instances = async (): Promise<string> =>
  JSON.stringify(await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'greeter' }));

test('installed, checked, healed, updated and uninstalled', async () => {
  const { messages } = await succeed(client, 'greeter', 'install');
  expect(readFileSync(page(), 'utf8')).toBe('<h1>Hello from greeter</h1>\n');
  expect(readFileSync(join(sshd.place, 'greeting/token'), 'utf8')).toBe(TOKEN);
  expect(messages).toContain('TASK [Write the page]');
  expect(messages).toContainEqual(expect.stringContaining('changed [greeter]'));
  const { outputs } = await call(client, 'getDeploymentOutputs', { id: 'greeter' });
  expect(outputs.result).toEqual({ greeter: expect.objectContaining({ ok: 3, changed: 3, failed: 0 }) });
  for (const text of [messages.join('\n'), await instances()]) {
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain('PRIVATE KEY');
  }
  await succeed(client, 'greeter', 'check_status');
  expect((await drift()).total).toBe(0);

  writeFileSync(page(), 'defaced\n');
  const found = await drift();
  expect(found.total).toBe(1);
  expect(JSON.stringify(found)).toContain('greeter: Write the page');
  await succeed(client, 'greeter', 'heal');
  expect(readFileSync(page(), 'utf8')).toBe('<h1>Hello from greeter</h1>\n');

  const inputs = { greeting: 'Good day' };
  const params = { deployment_id: 'greeter' };
  const { execution_id } = await call(client, 'initiateDeploymentUpdate', params, { inputs });
  expect(await followExecution(client, execution_id)).toMatchObject({ status: 'terminated' });
  expect(readFileSync(page(), 'utf8')).toBe('<h1>Good day from greeter</h1>\n');

  await succeed(client, 'greeter', 'uninstall');
  expect(sshd.sessions()).toBe(0);
});
