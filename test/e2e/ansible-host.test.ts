// examples/ansible-host: Ansible of this machine, in the isolation of operations, over ssh to a real sshd on loopback.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit';
import { type Sshd, startSshd } from '../../plugins/ansible/src/testing/sshd';
import { startE2eFleet } from '../harness/e2e';
import { builtPlugin } from '../harness/example';
import type { Fleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, follow, followExecution, succeed, upload } from '../harness/session';

jest.setTimeout(600_000);

const TOKEN = 'token-of-the-site-7431';
let sshd: Sshd;
let fleet: Fleet;
let client: Client;

beforeAll(async () => {
  sshd = await startSshd();
  fleet = await startE2eFleet({
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
  await client.upload('uploadPlugin', { content: builtPlugin('ansible') });
  await upload(client, 'greeter', archiveOf(join(root, 'examples/ansible-host')));
});
afterAll(async () => {
  await fleet?.stop();
  await sshd?.stop();
});

/** The blueprint with a collection, as ansible-galaxy builds one. */
function withCollection(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'baton-blueprint-'));
  try {
    const blueprint = join(folder, 'ansible-more');
    cpSync(join(__dirname, 'blueprints/ansible-more'), blueprint, { recursive: true });
    const tasks = join(folder, 'acme/tools/roles/greet/tasks');
    mkdirSync(tasks, { recursive: true });
    writeFileSync(join(tasks, 'main.yaml'), '- debug: { msg: greetings of the collection }\n');
    const galaxy = 'namespace: acme\nname: tools\nversion: 1.0.0\nreadme: R.md\nauthors: [a]\n';
    writeFileSync(join(folder, 'acme/tools/galaxy.yml'), galaxy);
    writeFileSync(join(folder, 'acme/tools/R.md'), 'tools');
    const args = ['collection', 'build', join(folder, 'acme/tools'), '--output-path', blueprint];
    execFileSync('ansible-galaxy', args, { env: { ...process.env, ANSIBLE_HOME: folder }, stdio: 'ignore' });
    return archiveOf(blueprint);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const page = (): string => join(sshd.place, 'greeting/index.html');
const drift = async (): Promise<{ total: number }> => {
  await succeed(client, 'greeter', 'check_drift');
  return await call(client, 'getDeploymentDrift', { id: 'greeter' });
};
const instances = async (id: string): Promise<string> =>
  JSON.stringify(await call(client, 'listNodeInstances', {}, undefined, { deployment_id: id }));

const deploy = async (id: string, inputs: object): Promise<void> => {
  const { port, user } = sshd;
  await call(client, 'createDeployment', { id }, { blueprint_id: id, inputs: { port, user, ...inputs } });
};
const word = (name: string): string => readFileSync(join(sshd.place, name), 'utf8');
const secretKeys = async (): Promise<string[]> =>
  (await call(client, 'listSecrets', {})).items.map(({ key }: { key: string }) => key);

test('installed, checked, healed, updated and uninstalled', async () => {
  await deploy('greeter', { address: '127.0.0.1', folder: join(sshd.place, 'greeting') });
  const { messages } = await succeed(client, 'greeter', 'install');
  expect(readFileSync(page(), 'utf8')).toBe('<h1>Hello from greeter</h1>\n');
  expect(readFileSync(join(sshd.place, 'greeting/token'), 'utf8')).toBe(TOKEN);
  expect(messages).toContain('TASK [Write the page]');
  expect(messages).toContainEqual(expect.stringContaining('changed [greeter]'));
  const { outputs } = await call(client, 'getDeploymentOutputs', { id: 'greeter' });
  expect(outputs.result).toEqual({ greeter: expect.objectContaining({ ok: 3, changed: 3, failed: 0 }) });
  for (const text of [messages.join('\n'), await instances('greeter')]) {
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

test('mappings on other types, hosts that nodes are in, relationships, facts, collections and the workflow', async () => {
  await call(client, 'putSecret', { secret_key: 'machine_key' }, { value: sshd.key });
  await upload(client, 'more', withCollection());
  await deploy('more', { folder: sshd.place });
  const { messages } = await succeed(client, 'more', 'install');
  expect(['direct', 'inside', 'handed'].map(word)).toEqual(['direct', 'inside', 'handed']);
  expect(messages).toContainEqual(expect.stringContaining('greetings of the collection'));
  const stored = await instances('more');
  expect(stored).toContain('"ansible_system":"Linux"');
  expect(stored).not.toContain('PRIVATE KEY');
  const kept = (await secretKeys()).filter((key) => key.startsWith('ansible-more-'));
  expect(kept.length).toBeGreaterThan(0);

  const parameters = {
    node_ids: ['inside'],
    run_data: { word: 'again', name: 'inside', folder: sshd.place },
  };
  await succeed(client, 'more', 'reload_ansible_playbook', parameters);
  expect(['direct', 'inside'].map(word)).toEqual(['direct', 'again']);

  // A lookup runs on the worker, with the rights and the files of an operation.
  const own = join(root, 'package.json');
  const lookup = { word: `{{ lookup('file', '${own}') }}`, name: 'looked-up', folder: sshd.place };
  const reading = { ...parameters, run_data: lookup };
  const refused = await follow(client, 'more', 'reload_ansible_playbook', { parameters: reading });
  expect(refused.status).toBe('failed');
  expect(refused.messages.join('\n')).toContain('could not locate file in lookup');

  // A cancel ends Ansible and the connection that it holds open.
  const waiting = { deployment_id: 'more', workflow_id: 'reload_ansible_playbook' };
  const wait = { node_ids: ['inside'], playbook_path: 'ansible/wait.yaml' };
  const { id } = await call(client, 'startExecution', {}, { ...waiting, parameters: wait });
  await eventually(() => expect(sshd.sessions()).toBe(1), { deadlineMs: 60_000 });
  await call(client, 'actOnExecution', { executionId: id }, { action: 'force-cancel' });
  expect((await followExecution(client, id)).status).toBe('cancelled');
  await eventually(() => expect(sshd.sessions()).toBe(0), { deadlineMs: 30_000 });

  await succeed(client, 'more', 'uninstall');
  expect((await secretKeys()).filter((key) => key.startsWith('ansible-more-'))).toEqual([]);
  expect(sshd.sessions()).toBe(0);
});
