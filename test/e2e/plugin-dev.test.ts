// `baton plugins dev`: an author changes the code, and the manager runs the change.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit';
import { cliMain, makeAuthorFolder } from '../harness/author-folder';
import { startE2eFleet } from '../harness/e2e';
import type { Fleet } from '../harness/fleet';
import { freePorts } from '../harness/processes';
import { adminClient, archiveOf, call, follow, succeed, upload } from '../harness/session';

let fleet: Fleet;
let client: Client;
let outside: string;
let plugin: string;
let author: ChildProcess;
let port: number;
let said = '';
const SOON = { deadlineMs: 60_000 };
const saw = (text: string | RegExp) => eventually(async () => expect(said).toMatch(text), SOON);
const swaps = () => [...said.matchAll(/notes 0\.1\.0-dev: built in \d+ ms, swapped in \d+ ms/g)].length;
const swapped = (count: number) => eventually(async () => expect(swaps()).toBe(count), SOON);

beforeAll(async () => {
  fleet = await startE2eFleet({
    workers: 1,
    env: {
      BATON_PLUGINS_DEV: 'true',
      BATON_WORKER_PLUGIN_INSPECT: 'true',
      BATON_TASK_RETRIES: '0',
      BATON_VALIDATE_RESPONSES: 'true',
    },
  });
  client = adminClient(fleet);
  outside = mkdtempSync(join(tmpdir(), 'baton-dev-'));
  plugin = join(outside, 'notes');
  makeAuthorFolder(plugin);
  [port] = (await freePorts(1)) as [number];
  author = spawn(
    process.execPath,
    [cliMain, 'plugins', 'dev', plugin, '-d', 'notes', '--inspect', String(port)],
    {
      env: {
        PATH: process.env.PATH,
        BATON_URL: fleet.baseUrl,
        BATON_USERNAME: 'admin',
        BATON_PASSWORD: fleet.adminPassword,
        BATON_TENANT: 'default_tenant',
      },
    },
  );
  for (const stream of [author.stdout!, author.stderr!])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  await swapped(1);
  await upload(client, 'notes', archiveOf(join(plugin, 'example')));
  await call(client, 'createDeployment', { id: 'notes' }, { blueprint_id: 'notes' });
  await succeed(client, 'notes', 'install');
});
afterAll(async () => {
  author?.kill('SIGKILL');
  await fleet?.stop();
  rmSync(outside, { recursive: true, force: true });
});

const change = (from: string, to: string): void => {
  const file = join(plugin, 'src/plugin.ts');
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
};
const shout = async () =>
  await follow(client, 'notes', 'execute_operation', {
    parameters: { operation: 'notes.shout', node_ids: ['note'] },
  });

test('a change of the code is what the deployment runs next, again at a key', async () => {
  expect((await shout()).status).toBe('terminated');
  change(
    'run: ({ runtime, inputs }) =>',
    "run: ({ runtime, inputs, log }) => log.info('the new code runs') as never ??",
  );
  await swapped(2);
  author.stdin!.write('r\n');
  await saw(/Execution \S+ of execute_operation on notes, again/);
  await saw('the new code runs');
  await saw(/Execution \S+ completed/);
  const { items } = await call(client, 'listPlugins', {});
  expect(items.map((one: { package_version: string }) => one.package_version)).toEqual(['0.1.0-dev']);
});

test('the process of the operations has a debugger, also after the next swap', async () => {
  const version = async () => (await fetch(`http://127.0.0.1:${port}/json/version`)).status;
  expect(await version()).toBe(200);
  change('the new code runs', 'the third code runs');
  await swapped(3);
  expect((await shout()).messages).toContain('the third code runs');
  expect(await version()).toBe(200);
});

test('a mistake is told with its place, and the loop goes on', async () => {
  change("compare: ['text']", "compare: ['txt']");
  await saw(/there is no txt; expected text; did you mean text\?/);
  change("compare: ['txt']", "compare: ['text']");
  await swapped(4);
});

test('q ends the loop', async () => {
  const ended = new Promise((resolve) => author.once('exit', resolve));
  author.stdin!.write('q\n');
  expect(await ended).toBe(0);
});
