// Signed plugins and the plugins that come with Baton, with the commands that people type.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit';
import { cliMain, makeAuthorFolder } from '../harness/author-folder';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { root, untilAnswers } from '../harness/processes';
import { adminClient, archiveOf, call, follow, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
let outside: string;

beforeAll(async () => {
  fleet = await startE2eFleet({
    workers: 1,
    env: { BATON_BUNDLED_PLUGINS: 'on', BATON_TASK_RETRIES: '0', BATON_VALIDATE_RESPONSES: 'true' },
  });
  client = adminClient(fleet);
  outside = mkdtempSync(join(tmpdir(), 'baton-trust-'));
});
afterAll(async () => {
  await fleet?.stop();
  rmSync(outside, { recursive: true, force: true });
});

/** Runs the baton command. Returns its output, whatever its exit code is. */
const baton = (...args: string[]): Promise<string> =>
  new Promise((resolve) => {
    const env = {
      PATH: process.env.PATH,
      BATON_URL: fleet.baseUrl,
      BATON_USERNAME: 'admin',
      BATON_PASSWORD: fleet.adminPassword,
      BATON_TENANT: 'default_tenant',
    };
    execFile(process.execPath, [cliMain, ...args], { env, cwd: outside }, (_, out, err) =>
      resolve(out + err),
    );
  });
const listed = async (): Promise<{ id: string; archive_name: string; visibility: string }[]> =>
  (await call(client, 'listPlugins', {})).items;

test('the plugins that come with Baton are one command away; a fresh standalone manager has them', async () => {
  const bundled = readdirSync(join(root, 'dist/plugins')).sort();
  expect(bundled.length).toBe(readdirSync(join(root, 'plugins')).length);
  if (fleet.mode === 'services') await baton('plugins', 'upload', 'bundled:all', '--visibility', 'global');
  // The manager is ready a moment before.
  const found = await eventually(
    async () => {
      const now = await listed();
      expect(now.map(({ archive_name }) => archive_name).sort()).toEqual(bundled);
      return now;
    },
    { deadlineMs: 30_000 },
  );
  expect(new Set(found.map(({ visibility }) => visibility))).toEqual(new Set(['global']));
  // Without the command, the manager takes a package of its own.
  const url = (name: string) =>
    call(client, 'uploadPlugin', {}, undefined, { plugin_archive_url: `bundled:${name}` });
  await expect(url('utilities')).rejects.toThrow(/already exists, with the same content/);
  await expect(url('../../etc/passwd')).rejects.toThrow(/comes with this manager/);
  expect(await baton('plugins', 'bundled')).toContain('bundled:utilities');
  expect(await baton('plugins', 'upload', 'bundled:utilities')).toMatch(/is there already/);
  expect(await baton('plugins', 'upload', 'bundled:utilitis')).toContain('did you mean bundled:utilities?');
});

test('a manager that has only such plugins counts as unused: it takes a snapshot', async () => {
  expect(await baton('snapshots', 'create', 's1')).toMatch(/completed|created/i);
  expect(await baton('snapshots', 'restore', 's1', '--dry-run')).not.toContain('not a clean manager');
});

test('one that somebody deletes stays away after a restart', async () => {
  if (fleet.mode === 'services') return;
  const { id } = (await listed()).find(({ archive_name }) => archive_name.includes('utilities'))!;
  expect(await baton('plugins', 'delete', id, '--force')).toContain('deleted');
  const manager = fleet.processes.get('standalone')!;
  await manager.stop();
  manager.start();
  await untilAnswers(`${fleet.baseUrl}/readyz`);
  expect((await listed()).some((plugin) => plugin.id === id)).toBe(false);
  expect(await baton('plugins', 'upload', 'bundled:utilities')).toContain('uploaded');
});

test('a signed plugin runs while its key is trusted, and only then', async () => {
  const plugin = join(outside, 'notes');
  makeAuthorFolder(plugin);
  await baton('plugins', 'keygen', 'team.key');
  expect(await baton('plugins', 'build', plugin, '--sign', 'team.key', '--out', 'notes.bplug')).toContain(
    'signed by SHA256:',
  );
  expect(await baton('plugin-keys', 'add', 'team', 'team.key')).toContain('is the private key');
  expect(await baton('plugin-keys', 'require', 'on')).toContain('Only plugins with a trusted signature');
  expect(await baton('plugins', 'upload', 'notes.bplug')).toContain('it does not know the key SHA256:');
  await baton('plugin-keys', 'add', 'team', 'team.key.pub');
  expect(await baton('plugins', 'upload', 'notes.bplug')).toContain('notes 0.1.0 uploaded');
  const shown = JSON.parse(await baton('plugins', 'list', '--where', 'package_name=notes', '--json'));
  expect(shown[0].signature).toMatchObject({ state: 'trusted', key_name: 'team' });
  await baton('plugin-keys', 'require', 'off');

  await upload(client, 'notes', archiveOf(join(plugin, 'example')));
  await call(client, 'createDeployment', { id: 'notes' }, { blueprint_id: 'notes' });
  await succeed(client, 'notes', 'install');
  expect(await baton('plugin-keys', 'revoke', 'team')).toContain('do not run any more');
  const { status, error } = await follow(client, 'notes', 'check_status');
  expect([status, error]).toEqual([
    'failed',
    expect.stringContaining('signed by the key `team`, which is revoked'),
  ]);
  await baton('plugin-keys', 'restore', 'team');
  await succeed(client, 'notes', 'uninstall');
});
