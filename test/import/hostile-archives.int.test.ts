// Archives that are damaged or mean harm: each is refused, or loses its harmful part with a line in the report. The manager goes on,
// nothing of it has changed, and no value of an archive is in a report, a row or a log.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  legacyArchive,
  legacyEntries,
  makeEstate,
  pagesArchive,
  withName,
  zipBytes,
} from '@baton/cloudify-archive/testing';
import { type Importer, S71, startImporter } from './importer';

let importer: Importer;
beforeAll(async () => {
  importer = await startImporter({ workers: 0 });
}, 120_000);
afterAll(() => importer?.stop(), 60_000);

const CANARY = 'canary-71c2';
const estate = makeEstate();
const page = (content: string) => zipBytes([['tenants/t/00000001.json', Buffer.from(content)]]);
const pageOf = (type: string, ...items: object[]) => page(JSON.stringify({ type, items }));
const OWNED = { created_by: 'admin', created_at: '2026-01-01T00:00:00Z', visibility: 'tenant' };

interface Hostile {
  about: string;
  archive: () => Promise<Buffer> | Buffer;
  keys?: object;
  /** In the error of the import, which is refused. */
  refused?: RegExp;
  /** In a line of the report, of an import that is checked. */
  told?: RegExp;
}

const REFUSED: Hostile[] = [
  { about: 'no zip', archive: () => Buffer.from(CANARY.repeat(100)), refused: /zip/ },
  { about: 'half a zip', archive: () => readFileSync(S71).subarray(0, 20_000), refused: /zip|end/i },
  {
    about: 'an archive of something else',
    archive: () => zipBytes([['a.txt', Buffer.from(CANARY)]]),
    refused: /no snapshot of Cloudify/,
  },
  {
    about: 'a name that leads out of the archive',
    archive: async () =>
      withName(
        await zipBytes([['tenants/xx/evil.json', Buffer.from('{}')]]),
        'tenants/xx/evil',
        '../../../xx/evi',
      ),
    refused: /name|relative|\.\./,
  },
  {
    about: 'a page that is cut off',
    archive: () => page(`{"type": "sites", "items": [{"name": "${CANARY}"`),
    refused: /ends too early/,
  },
  {
    about: 'deep nesting',
    archive: () => page(`{"type": "sites", "items": [${'['.repeat(100_000)}`),
    refused: /deeper/,
  },
  {
    about: 'a page of zeros that unpacks to a thousand times its size',
    archive: () => zipBytes([['tenants/t/00000001.json', Buffer.alloc(300_000_000)]]),
    refused: /more than 300 to one/,
  },
  {
    about: 'a dump that is cut off behind a table',
    archive: async () => {
      const entries = legacyEntries(estate, '6.4');
      const dump = entries.get('pg_data')!.toString();
      return zipBytes(
        entries.set('pg_data', Buffer.from(dump.slice(0, dump.indexOf('COPY public.secrets') + 900))),
      );
    },
    refused: /cut off between two tables/,
  },
  {
    about: 'a key that is none',
    archive: () => legacyArchive(estate, '6.4'),
    keys: { encryption_key: 'short' },
    refused: /encryption key is none/,
  },
];

const LOST: Hostile[] = [
  {
    about: 'a pickle that runs a program',
    archive: () => {
      const hostile = Buffer.from(`cposix\nsystem\n(S'touch /tmp/${CANARY}'\ntR.`).toString('hex');
      return legacyArchive(estate, '6.4', {
        change: (rows) => void (rows.get('deployments')![0]!.inputs = `\\x${hostile}`),
      });
    },
    told: /posix\.system is not allowed/,
  },
  {
    about: 'secrets under another key',
    archive: () => legacyArchive(estate, '6.4'),
    keys: { encryption_key: Buffer.alloc(64, 3).toString('base64') },
    told: /the key is not the one that encrypted it/,
  },
  {
    about: 'an instance of a deployment that is not there',
    archive: () =>
      pageOf('node_instances', {
        ...OWNED,
        id: 'n_1',
        node_id: 'n',
        deployment_id: 'nowhere',
        runtime_properties: { password: CANARY },
      }),
    told: /nowhere|not in the archive|not imported|missing/,
  },
  {
    about: 'a deployment with a name that is a path',
    archive: () => pageOf('deployments', { ...OWNED, id: '../../etc', blueprint_id: 'b' }),
    told: /letters, digits|deployment/i,
  },
  {
    about: 'a secret of a name with SQL',
    archive: () => pageOf('secrets', { ...OWNED, key: `x'; drop table secrets; --`, value: CANARY }),
    told: /letter/,
  },
  {
    about: 'a blueprint whose archive leads out',
    archive: async () => {
      const name = Buffer.alloc(512);
      name.write('../../../../tmp/evil');
      return zipBytes([
        [
          'tenants/t/00000001.json',
          Buffer.from(
            JSON.stringify({
              type: 'blueprints',
              items: [{ ...OWNED, id: 'b', main_file_name: 'b.yaml', plan: {}, state: 'uploaded' }],
            }),
          ),
        ],
        ['tenants/t/blueprints/b.tar.gz', gzipSync(name)],
      ]);
    },
    told: /blueprint|archive/,
  },
];

async function expectUntouched(): Promise<void> {
  const { must, admin } = importer.caller;
  for (const list of ['deployments', 'blueprints', 'sites', 'secrets', 'plugins'])
    expect([list, (await must(admin, 'GET', `/${list}`)).items]).toEqual([list, []]);
  expect((await must(admin, 'GET', '/tenants')).items).toHaveLength(1);
}

test.each(REFUSED)(
  '$about is refused',
  async ({ archive, keys, refused }) => {
    const found = await importer.check(await archive(), {}, keys);
    expect([found.state, found.report_digest]).toEqual(['refused', null]);
    expect(found.error).toMatch(refused!);
    expect(found.error).not.toContain(CANARY);
    await expectUntouched();
  },
  60_000,
);

test.each(LOST)(
  '$about is lost, and the report says so',
  async ({ archive, keys, told }) => {
    const found = await importer.check(await archive(), {}, keys);
    expect([found.state, found.error]).toEqual(['checked', '']);
    const lines = await importer.report(found.id);
    const text = lines
      .map((line) => `${line.fate ?? line.kind} ${line.type} ${line.id}: ${line.text}`)
      .join('\n');
    expect(text).toMatch(told!);
    expect(JSON.stringify(lines)).not.toContain(CANARY);
    await expectUntouched();
  },
  60_000,
);

test('values of secrets, of inputs and of runtime properties are in no report and no log', async () => {
  const found = await importer.check(await pagesArchive(estate));
  const told = JSON.stringify([found, await importer.report(found.id)]);
  const logs = join(importer.fleet.dir, 'logs');
  const logged = readdirSync(logs)
    .map((name) => readFileSync(join(logs, name), 'utf8'))
    .join('');
  for (const canary of ['canary-secret', 'canary-input', CANARY]) {
    expect(told).not.toContain(canary);
    expect(logged).not.toContain(canary);
  }
});
