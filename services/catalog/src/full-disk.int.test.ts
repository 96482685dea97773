import { randomBytes } from 'node:crypto';
import { mountSmallDisk, onSmallDisks, type SmallDisk } from '@baton/testkit';
import { tgzOf } from './testing/archives';
import { startCatalog, type TestCatalog } from './testing/catalog-setup';

const MAIN =
  'tosca_definitions_version: cloudify_dsl_1_4\nnode_types:\n  root: {}\nnode_templates:\n  web: {type: root}\n';

/** Makes an archive of incompressible content, so that it is as large as `bytes`. */
const archive = (bytes: number): Promise<Buffer> =>
  tgzOf([
    { name: 'bp/blueprint.yaml', content: MAIN },
    { name: 'bp/large.bin', content: randomBytes(bytes) },
  ]);

onSmallDisks(__filename, () => {
  describe('a catalog whose files lie on a disk of 4 MiB', () => {
    let disk: SmallDisk;
    let catalog: TestCatalog;
    beforeAll(async () => {
      catalog = await startCatalog({
        onRoot: (root) => {
          disk = mountSmallDisk(root, 4 * 1_048_576);
        },
      });
    });
    afterAll(async () => {
      disk.unmount();
      await catalog.close();
    });
    const upload = async (id: string, bytes: number, query = '') =>
      catalog.call('PUT', `/blueprints/${id}${query}`, {
        raw: await archive(bytes),
        contentType: 'application/octet-stream',
      });
    const ids = async (): Promise<string[]> =>
      (await catalog.call('GET', '/blueprints')).body.items.map(({ id }: { id: string }) => id);

    // First case: no space for the archive itself. Second case: space for the archive, but not for its unpacked files.
    it.each([5_000_000, 2_500_000])(
      'refuses an archive of %i bytes with 507 and a sentence, and shows nothing of it',
      async (bytes) => {
        const answer = await upload('too-large', bytes);
        expect([answer.status, answer.body.error_code, answer.body.message]).toEqual([
          507,
          'insufficient_storage_error',
          'There is no room left for the file store',
        ]);
        expect(answer.headers.get('retry-after')).toBe('30');
        expect(await ids()).not.toContain('too-large');
        expect((await catalog.call('GET', '/blueprints/too-large')).status).toBe(404);
      },
    );

    it('refuses one in the background and a file of a deployment in the same way', async () => {
      const accepted = await upload('later', 5_000_000, '?async_upload=true');
      expect([accepted.status, accepted.body.error_code]).toEqual([507, 'insufficient_storage_error']);
      expect(await ids()).not.toContain('later');
      catalog.known.set('default_tenant/dep', '');
      const file = await catalog.call('PUT', '/resources/deployments/default_tenant/dep/large.bin', {
        raw: randomBytes(5_000_000),
        contentType: 'application/octet-stream',
      });
      expect([file.status, file.body.error_code]).toEqual([507, 'insufficient_storage_error']);
    });

    it('answers 503 while the disk can only be read, and works again after it', async () => {
      disk.remount('ro');
      const answer = await upload('read-only', 1_000);
      expect([answer.status, answer.body.message]).toEqual([
        503,
        'The disk with the file store can only be read at the moment',
      ]);
      expect(await ids()).not.toContain('read-only');
      disk.remount('rw');
      expect((await upload('read-only', 1_000)).status).toBe(201);
    });
  });
});
