// The plugin that `baton plugins init` writes, built by `baton plugins build`, on a manager: from the upload to an update.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { runCli } from '../../apps/cli/src/run';
import { quietIo } from '../../apps/cli/src/testing-io';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { adminClient, call, follow, succeed } from '../harness/session';

let fleet: Fleet;
let client: Client;
let outside: string;

const baton = async (...args: string[]): Promise<string> => {
  const login = { BATON_URL: fleet.baseUrl, BATON_USERNAME: 'admin', BATON_PASSWORD: fleet.adminPassword };
  const { io, out, err } = quietIo(login);
  const code = await runCli(['node', 'baton', ...args], io);
  expect([code, err()]).toEqual([0, '']);
  return out();
};

beforeAll(async () => {
  fleet = await startE2eFleet({
    env: { BATON_TASK_RETRY_INTERVAL: '0', BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  outside = mkdtempSync(join(tmpdir(), 'baton-author-'));
  const plugin = join(outside, 'notes');
  await baton('plugins', 'init', plugin);
  mkdirSync(join(plugin, 'node_modules/@baton'), { recursive: true });
  for (const [name, folder] of [
    ['@baton/plugin-sdk', 'packages/plugin-sdk'],
    ['zod', 'packages/plugin-sdk/node_modules/zod'],
    ['esbuild', 'node_modules/esbuild'],
  ] as const)
    symlinkSync(join(root, folder), join(plugin, 'node_modules', name));
  await baton('plugins', 'build', plugin);
  await baton('plugins', 'upload', join(plugin, 'dist/notes-0.1.0.bplug'));
  await baton('blueprints', 'upload', join(plugin, 'example/blueprint.yaml'), '--id', 'notes');
  await baton('deployments', 'create', 'notes', '--blueprint', 'notes');
});
afterAll(async () => {
  await fleet?.stop();
  rmSync(outside, { recursive: true, force: true });
});

test('installed, checked, changed in place by an update, and uninstalled', async () => {
  const { messages } = await succeed(client, 'notes', 'install');
  expect(messages).toContainEqual(expect.stringMatching(/^wrote the note [0-9a-f-]{36}$/));
  for (const workflow of ['check_status', 'check_drift', 'heal']) await succeed(client, 'notes', workflow);
  expect(await baton('deployments', 'outputs', 'notes')).toContain('Hello');

  await baton('deployments', 'update', 'notes', '-i', 'text=Good morning');
  expect(await baton('deployments', 'outputs', 'notes')).toContain('Good morning');
  const { items } = await call(client, 'listNodeInstances', {}, undefined, { deployment_id: 'notes' });
  expect(items[0].runtime_properties).toEqual({
    id: messages.find((message: string) => message.startsWith('wrote'))!.slice(-36),
    saved: 'Good morning',
  });
  await succeed(client, 'notes', 'check_drift');
  expect((await call(client, 'getDeploymentDrift', { id: 'notes' })).total).toBe(0);
  await succeed(client, 'notes', 'uninstall');
});

test('a wrong value is refused by the plugin, by its name', async () => {
  await baton('deployments', 'create', 'empty', '--blueprint', 'notes', '-i', 'text=');
  const { status, error } = await follow(client, 'empty', 'install');
  expect(status).toBe('failed');
  expect(error).toContain('properties.text');
});
