// The plugin of plugins/terraform and examples/terraform-stack, with the real terraform where there is one.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit/eventually';
import { startE2eFleet, testOfServices } from '../harness/e2e';
import { builtPlugin } from '../harness/example';
import type { Fleet } from '../harness/fleet';
import { root } from '../harness/processes';
import {
  adminClient,
  archiveOf,
  call,
  follow,
  followExecution,
  route,
  succeed,
  upload,
} from '../harness/session';

const standIns = join(root, 'plugins/terraform/src/testing');
const hasTerraform = spawnSync('terraform', ['version']).status === 0;
const program = hasTerraform ? 'terraform' : join(standIns, 'stand-in.cjs');
const PASSWORD = 'correct horse 4711';

let fleet: Fleet;
let client: Client;
let place: string;
/** Of an archive with another program. */
let source: string;
let server: Server;
/** Seen by the operations. */
let shared: string;

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'baton-terraform-'));
  source = await serveProgram();
  // Operations have a /tmp of their own.
  shared = mkdtempSync('/var/tmp/baton-terraform-');
  chmodSync(shared, 0o777);
  fleet = await startE2eFleet({
    env: {
      BATON_TASK_RETRIES: '0',
      BATON_VALIDATE_RESPONSES: 'true',
      BATON_WORKER_EGRESS_ALLOW: new URL(source).host,
      BATON_WORKER_SHARED_PATHS: [`${shared}:rw`, ...(hasTerraform ? [] : [standIns])].join(','),
    },
  });
  client = adminClient(fleet);
  await client.upload('uploadPlugin', { content: builtPlugin('terraform') });
  await upload(client, 'stack', archiveOf(join(root, 'examples/terraform-stack')));
  await call(client, 'putSecret', { secret_key: 'stack_admin_password' }, { value: PASSWORD });
  await call(client, 'createDeployment', { id: 'stack' }, { blueprint_id: 'stack', inputs: { program } });
});
afterAll(async () => {
  await fleet?.stop();
  server?.close();
  for (const folder of [place, shared]) rmSync(folder, { recursive: true, force: true });
});

async function serveProgram(): Promise<string> {
  const file = join(place, 'other.tar.gz');
  const named = ['--transform', 's/^stand-in.cjs$/terraform/'];
  execFileSync('tar', ['czf', file, '-C', standIns, 'stand-in.cjs', 'read-blocks.cjs', ...named]);
  const content = readFileSync(file);
  server = createServer((_, response) => response.end(content));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/other.tar.gz`;
}

async function instance(deployment = 'stack') {
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: deployment });
  return items.find(({ node_id: node }: { node_id: string }) => node === deployment);
}
const outputs = async () => (await call(client, 'getDeploymentOutputs', { id: 'stack' })).outputs;
/** Names that are locked and have no file yet are left out. */
const filesOf = async (id: string): Promise<string[]> =>
  (await call(client, 'listNodeInstanceFiles', { id })).items
    .filter(({ size }: { size: number | null }) => size !== null)
    .map(({ name }: { name: string }) => name);

async function download(id: string, name: string): Promise<Buffer> {
  const { body } = await client.download(route('getNodeInstanceFile'), { params: { id, name } } as never);
  return Buffer.from(await new Response(body as never).arrayBuffer());
}

/** Somebody runs the program with the state of the manager, and puts the state back. */
async function changeOutside(id: string, command: 'apply' | 'destroy', release = '1.0'): Promise<void> {
  copyFileSync(join(root, 'examples/terraform-stack/stack/main.tf'), join(place, 'main.tf'));
  writeFileSync(join(place, 'terraform.tfstate'), await download(id, 'terraform.tfstate'));
  const run = (...args: string[]) =>
    execFileSync(program, args, {
      cwd: place,
      env: {
        ...process.env,
        TF_VAR_release: release,
        TF_VAR_admin_password: PASSWORD,
        CHECKPOINT_DISABLE: '1',
      },
      stdio: 'pipe',
    });
  run('init', '-no-color', '-input=false');
  run(command, '-no-color', '-input=false', '-auto-approve');
  const content = readFileSync(join(place, 'terraform.tfstate'));
  await client.upload(route('putNodeInstanceFile'), {
    params: { id, name: 'terraform.tfstate' },
    content,
  } as never);
}

test('a plan is stored first, and the install carries it out', async () => {
  await succeed(client, 'stack', 'terraform_plan');
  const { id, runtime_properties: planned } = await instance();
  expect(planned.plan.resource_changes.map(({ address }: { address: string }) => address)).toEqual([
    'terraform_data.network',
    'terraform_data.server',
  ]);
  expect((await filesOf(id)).sort()).toEqual(['source.tar.gz', 'terraform.tfplan', 'terraform.tfplan.json']);
  const { messages } = await succeed(client, 'stack', 'install');
  expect(messages).toContain('Applying the saved plan');
  expect(await outputs()).toMatchObject({
    address: 'https://staging.example.org/',
    server: { name: 'staging-server', release: '1.0' },
  });
  expect((await filesOf(id)).sort()).toEqual(['source.tar.gz', 'terraform.tfstate']);
});

test('the password is in a secret alone, and the state has no lock', async () => {
  const found = await instance();
  const { value } = await call(client, 'getSecret', { secret_key: 'stack_login' });
  expect(value).toBe(`admin:${PASSWORD}`);
  expect(JSON.stringify(found.runtime_properties)).not.toContain(PASSWORD);
  const { items } = await call(client, 'listNodeInstanceFiles', { id: found.id });
  expect(items.map(({ lock }: { lock: unknown }) => lock)).toEqual([null, null]);
});

test('what somebody changes outside is drift, which a reload repairs', async () => {
  await succeed(client, 'stack', 'check_status');
  await succeed(client, 'stack', 'check_drift');
  const before = await instance();
  expect(before.has_configuration_drift).toBe(false);
  await changeOutside(before.id, 'apply', '9.9');
  await succeed(client, 'stack', 'check_drift');
  const drifted = await instance();
  expect(drifted.has_configuration_drift).toBe(true);
  expect(JSON.stringify(drifted.system_properties)).toContain('terraform_data.server.input');
  await succeed(client, 'stack', 'reload_terraform_template');
  await succeed(client, 'stack', 'check_drift');
  expect((await instance()).has_configuration_drift).toBe(false);
  expect((await outputs()).server.release).toBe('1.0');
});

test('what somebody destroys outside fails the check, and heal makes it again', async () => {
  const { id } = await instance();
  await changeOutside(id, 'destroy');
  const checked = await follow(client, 'stack', 'check_status');
  expect(checked.messages.join('\n')).toContain('the state of the module holds no resources');
  await succeed(client, 'stack', 'heal');
  await succeed(client, 'stack', 'check_status');
  expect((await instance()).is_status_check_ok).toBe(true);
  expect((await outputs()).server.release).toBe('1.0');
});

test('an update of the deployment changes the stack in place', async () => {
  const before = await instance();
  const body = { inputs: { release: '2.0' } };
  const { execution_id: id } = await call(
    client,
    'initiateDeploymentUpdate',
    { deployment_id: 'stack' },
    body,
  );
  expect(await followExecution(client, id)).toMatchObject({ status: 'terminated' });
  expect((await outputs()).server.release).toBe('2.0');
  expect((await instance()).id).toBe(before.id);
});

test('while somebody has the state, an operation fails and says who', async () => {
  const { id } = await instance();
  const lock = { id, name: 'terraform.tfstate' };
  await call(client, 'lockNodeInstanceFile', lock, {
    lock_id: 'mine',
    holder: 'Ada at her desk',
    seconds: 600,
  });
  const { status, error } = await follow(client, 'stack', 'refresh_terraform_resources');
  expect([status, error]).toEqual(['failed', expect.stringContaining('locked by Ada at her desk')]);
  await call(client, 'unlockNodeInstanceFile', lock);
  await succeed(client, 'stack', 'refresh_terraform_resources');
});

test('the host gets another program, and its modules run with it', async () => {
  await succeed(client, 'stack', 'update_terraform_binary', { installation_source: source });
  const { runtime_properties: runtime } = await instance();
  expect(runtime.installation).toEqual({ source });
  expect(runtime).not.toHaveProperty('executable_path');
  await succeed(client, 'stack', 'refresh_terraform_resources');
  expect((await outputs()).server.release).toBe('2.0');
});

test('uninstall destroys the stack, and leaves no file', async () => {
  const { id } = await instance();
  await succeed(client, 'stack', 'uninstall');
  expect(await filesOf(id)).toEqual([]);
});

testOfServices(
  'a worker that dies in the middle of an apply loses no state; the next one goes on',
  async () => {
    await upload(client, 'slow', archiveOf(join(__dirname, 'blueprints/terraform-slow')));
    await call(
      client,
      'createDeployment',
      { id: 'slow' },
      { blueprint_id: 'slow', inputs: { program, place: shared } },
    );
    const started = { deployment_id: 'slow', workflow_id: 'install' };
    const { id: execution } = await call(client, 'startExecution', {}, started);
    const { id } = await instance('slow');
    await eventually(() => existsSync(join(shared, 'begun')));
    await eventually(async () => (await filesOf(id)).includes('terraform.tfstate'));
    for (const worker of fleet.workers()) {
      worker.signal('SIGKILL');
      await worker.ended();
    }
    const before = JSON.parse((await download(id, 'terraform.tfstate')).toString());
    writeFileSync(join(shared, 'go'), '');
    // Nobody renews it: it would be free a minute later.
    await call(client, 'unlockNodeInstanceFile', { id, name: 'terraform.tfstate' });
    for (const worker of fleet.workers()) worker.start();
    expect(await followExecution(client, execution)).toMatchObject({ status: 'terminated' });
    const after = JSON.parse((await download(id, 'terraform.tfstate')).toString());
    const idOf = (state: { resources: { name: string; instances: { attributes: { id: string } }[] }[] }) =>
      state.resources.find(({ name }) => name === 'a')?.instances[0]?.attributes.id;
    expect(idOf(before)).toMatch(/^[0-9a-f-]{36}$/);
    expect(idOf(after)).toBe(idOf(before));
    expect(after.serial).toBeGreaterThan(before.serial);
    await succeed(client, 'slow', 'uninstall');
  },
);
