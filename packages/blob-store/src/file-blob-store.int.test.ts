import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describeBlobStore } from './blob-store.contract';
import { createFileBlobStore } from './file-blob-store';

const folder = () => mkdtemp(join(tmpdir(), 'baton-test-blobs-'));

describeBlobStore('file blob store', async () => {
  const root = await folder();
  return { store: createFileBlobStore({ root }), close: () => rm(root, { recursive: true }) };
});

test('a failed upload leaves no file, and a sweep removes what a dead process left', async () => {
  const root = await folder();
  const store = createFileBlobStore({ root });
  const incoming = join(root, 'incoming');
  await expect(store.put(Readable.from(['0123456789']), { maxBytes: 5 })).rejects.toThrow();
  expect(await readdir(incoming)).toEqual([]);
  await writeFile(join(incoming, 'old'), 'x');
  await writeFile(join(incoming, 'fresh'), 'x');
  await utimes(join(incoming, 'old'), new Date(0), new Date(0));
  await store.sweep();
  expect(await readdir(incoming)).toEqual(['fresh']);
  await rm(root, { recursive: true });
});

test('damaged content is never read to its end, nor a part of it', async () => {
  const root = await folder();
  const store = createFileBlobStore({ root });
  const content = randomBytes(300_000);
  const { digest } = await store.put(Readable.from([content]));
  const range = async () => (await store.open(digest, { start: 0, end: 9 })).toArray();
  expect(Buffer.concat(await range()).equals(content.subarray(0, 10))).toBe(true);
  content[299_999]! ^= 1;
  await writeFile(join(root, digest.slice(0, 2), digest), content);
  const read: Buffer[] = [];
  const whole = async () => {
    for await (const piece of await store.open(digest)) read.push(piece as Buffer);
  };
  await expect(whole()).rejects.toMatchObject({ code: 'service_unavailable_error' });
  expect(Buffer.concat(read).length).toBeLessThan(content.length);
  await expect(range()).rejects.toMatchObject({ message: `Stored content ${digest} is damaged` });
  // The original file, as from a backup.
  content[299_999]! ^= 1;
  await writeFile(join(root, digest.slice(0, 2), digest), content);
  await whole();
  expect(Buffer.concat(await range()).length).toBe(10);
  await rm(root, { recursive: true });
});

test('a reader finishes although the blob is deleted meanwhile', async () => {
  const root = await folder();
  const store = createFileBlobStore({ root });
  const { digest } = await store.put(Readable.from(['x'.repeat(500_000)]));
  const stream = await store.open(digest);
  await store.delete(digest);
  expect(Buffer.concat(await stream.toArray())).toHaveLength(500_000);
  await rm(root, { recursive: true });
});
