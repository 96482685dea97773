import { bufferSource } from '@baton/zip-reader';
import {
  ArchiveRefused,
  blobContent,
  blobFiles,
  detect,
  exactJson,
  MANAGER_TYPES,
  openArchive,
  placeText,
  records,
  TENANT_TYPES,
  type ValueObject,
} from './index';
import {
  type Estate,
  type Items,
  type LegacyWriteOptions,
  legacyArchive,
  legacyEntries,
  MADE_BY,
  makeEstate,
  manyEntries,
  type PageOptions,
  pageEntries,
  pagesArchive,
  readAll,
  withName,
  zipBytes,
} from './testing';

const estate: Estate = makeEstate();
const refusalOf = async (bytes: Buffer, options?: Parameters<typeof readAll>[1]): Promise<ArchiveRefused> => {
  try {
    await readAll(bytes, options);
  } catch (error) {
    if (error instanceof ArchiveRefused) return error;
    throw error;
  }
  throw new Error('the archive was read');
};

describe('made archives', () => {
  test('say in metadata and README that no original made them', async () => {
    for (const bytes of [await pagesArchive(estate), await legacyArchive(estate, '6.4')]) {
      const archive = await openArchive(bufferSource(bytes));
      expect((await archive.readSmall('README.txt')).toString()).toContain(MADE_BY);
      expect((await archive.readSmall('metadata.json')).toString()).toContain(MADE_BY);
      await archive.close();
    }
  });

  test('records come in the order of a restore: the manager, then tenant by tenant', async () => {
    for (const bytes of [await pagesArchive(estate), await legacyArchive(estate, '6.4')]) {
      const order = [
        ...MANAGER_TYPES.map((type) => `/${type}`),
        ...['default_tenant', 'empty', 'second'].flatMap((tenant) =>
          TENANT_TYPES.map((type) => `${tenant}/${type}`),
        ),
      ];
      const places = (await readAll(bytes)).records.map(({ tenant, type }) =>
        order.indexOf(`${tenant ?? ''}/${type}`),
      );
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(places).not.toContain(-1);
    }
  });

  test('every object that is read is yielded or skipped with a reason', async () => {
    for (const bytes of [
      await pagesArchive(estate),
      await legacyArchive(estate, '6.4'),
      await legacyArchive(estate, '5.0'),
    ]) {
      const { tally, records: all } = await readAll(bytes);
      let yielded = 0;
      for (const { read, yielded: count, skipped } of tally.types.values()) {
        expect(read).toBe(count + Object.values(skipped).reduce((sum, one) => sum + one, 0));
        yielded += count;
      }
      expect(yielded).toBe(all.length);
    }
  });
});

describe('the files of objects', () => {
  const contents = async (bytes: Buffer): Promise<Record<string, string>> => {
    const archive = await openArchive(bufferSource(bytes));
    const found: Record<string, string> = {};
    for await (const { type, blob } of records(archive)) {
      if (!blob) continue;
      if (blob.kind === 'folder') found[type] = [...blobFiles(archive, blob).keys()].join();
      else {
        const pieces: Buffer[] = [];
        for await (const piece of blobContent(archive, blob)) pieces.push(piece);
        found[type] = Buffer.concat(pieces).subarray(0, 2).toString('latin1');
      }
    }
    await archive.close();
    return found;
  };

  test('are an archive, a zip and a decoded zip in the new layout', async () => {
    expect(await contents(await pagesArchive(estate))).toEqual({
      blueprints: '\x1f\x8b',
      plugins: 'PK',
      deployments: 'PK',
    });
  });

  test('are an archive and two folders in the legacy layout', async () => {
    expect(await contents(await legacyArchive(estate, '6.4'))).toEqual({
      blueprints: '\x1f\x8b',
      plugins: 'demo-1.0-py36-none-linux_x86_64.wgn,plugin.yaml',
      deployments: 'state/terraform.tfstate',
    });
  });

  test('a working folder that is no base64 is refused', async () => {
    const entries = await pageEntries(estate);
    entries.set('tenants/default_tenant/deployments/web.b64zip', Buffer.from('UEsD*not base64*'));
    await expect(contents(await zipBytes(entries))).rejects.toThrow('it is no base64 text');
  });
});

describe('pages', () => {
  test('the later of two objects with one id counts', async () => {
    const late = { type: 'sites', items: [{ name: 'nowhere', location: '1, 2', visibility: 'global' }] };
    const options: PageOptions = { appended: { default_tenant: [late] } };
    const { records: all, skipped } = await readAll(await pagesArchive(estate, options));
    const sites = all.filter(({ type, tenant }) => type === 'sites' && tenant === 'default_tenant');
    expect(sites.map(({ item }) => item)).toMatchObject([
      { name: 'Zürich' },
      { name: 'nowhere', location: '1, 2', visibility: 'global' },
    ]);
    expect(skipped).toMatchObject([{ type: 'sites', reason: 'replaced', place: { item: 2 } }]);
  });

  test('events that were appended again are one event, and equal ones of one file are two', async () => {
    const event = { timestamp: '2021-01-01T00:00:00.000Z', message: 'same', type: 'cloudify_event' };
    const page = (items: object[]) =>
      ({ type: 'events', source: 'executions', source_id: 'x', items }) as never;
    const items: Items = {};
    const options: PageOptions = {
      appended: { t: [page([event, event]), page([event, { ...event, message: 'new' }])] },
    };
    const { records: all, skipped } = await readAll(
      await pagesArchive({ ...estate, tenants: { t: items }, blobs: {} }, options),
    );
    expect(all.filter(({ type }) => type === 'events')).toHaveLength(3);
    expect(skipped).toMatchObject([{ type: 'events', reason: 'repeated' }]);
  });

  test('an item of a wrong shape is skipped with its place, and the others are read', async () => {
    const page: ValueObject = {
      type: 'sites',
      items: [{ name: 7 }, { location: 'canary' }, { name: 'good', strange: 1, created_by: '' }],
    };
    const {
      records: all,
      skipped,
      tally,
    } = await readAll(
      await pagesArchive({ ...estate, tenants: { t: {} }, blobs: {} }, { appended: { t: [page] } }),
    );
    expect(all.filter(({ type }) => type === 'sites')).toMatchObject([
      { item: { name: 'good', visibility: 'tenant', created_by: null }, unknown: { strange: 1 } },
    ]);
    expect(skipped.map(({ message, place }) => `${placeText(place)}: ${message}`)).toEqual([
      'tenants/t/00000001.json, item 1, name: name is a number; expected a name of 1 to 1024 characters',
      'tenants/t/00000001.json, item 2, name: name is missing; expected a name of 1 to 1024 characters',
    ]);
    expect([...tally.unknownFields]).toEqual([['sites.strange', 1]]);
  });

  test('big integers are kept, NaN is noted, and the type may stand after the items', async () => {
    const entries = new Map([
      [
        'tenants/t/00000001.json',
        Buffer.from(
          '{"items": [{"id": "i", "node_id": "n", "runtime_properties": {"big": 18446744073709551617, "nan": [NaN], "__proto__": {"x": 1}}}], "source_id": "d", "type": "node_instances"}',
        ),
      ],
    ]);
    const { records: all } = await readAll(await zipBytes(entries));
    const [instance] = all.filter(({ type }) => type === 'node_instances');
    expect(exactJson(instance!.item as never)).toContain(
      '"runtime_properties":{"big":18446744073709551617,"nan":[null],"__proto__":{"x":1}}',
    );
    expect(instance!.notes.map(({ code, path }) => [code, path])).toEqual([
      ['big-integer', 'runtime_properties.big'],
      ['not-a-number', 'runtime_properties.nan[0]'],
    ]);
  });

  test.each([
    ['is cut off', '{"type": "sites", "items": [{"name": "a"', 'the JSON ends too early'],
    ['has no type', '{"items": []}', 'the page does not say its type'],
    ['is a list', '[]', 'expected a JSON object'],
    ['holds text in place of items', '{"type": "sites", "items": ["canary"]}', 'an item is no object'],
    ['is no JSON inside of an item', '{"type": "sites", "items": [{"name": canary}]}', 'it is no valid JSON'],
    ['goes on after its end', '{"type": "sites", "items": []} {}', 'there is more after the end'],
    [
      'is deep',
      `{"type": "sites", "items": [${'['.repeat(300)}${']'.repeat(300)}]}`,
      'it is nested deeper than 200',
    ],
    [
      'holds an item of a megabyte and more',
      `{"type": "sites", "items": [{"name": "${'x'.repeat(2 ** 20)}"}]}`,
      'it is larger than 1000000 bytes',
    ],
  ])('a page that %s is refused', async (_what, page, expected) => {
    const error = await refusalOf(await zipBytes([['tenants/t/00000001.json', Buffer.from(page)]]), {
      limits: { maxItemBytes: 1_000_000 },
    });
    expect(error.message).toContain(expected);
    expect(error.message).toContain('tenants/t/00000001.json');
    expect(error.message).not.toContain('canary');
  });

  test('a type that nobody writes is counted', async () => {
    const page = Buffer.from('{"type": "weather", "items": [{}, {}]}');
    const { tally } = await readAll(await zipBytes([['tenants/t/00000001.json', page]]));
    expect(tally.types.get('weather')).toEqual({ read: 2, yielded: 0, skipped: { 'unknown-type': 2 } });
  });
});

describe('dumps', () => {
  const dumpWith = async (change: (dump: string) => string): Promise<Buffer> => {
    const entries = legacyEntries(estate, '6.4');
    entries.set('pg_data', Buffer.from(change(entries.get('pg_data')!.toString())));
    return zipBytes(entries);
  };

  test('a dump that is cut off names the table', async () => {
    const error = await refusalOf(
      await dumpWith((dump) => dump.slice(0, dump.indexOf('COPY public.permissions') + 2000)),
    );
    expect(error).toMatchObject({ code: 'copy', place: { file: 'pg_data', table: 'permissions' } });
  });

  test('a line that is too long names table and line', async () => {
    const error = await refusalOf(await legacyArchive(estate, '6.4'), { limits: { maxLineBytes: 300 } });
    expect(error).toMatchObject({
      code: 'limit',
      place: { table: expect.any(String), line: expect.any(Number) },
    });
  });

  test('lines may end as Windows writes them', async () => {
    const plain = await readAll(await legacyArchive(estate, '6.4'));
    const windows = await readAll(await dumpWith((dump) => dump.replaceAll('\n', '\r\n')));
    expect(windows.records.map(({ item }) => item)).toEqual(plain.records.map(({ item }) => item));
  });

  test('a hostile pickle skips its row, with table, line, column and class', async () => {
    const hostile = Buffer.from("cposix\nsystem\n(S'canary'\ntR.").toString('hex');
    const options: LegacyWriteOptions = {
      change: (rows) => void (rows.get('deployments')![0]!.inputs = `\\x${hostile}`),
    };
    const { records: all, skipped } = await readAll(await legacyArchive(estate, '6.4', options));
    expect(skipped).toContainEqual({
      type: 'deployments',
      tenant: 'default_tenant',
      reason: 'unreadable',
      message: 'the pickle is refused: the class posix.system is not allowed in a pickle',
      place: { file: 'pg_data', table: 'deployments', line: expect.any(Number), field: 'inputs' },
    });
    expect(all.filter(({ type }) => type === 'deployments')).toHaveLength(1);
  });

  test('a wrong key is told from damage, and no secret is yielded with it', async () => {
    const other = Buffer.alloc(64, 3).toString('base64');
    const { records: all, skipped } = await readAll(await legacyArchive(estate, '6.4'), {
      encryptionKey: other,
    });
    expect(all.filter(({ type }) => type === 'secrets')).toEqual([]);
    expect(skipped.filter(({ type }) => type === 'secrets').map(({ message }) => message)).toEqual(
      Array(2).fill('value cannot be decrypted: the key is not the one that encrypted it'),
    );
    await expect(
      readAll(await legacyArchive(estate, '6.4'), { encryptionKey: 'short' }),
    ).rejects.toMatchObject({ code: 'key' });
  });

  test('rows that refer to nothing are skipped or noted', async () => {
    const options: LegacyWriteOptions = {
      change: (rows) => {
        rows.get('node_instances')![0]!._node_fk = '99999';
        rows.get('deployments')![0]!._site_fk = '99999';
        rows.get('sites')![2]!._tenant_id = '99999';
      },
    };
    const { records: all, skipped, tally } = await readAll(await legacyArchive(estate, '6.4', options));
    expect(skipped).toContainEqual(expect.objectContaining({ type: 'node_instances', reason: 'dangling' }));
    const web = all.find(({ type, item }) => type === 'deployments' && item.id === 'web');
    expect(web).toMatchObject({
      item: { site_name: null },
      notes: [{ code: 'reference-missing', path: 'site_name' }],
    });
    expect(tally.types.get('sites')).toEqual({ read: 3, yielded: 2, skipped: { 'foreign-tenant': 1 } });
  });

  test('a table without a column that must be there is refused', async () => {
    const error = await refusalOf(
      await dumpWith((dump) => dump.replace('COPY public.sites (_storage_id,', 'COPY public.sites (other,')),
    );
    expect(error.message).toBe('pg_data, table sites: the table lacks the column _storage_id');
  });

  test('statements are told and never run; unknown tables and columns are counted', async () => {
    const strange =
      'CREATE FUNCTION evil() AS $$\ncanary;\nCOPY public.weather (day) FROM stdin;\nsunny\nrain\n\\.\n';
    const { tally } = await readAll(
      await dumpWith(
        (dump) =>
          strange +
          dump.replace('COPY public.sites (_storage_id, id, ', 'COPY public.sites (_storage_id, colour, '),
      ),
    );
    expect(tally.types.get('weather')).toEqual({ read: 2, yielded: 0, skipped: { 'not-carried': 2 } });
    expect(tally.unknownFields.get('sites.colour')).toBe(3);
    expect([...tally.statements.keys()].join()).not.toContain('canary');
  });

  test('more rows than the index may hold are refused', async () => {
    const error = await refusalOf(await legacyArchive(estate, '6.4'), { limits: { maxIndexEntries: 10 } });
    expect(error).toMatchObject({ code: 'limit' });
  });

  test('a community archive without schema revisions, or without metadata, is a legacy archive', async () => {
    const entries = legacyEntries(estate, '6.4');
    entries.set('metadata.json', Buffer.from('{"snapshot_version": "6.4.2"}'));
    const archive = await openArchive(bufferSource(await zipBytes(entries)));
    expect(await detect(archive)).toMatchObject({
      layout: 'legacy',
      family: '6.4',
      notCarried: { 'certificates and private keys of the manager': { files: 1 } },
    });
    entries.delete('metadata.json');
    const bare = await openArchive(bufferSource(await zipBytes(entries)));
    expect(await detect(bare)).toMatchObject({ layout: 'legacy', family: null });
  });
});

describe('archives that are none', () => {
  test.each([
    ['text', Buffer.from('hello'), 'it cannot be read as a zip'],
    ['nothing', Buffer.alloc(0), 'it cannot be read as a zip'],
  ])('%s is refused', async (_what, bytes, expected) => {
    expect((await refusalOf(bytes)).message).toContain(expected);
  });

  test('a zip of something else is refused with what was expected', async () => {
    const error = await refusalOf(await zipBytes([['holiday.jpg', Buffer.from('x')]]));
    expect(error).toMatchObject({ code: 'layout' });
    expect(error.message).toContain('expected pg_data (5.0.5 to 6.4), or mgmt/00000001.json');
    expect(error.message).toContain('but found holiday.jpg');
  });

  test('a directory of zip64 with more entries than are allowed is refused', async () => {
    const many = manyEntries(70_000, (i) => `tenants/t/${i}`);
    await expect(openArchive(bufferSource(many), { maxEntries: 69_999 })).rejects.toThrow(
      'there are too many entries',
    );
    expect((await openArchive(bufferSource(many))).entries.size).toBe(70_000);
  });

  test('a name that leaves the folder is refused', async () => {
    const zip = await zipBytes([['aa/aa/evil', Buffer.from('x')]]);
    expect((await refusalOf(withName(zip, 'aa/aa/evil', '../../evil'))).code).toBe('zip');
  });
});
