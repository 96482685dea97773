// A recording of a manager holds against the same manager, and tells what has changed since.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
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
  expect(counts).toMatchObject({ tenants: 5, users: 5, deployments: 4, nodes: 8, secrets: 5, sites: 4, plugins: 4 });
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
  const found = JSON.parse(out).differences.map(
    ({ what, id, path }: Record<string, string>) => `${what} ${id} ${path}`,
  );
  expect(found).toEqual(
    expect.arrayContaining([
      'sites site3 ',
      `node_instances ${changed.id} runtime_properties.port`,
      `node_instances ${changed.id} runtime_properties.login.password`,
      'deployments d1 labels.tier=v1',
    ]),
  );
  expect(found.filter((line: string) => !/site3|d1|node_instances/.test(line))).toEqual([]);
}, 120_000);

test('a file that is no recording, or an unfinished one, is refused', async () => {
  const other = join(folder, 'other.gz');
  writeFileSync(other, 'no gzip');
  expect((await baton('import', 'verify', other)).err).toMatch(/cannot be read/);
  expect((await baton('import', 'verify', join(folder, 'none'))).err).toMatch(/there is no such file/);
  expect((await baton('import', 'record', file())).err).toMatch(/exists; expected the name of a new file/);
});
