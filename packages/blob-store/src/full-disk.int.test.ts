import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { isAppError } from '@baton/kernel';
import { mountSmallDisk, onSmallDisks, type SmallDisk } from '@baton/testkit';
import { type BlobStore, createFileBlobStore } from './index';
import { rm } from './remove';

onSmallDisks(__filename, () => {
  describe('the file store on a disk of 1 MiB', () => {
    let root: string;
    let disk: SmallDisk;
    let store: BlobStore;
    beforeEach(async () => {
      root = await mkdtemp(join(tmpdir(), 'blob-disk-'));
      disk = mountSmallDisk(root, 1_048_576);
      store = createFileBlobStore({ root });
    });
    afterEach(async () => {
      disk.unmount();
      await rm(root);
    });
    const failure = (bytes: number): Promise<unknown> =>
      store.put(Readable.from([randomBytes(bytes)])).then(
        () => null,
        (error: unknown) => error,
      );

    test.each([900_000, 1_048_577, 5_000_000])(
      'refuses what has no room after %i bytes with 507, and keeps nothing',
      async (bytes) => {
        const { digest } = await store.put(Readable.from([randomBytes(300_000)]));
        const error = await failure(bytes);
        expect(isAppError(error, 'insufficient_storage_error') && error.message).toBe(
          'There is no room left for the file store',
        );
        expect(await readdir(join(root, 'incoming'))).toEqual([]);
        // Blobs stored before are intact, and there is space again.
        expect((await (await store.open(digest)).toArray()).length).toBeGreaterThan(0);
        expect(await failure(300_000)).toBeNull();
      },
    );

    test('that can only be read says so with 503, and is read', async () => {
      const { digest } = await store.put(Readable.from(['kept']));
      disk.remount('ro');
      const error = await failure(10);
      expect(isAppError(error, 'service_unavailable_error') && error.message).toBe(
        'The disk with the file store can only be read at the moment',
      );
      expect(Buffer.concat(await (await store.open(digest)).toArray()).toString()).toBe('kept');
      disk.remount('rw');
      expect(await failure(10)).toBeNull();
    });
  });
});
