import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@baton/testkit';
import { openZip } from './adapters/zip-reader';
import { admin, bob, startCluster } from './testing/cluster-setup';

let cluster: Awaited<ReturnType<typeof startCluster>>;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.close());

const as = { ...admin, tenant: 'default_tenant' };
const call = (method: string, path: string, more = {}) => cluster.call(method, path, { as, ...more });
const statusOf = async (id: string) => (await call('GET', `/log-bundles/${id}`)).body.status;
const ended = (id: string, status: string) =>
  eventually(async () => {
    await cluster.tick('drive-log-bundles');
    expect(await statusOf(id)).toBe(status);
    expect(cluster.carried.ends.at(-1)).toBeDefined();
  });

async function entriesOf(archive: Buffer): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-bundle-'));
  try {
    const path = join(folder, 'b.zip');
    await writeFile(path, archive);
    const zip = await openZip(path);
    const found: Record<string, string> = {};
    for (const name of zip.entries.keys()) {
      const pieces: Buffer[] = [];
      for await (const piece of await zip.read(name)) pieces.push(piece as Buffer);
      found[name] = Buffer.concat(pieces).toString();
    }
    await zip.close();
    return found;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

it('packs what the manager knows, under an execution that it carries out itself', async () => {
  const made = await call('PUT', '/log-bundles/b1', { json: { queue: true } });
  expect([made.status, typeof made.body.id]).toEqual([201, 'string']);
  expect(cluster.carried.started.at(-1)).toMatchObject({
    workflowId: 'create_log_bundle',
    requestId: made.body.id,
    isSystemWorkflow: true,
  });
  expect((await call('PUT', '/log-bundles/b1', { json: {} })).status).toBe(409);
  await ended('b1', 'created');
  expect(cluster.carried.ends.at(-1)).toEqual({ executionId: made.body.id, endStatus: 'terminated' });
  const archive = await call('GET', '/log-bundles/b1/archive');
  const entries = await entriesOf(archive.bytes);
  expect(Object.keys(entries)).toEqual([
    'README.txt',
    'manager.json',
    'config.json',
    'doctor.jsonl',
    'events.jsonl',
  ]);
  expect(entries['events.jsonl']).toBe('{"message":"one"}\n{"message":"two"}\n');
  expect(JSON.parse(entries['manager.json']!)).toMatchObject({ managers: [], processes: [] });
  const { items } = (await call('GET', '/log-bundles?_include=id,status')).body;
  expect(items).toEqual([{ id: 'b1', status: 'created' }]);
});

it('fails with its execution, and is deleted when nothing is left to do', async () => {
  cluster.carried.status = 'queued';
  await call('PUT', '/log-bundles/b2', { json: {} });
  const busy = await call('DELETE', '/log-bundles/b2');
  expect([busy.status, busy.body.error_code]).toEqual([400, 'log_bundle_action_error']);
  cluster.carried.status = 'cancelling';
  await ended('b2', 'failed');
  await eventually(async () => {
    await cluster.tick('drive-log-bundles');
    expect(cluster.carried.ends.at(-1)!.endStatus).toBe('cancelled');
  });
  const empty = await call('GET', '/log-bundles/b2/archive');
  expect([empty.status, empty.body.error_code]).toEqual([400, 'log_bundle_action_error']);
  await eventually(async () => expect((await call('DELETE', '/log-bundles/b2')).status).toBe(200));
  expect((await call('GET', '/log-bundles/b2')).status).toBe(404);
});

it('is seen by nobody else', async () => {
  const other = { as: { ...bob, tenant: 'default_tenant', permissions: [] } };
  expect((await cluster.call('GET', '/log-bundles/b1', other)).status).toBe(404);
  expect((await cluster.call('GET', '/log-bundles', other)).body.items).toEqual([]);
  expect((await call('PUT', '/log-bundles/bad%20name', { json: {} })).status).toBe(400);
});
