import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

/** Files of node instances: content, locks, limits, tenants, and what becomes of the blobs. */

let test: TestDeployments;
let files: string;
beforeAll(async () => {
  test = await startTestDeployments();
});
afterAll(() => test.stop());
beforeEach(async () => {
  const id = `d${Math.random().toString(36).slice(2)}`;
  await test.create(id);
  const { body } = await test.call('GET', `/node-instances?deployment_id=${id}`);
  files = `/node-instances/${body.items[0].id}/files`;
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const put = (name: string, content: string | Uint8Array, query = '') =>
  test.raw('PUT', `${files}/${name}${query}`, typeof content === 'string' ? bytes(content) : content);
const read = async (name: string) => {
  const answer = await test.raw('GET', `${files}/${name}`);
  return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()).toString('latin1') : answer.status;
};
const lock = (name: string, lock_id: string, more = {}) =>
  test.call('PUT', `${files}/${name}/lock`, { lock_id, ...more });
const names = async () => {
  const { body } = await test.call('GET', files);
  return body.items.map(({ name }: { name: string }) => name);
};
const stored = async () => {
  const digests: string[] = [];
  for await (const { digest } of test.blobs.list()) digests.push(digest);
  return digests.length;
};
const sweep = async () => {
  await sql`update loose_blobs set since = app_now() - interval '2 hours'`.execute(test.db.query);
  await test.parts.loops.find(({ name }) => name === 'sweep-instance-files')!.tickOnce();
};

it('keeps any bytes under a name, replaces them, and lists what there is', async () => {
  const all = Uint8Array.from({ length: 70_000 }, (_, i) => i % 256);
  expect((await put('plan.bin', all)).status).toBe(200);
  expect(await read('plan.bin')).toBe(Buffer.from(all).toString('latin1'));
  await put('state', 'first');
  await put('state', 'second');
  await put('empty', new Uint8Array());
  expect(await read('state')).toBe('second');
  expect(await read('empty')).toBe('');
  const { body } = await test.call('GET', files);
  expect(body.items.map(({ name, size }: { name: string; size: number }) => [name, size])).toEqual([
    ['empty', 0],
    ['plan.bin', 70_000],
    ['state', 6],
  ]);
  expect(body.items[2]).toMatchObject({
    sha256: createHash('sha256').update('second').digest('hex'),
    lock: null,
    updated_at: expect.any(String),
  });
  expect((await test.call('DELETE', `${files}/state`)).status).toBe(204);
  expect(await read('state')).toBe(404);
  expect((await test.call('DELETE', `${files}/state`)).status).toBe(404);
});

it('a locked file is written by its holder alone; others hear who has it', async () => {
  expect((await lock('state', 'a', { holder: 'apply of web' })).body).toMatchObject({
    name: 'state',
    size: null,
    lock: { holder: 'apply of web' },
  });
  expect(await lock('state', 'b')).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining('`state` is locked by apply of web until') },
  });
  expect((await put('state', 'x')).status).toBe(409);
  expect((await put('state', 'x', '?lock_id=b')).status).toBe(409);
  expect((await put('state', 'mine', '?lock_id=a')).status).toBe(200);
  expect((await test.call('DELETE', `${files}/state`)).status).toBe(409);
  expect((await test.call('DELETE', `${files}/state/lock?lock_id=b`)).status).toBe(409);
  expect((await lock('state', 'a', { seconds: 5 })).status).toBe(200);
  expect((await test.call('DELETE', `${files}/state/lock?lock_id=a`)).status).toBe(204);
  expect((await put('state', 'free')).status).toBe(200);
  expect(await read('state')).toBe('free');
});

it('a lock whose time is over is free for the next, and its holder cannot write any more', async () => {
  await lock('state', 'dead', { seconds: 1 });
  await put('state', 'before', '?lock_id=dead');
  await sql`update node_instance_file_locks set expires_at = app_now() - interval '1 second'`.execute(
    test.db.query,
  );
  expect((await put('state', 'late', '?lock_id=dead')).body).toBeDefined();
  expect(await put('state', 'late', '?lock_id=dead')).toMatchObject({ status: 409 });
  expect((await lock('state', 'next')).status).toBe(200);
  expect((await put('state', 'late', '?lock_id=dead')).status).toBe(409);
  expect(await read('state')).toBe('before');
});

it('of many that take a free lock at once one gets it', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => lock('state', `r${i}`)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
});

it('a person breaks the lock of another, without its id', async () => {
  await lock('state', 'gone', { holder: 'a laptop' });
  expect((await test.call('DELETE', `${files}/state/lock`)).status).toBe(204);
  expect((await lock('state', 'mine')).status).toBe(200);
});

it('names are one part of a path; others are refused by their field', async () => {
  for (const name of ['..%2Fx', '.hidden', 'a%20b', 'x'.repeat(129)])
    expect(await test.call('PUT', `${files}/${name}/lock`, { lock_id: 'a' })).toMatchObject({ status: 400 });
  expect((await lock('state', '')).status).toBe(400);
  expect((await lock('state', 'a', { seconds: 100_000 })).status).toBe(400);
});

it('other tenants see neither files nor instance, also of a global deployment', async () => {
  await put('state', 'secret');
  await sql`update deployments set visibility = 'global'`.execute(test.db.query);
  await sql`update node_instances set visibility = 'global'`.execute(test.db.query);
  const other = principal('eve', { tenant: 'other' });
  const tries = [
    ['GET', files],
    ['GET', `${files}/state`],
    ['DELETE', `${files}/state`],
    ['DELETE', `${files}/state/lock`],
  ] as const;
  for (const [method, path] of tries)
    expect((await test.raw(method, path, undefined, other)).status).toBe(404);
  expect((await test.raw('PUT', `${files}/state`, bytes('x'), other)).status).toBe(404);
  expect((await test.call('PUT', `${files}/state/lock`, { lock_id: 'x' }, other)).status).toBe(404);
  expect(await read('state')).toBe('secret');
});

it('an instance has at most 32 files, a tenant at most its storage, and a refused write leaves the old content', async () => {
  await put('state', 'old');
  for (let i = 1; i < 32; i++) expect((await put(`f${i}`, 'x')).status).toBe(200);
  expect((await put('f32', 'x')).status).toBe(409);
  expect((await names()).length).toBe(32);
  test.peers.limits.storageBytes = 1000;
  await test.parts.subscriptions[0]!.handler(undefined as never);
  const refused = await put('state', 'y'.repeat(2000));
  expect([refused.status, await refused.json()]).toEqual([
    429,
    expect.objectContaining({ message: expect.stringContaining('max_storage_bytes') }),
  ]);
  expect(await read('state')).toBe('old');
  test.peers.limits.storageBytes = undefined;
  await test.parts.subscriptions[0]!.handler(undefined as never);
});

it('files go with their instance; the sweep removes their blobs, and those alone', async () => {
  await sweep();
  const before = await stored();
  await put('state', 'one');
  await put('state', 'two');
  await put('kept', 'two');
  expect(await stored()).toBe(before + 3);
  await sweep();
  expect(await stored()).toBe(before + 2);
  expect(await read('kept')).toBe('two');
  await sql`delete from node_instances where id = ${files.split('/')[2]}`.execute(test.db.query);
  await sweep();
  expect(await stored()).toBe(before);
});
