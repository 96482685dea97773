import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { isAppError } from '@baton/kernel';
import type { BlobStore, ListedBlob } from './index';

const digestOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
const read = async (stream: Readable): Promise<Buffer> => Buffer.concat(await stream.toArray());
const all = async (store: BlobStore, after?: string): Promise<ListedBlob[]> => {
  const found: ListedBlob[] = [];
  for await (const blob of store.list(after)) found.push(blob);
  return found;
};

/** The contract of every blob store (port.ts). `open` creates an empty one. */
export function describeBlobStore(
  name: string,
  open: () => Promise<{ store: BlobStore; close(): Promise<void> }>,
): void {
  describe(name, () => {
    let store: BlobStore;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ store, close } = await open());
      await store.ping();
    });
    afterEach(() => close());

    test.each([0, 1, 3_000_000])('keeps %i bytes under their SHA-256', async (size) => {
      const content = randomBytes(size);
      const stored = await store.put(
        Readable.from(size === 0 ? [] : [content.subarray(0, 1), content.subarray(1)]),
      );
      expect(stored).toEqual({ digest: digestOf(content), size });
      expect((await read(await store.open(stored.digest))).equals(content)).toBe(true);
      expect(await store.stat(stored.digest)).toEqual({ size });
    });

    test('gives the bytes of a range', async () => {
      const content = randomBytes(200_000);
      const { digest } = await store.put(Readable.from([content]));
      const part = async (start: number, end: number) => read(await store.open(digest, { start, end }));
      expect((await part(0, 0)).equals(content.subarray(0, 1))).toBe(true);
      expect((await part(70_000, 150_000)).equals(content.subarray(70_000, 150_001))).toBe(true);
      expect((await part(199_999, 199_999)).equals(content.subarray(199_999))).toBe(true);
    });

    test('the same content from many at once is one blob', async () => {
      const content = randomBytes(10_000);
      await Promise.all(Array.from({ length: 8 }, () => store.put(Readable.from([content]))));
      expect((await all(store)).map(({ digest, size }) => ({ digest, size }))).toEqual([
        { digest: digestOf(content), size: 10_000 },
      ]);
    });

    test('putting content again renews its time, so that a sweep of old orphans spares it', async () => {
      const put = () => store.put(Readable.from([Buffer.from('again')]));
      await put();
      const [first] = await all(store);
      // Repeats until the clock has moved on, however coarse it is.
      let renewed = first;
      while (renewed && first && renewed.modifiedMs <= first.modifiedMs) {
        await put();
        [renewed] = await all(store);
      }
      expect(renewed?.modifiedMs).toBeGreaterThan(first?.modifiedMs ?? Number.POSITIVE_INFINITY);
    });

    test('refuses more than maxBytes, stops reading, and leaves nothing behind', async () => {
      let produced = 0;
      const endless = new Readable({
        read() {
          produced += 10_000;
          this.push(randomBytes(10_000));
        },
      });
      const error = await store.put(endless, { maxBytes: 100_000 }).catch((e) => e);
      expect(isAppError(error, 'payload_too_large_error')).toBe(true);
      expect(endless.destroyed).toBe(true);
      expect(produced).toBeLessThan(1_000_000);
      expect(await all(store)).toEqual([]);
      expect((await store.put(Readable.from([randomBytes(100)]), { maxBytes: 100 })).size).toBe(100);
    });

    test('an upload that breaks off leaves nothing behind', async () => {
      const broken = Readable.from(
        (async function* () {
          yield randomBytes(1_000);
          throw new Error('connection reset');
        })(),
      );
      await expect(store.put(broken)).rejects.toThrow('connection reset');
      expect(await all(store)).toEqual([]);
    });

    test('an absent blob: stat null, open not found, delete quiet; names that are no digests never reach the store', async () => {
      for (const digest of ['0'.repeat(64), '../../etc/passwd', '']) {
        expect(await store.stat(digest)).toBeNull();
        expect(isAppError(await store.open(digest).catch((e) => e), 'not_found_error')).toBe(true);
        await store.delete(digest);
      }
    });

    test('deletes, and lists in order from any point', async () => {
      const digests = (
        await Promise.all(Array.from({ length: 8 }, (_, i) => store.put(Readable.from([`blob ${i}`]))))
      )
        .map((b) => b.digest)
        .sort();
      expect((await all(store)).map((b) => b.digest)).toEqual(digests);
      expect((await all(store, digests[4])).map((b) => b.digest)).toEqual(digests.slice(5));
      await store.delete(digests[0] as string);
      expect(await store.stat(digests[0] as string)).toBeNull();
      expect((await all(store)).map((b) => b.digest)).toEqual(digests.slice(1));
    });
  });
}
