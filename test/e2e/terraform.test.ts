// The plugin of plugins/terraform and examples/terraform-stack, with the real terraform where there is one.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { type Fleet, startFleet } from '../harness/fleet';
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

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'baton-terraform-'));
  fleet = await startFleet({
    mode: (process.env.BATON_E2E_MODE ?? 'standalone') as Fleet['mode'],
    workers: Number(process.env.BATON_E2E_WORKERS ?? 1),
    env: {
      BATON_TASK_RETRIES: '0',
      BATON_VALIDATE_RESPONSES: 'true',
      ...(hasTerraform ? {} : { BATON_WORKER_SHARED_PATHS: standIns }),
    },
  });
  client = adminClient(fleet);
  await client.upload('uploadPlugin', { content: built() });
  await upload(client, 'stack', archiveOf(join(root, 'examples/terraform-stack')));
  await call(client, 'putSecret', { secret_key: 'stack_admin_password' }, { value: PASSWORD });
  await call(client, 'createDeployment', { id: 'stack' }, { blueprint_id: 'stack', inputs: { program } });
});
afterAll(async () => {
  await fleet?.stop();
  rmSync(place, { recursive: true, force: true });
});

/** The package as `baton plugins build` makes it. */
function built(): Buffer {
  const file = join(place, 'terraform.bplug');
  const cli = ['--import', 'tsx', join(root, 'apps/cli/src/main.ts')];
  execFileSync(process.execPath, [...cli, 'plugins', 'build', 'plugins/terraform', '--out', file], {
    cwd: root,
  });
  return readFileSync(file);
}

async function instance() {
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'stack' });
  return items.find(({ node_id: node }: { node_id: string }) => node === 'stack');
}
const outputs = async () => (await call(client, 'getDeploymentOutputs', { id: 'stack' })).outputs;
const filesOf = async (id: string): Promise<string[]> =>
  (await call(client, 'listNodeInstanceFiles', { id })).items.map(({ name }: { name: string }) => name);

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

test('uninstall destroys the stack, and leaves no file', async () => {
  const { id } = await instance();
  await succeed(client, 'stack', 'uninstall');
  expect(await filesOf(id)).toEqual([]);
});
