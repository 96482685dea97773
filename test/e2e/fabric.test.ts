// The plugin of plugins/fabric at a real sshd, through a manager and the isolation of its workers.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually, type SshHost, sshHost } from '@baton/testkit';
import { startE2eFleet } from '../harness/e2e';
import { builtPlugin } from '../harness/example';
import type { Fleet } from '../harness/fleet';
import { adminClient, archiveOf, call, follow, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
let host: SshHost;

beforeAll(async () => {
  host = await sshHost();
  fleet = await startE2eFleet({
    env: {
      BATON_TASK_RETRIES: '0',
      BATON_VALIDATE_RESPONSES: 'true',
      // Operations reach no other service of the machine of their worker.
      BATON_WORKER_EGRESS_ALLOW: `127.0.0.1:${host.port}`,
    },
  });
  client = adminClient(fleet);
  await client.upload('uploadPlugin', { content: builtPlugin('fabric') });
  await upload(client, 'fabric', archiveOf(join(__dirname, 'blueprints/fabric')));
  await call(client, 'putSecret', { secret_key: 'login_key' }, { value: host.key });
  await call(client, 'putSecret', { secret_key: 'sudo_password' }, { value: host.password });
});
afterAll(async () => {
  await fleet?.stop();
  await host?.stop();
});

const deploy = async (id: string, inputs: Record<string, unknown> = {}): Promise<void> => {
  const { port, user, hostKey } = host;
  const base_dir = join(host.home, 'run');
  const given = { host: host.host, port, user, host_key: hostKey, base_dir, ...inputs };
  await call(client, 'createDeployment', { id }, { blueprint_id: 'fabric', inputs: given });
};

test('scripts run at the host with ctx and sudo; no secret is told', async () => {
  await deploy('site');
  const { messages } = await succeed(client, 'site', 'install');
  const { outputs } = await call(client, 'getDeploymentOutputs', { id: 'site' });
  expect(outputs).toEqual({ page: '<h1>Welcome</h1>', owner: 'root' });
  expect(messages).toContain(`made by ${host.user}: it's "me"`);
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'site' });
  const told = JSON.stringify(items) + messages.join('\n');
  expect(told).not.toContain(host.password);
  expect(told).not.toContain('PRIVATE KEY');

  await succeed(client, 'site', 'uninstall');
  expect(existsSync(join(host.home, 'site'))).toBe(false);
});

test('a cancel ends the command at the host', async () => {
  await deploy('slow', { commands: ['sleep 9991'] });
  await succeed(client, 'slow', 'install');
  const processes = (): string => execFileSync('ps', ['-eo', 'stat,args'], { encoding: 'utf8' });
  const ending = follow(client, 'slow', 'uninstall');
  await eventually(() => processes().includes('sleep 9991'));
  const { items } = await call(client, 'listExecutions', {}, undefined, {
    deployment_id: 'slow',
    status: 'started',
  });
  await call(client, 'actOnExecution', { executionId: items[0].id }, { action: 'kill' });
  expect((await ending).status).toBe('cancelled');
  await eventually(() => !/^[^Z].*sleep 9991/m.test(processes()));
});

test('a host with another key gets neither key nor password', async () => {
  await deploy('stranger', { host_key: `SHA256:${'A'.repeat(43)}` });
  const { status, error } = await follow(client, 'stranger', 'install');
  expect([status, error]).toEqual(['failed', expect.stringContaining('which is not the known one')]);
});
