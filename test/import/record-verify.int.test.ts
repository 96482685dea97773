// A recording of a manager holds against the same manager, and tells what has changed since.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createClient } from '@baton/client';
import { record } from '../../apps/cli/src/estate/recorder';
import { openRecording } from '../../apps/cli/src/estate/recording-file';
import { runCli } from '../../apps/cli/src/run';
import { quietIo } from '../../apps/cli/src/testing-io';
import { fill } from '../contract/filled-manager';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf } from '../security/caller';

const CANARY = 'canary-1f0c-value';
let fleet: Fleet;
let caller: Caller;
let folder: string;

beforeAll(async () => {
  fleet = await startFleet({ mode: 'standalone' });
  caller = callerOf(fleet);
  folder = mkdtempSync(join(tmpdir(), 'baton-recording-'));
  await fill(caller);
  const { admin, must } = caller;
  await must(admin, 'PUT', '/secrets/canary', { value: CANARY });
  const { items } = await must(admin, 'GET', '/node-instances?deployment_id=d0');
  await must(admin, 'PATCH', `/node-instances/${items[0].id}`, {
    version: items[0].version,
    runtime_properties: { port: 80, login: { password: CANARY } },
  });
}, 240_000);
afterAll(async () => {
  await fleet?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function baton(...line: string[]) {
  const quiet = quietIo({
    BATON_URL: fleet.baseUrl,
    BATON_USERNAME: 'admin',
    BATON_PASSWORD: fleet.adminPassword,
  });
  const code = await runCli(['node', 'baton', ...line], quiet.io);
  return { code, out: quiet.out(), err: quiet.err() };
}

const file = () => join(folder, 'old.ndjson.gz');

test('a recording has every kind of object, no value of a secret, and holds against its own manager', async () => {
  const recorded = await baton('import', 'record', file(), '--rate', '1000', '--json');
  expect(recorded).toMatchObject({ code: 0 });
  const { counts } = JSON.parse(recorded.out);
  expect(counts).toMatchObject({
    tenants: 5,
    users: 5,
    deployments: 4,
    nodes: 8,
    secrets: 5,
    sites: 4,
    plugins: 4,
  });
  expect(statSync(file()).mode & 0o077).toBe(0);
  const text = gunzipSync(readFileSync(file())).toString();
  expect(text).not.toContain(CANARY);
  const verified = await baton('import', 'verify', file());
  expect(verified).toMatchObject({ code: 0, err: '' });
}, 120_000);

test('what has changed since is named, object by object', async () => {
  const { admin, must } = caller;
  const { items } = await must(admin, 'GET', '/node-instances?deployment_id=d0');
  const changed = items.find((item: { runtime_properties: object }) => 'port' in item.runtime_properties);
  await must(admin, 'PATCH', `/node-instances/${changed.id}`, {
    version: changed.version,
    runtime_properties: { port: 81, login: { password: 'another' } },
  });
  await must(admin, 'DELETE', '/sites/site3');
  await must(admin, 'PATCH', '/deployments/d1', { labels: [{ tier: 'other' }] });
  const { code, out } = await baton('import', 'verify', file(), '--json');
  expect(code).toBe(1);
  const found = JSON.parse(out).error.differences.map(
    ({ what, id, path }: Record<string, string>) => `${what} ${id} ${path}`,
  );
  expect(found).toEqual([
    'sites site3 ',
    'deployments d1 updated_at',
    'deployments d1 labels.key1=x',
    ...['a', 'b', 'c', 'd', 'v1', 'other'].map((value) => `deployments d1 labels.tier=${value}`),
    `node_instances ${changed.id} runtime_properties.port`,
    `node_instances ${changed.id} runtime_properties.login.password`,
  ]);
  expect(out).not.toContain(CANARY);
}, 120_000);

test('a recorder that died goes on where it was, and leaves the same recording', async () => {
  const whole = join(folder, 'whole.gz');
  await baton('import', 'record', whole, '--rate', '1000');
  const broken = join(folder, 'broken.gz');
  for (const requests of [3, 20, 1])
    await expect(recordUntil(broken, requests)).rejects.toThrow('lost power');
  // What the death left behind the last whole step does not count.
  appendFileSync(`${broken}.part`, 'half a step');
  await recordUntil(broken, Number.POSITIVE_INFINITY);
  expect(contentOf(broken)).toEqual(contentOf(whole));
}, 120_000);

/** Records with a client that fails for ever after so many requests. */
async function recordUntil(path: string, requests: number): Promise<void> {
  let left = requests;
  const client = createClient({
    baseUrl: fleet.baseUrl,
    username: 'admin',
    password: fleet.adminPassword,
    fetch: (input, init) => {
      if (left-- <= 0) throw new Error('lost power');
      return fetch(input, init);
    },
  });
  const writer = openRecording(path);
  try {
    const tenant = 'default_tenant';
    await record(writer, { client, url: fleet.baseUrl, tenant, only: [], rate: 1000, say: () => undefined });
  } finally {
    writer.close();
  }
}

/** Lines of a recording without its times and its salt. */
const contentOf = (path: string) =>
  gunzipSync(readFileSync(path))
    .toString()
    .trim()
    .split('\n')
    .map((line) => {
      const { started_at, ended_at, salt, ...kept } = JSON.parse(line);
      return JSON.stringify(kept).replace(/masked:[\w-]+|"last_login_at":"[^"]*"/g, '');
    });

test('a file that is no recording, or an unfinished one, is refused', async () => {
  const other = join(folder, 'other.gz');
  writeFileSync(other, 'no gzip');
  expect((await baton('import', 'verify', other)).err).toMatch(/cannot be read/);
  expect((await baton('import', 'verify', join(folder, 'none'))).err).toMatch(/there is no such file/);
  expect((await baton('import', 'record', file())).err).toMatch(/exists; expected the name of a new file/);
});
