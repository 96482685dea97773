// Archives that no original made (packages/cloudify-archive/testing), in the layouts of several releases: what the check says is
// what is here afterwards.
import { type Estate, legacyArchive, pagesArchive, RELEASES } from '@baton/cloudify-archive/testing';
import { estateOfItsOwn } from './fitting-estate';
import { type Importer, startImporter } from './importer';

let importer: Importer;
beforeAll(async () => {
  importer = await startImporter({ workers: 0 });
}, 120_000);
afterAll(() => importer?.stop(), 60_000);

type Made = [release: string, write: (estate: Estate) => Promise<Buffer>];
const MADE: Made[] = [
  ['pages 7.0', (estate) => pagesArchive(estate)],
  ...RELEASES.map((release): Made => [`legacy ${release}`, (estate) => legacyArchive(estate, release)]),
];

test.each(MADE)(
  'an archive of %s',
  async (release, write) => {
    const suffix = release.replaceAll(/\W/g, '');
    const archive = await write(estateOfItsOwn(suffix));
    const tenants = { default_tenant: `main-${suffix}`, second: `second-${suffix}`, empty: null };
    const checked = await importer.check(archive, { tenants });
    expect(checked).toMatchObject({ error: '', state: 'checked' });
    const lost = (await importer.report(checked.id)).filter(({ fate }) => fate === 'lost');
    expect(lost.map(({ type, id, code }) => `${type} ${id} ${code}`)).toEqual(['users zoë invalid']);
    const applied = await importer.apply(checked);
    expect([applied.state, applied.error]).toEqual(['applied', '']);
    const path = importer.file(`${suffix}.zip`, archive);
    const { compared, found } = await importer.verify(
      path,
      '--tenant-map',
      `default_tenant=${tenants.default_tenant}`,
      '--tenant-map',
      `second=${tenants.second}`,
      '--import',
      checked.id,
    );
    expect(found).toEqual([]);
    expect(compared).toBeGreaterThan(20);
  },
  120_000,
);
