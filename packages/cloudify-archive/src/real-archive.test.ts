import { join } from 'node:path';
import { fileSource } from '@baton/zip-reader';
import { type ArchiveRecord, blobContent, detect, openArchive, records } from './index';

/** Written by a Cloudify Manager 7.1 (community). */
const ARCHIVE = join(__dirname, '../test-archives/cloudify-7.1-community.zip');

async function readAll() {
  const archive = await openArchive(await fileSource(ARCHIVE));
  try {
    const stream = records(archive);
    const all: ArchiveRecord[] = [];
    for await (const record of stream) all.push(record);
    return { all, tally: stream.tally };
  } finally {
    await archive.close();
  }
}

test('tells layout, version and the execution that wrote it', async () => {
  const archive = await openArchive(await fileSource(ARCHIVE));
  const found = await detect(archive);
  expect(found).toMatchObject({ layout: 'new', family: '7.1', notCarried: {} });
  expect(found.metadata).toMatchObject({
    version: '7.1.0',
    executionId: 'be7ebfbd-a1db-48ee-b952-23801a3c3049',
    schemaRevision: null,
  });
  await archive.close();
});

test('yields every object once, in the order of a restore, and knows all fields', async () => {
  const { all, tally } = await readAll();
  expect([...tally.types].map(([type, { read, yielded }]) => [type, read, yielded])).toEqual([
    ['tenants', 2, 2],
    ['permissions', 844, 844],
    ['sites', 1, 1],
    ['secrets', 2, 2],
    ['blueprints', 1, 1],
    ['deployments', 2, 2],
    ['nodes', 4, 4],
    ['node_instances', 6, 6],
    ['executions', 5, 5],
    ['events', 73, 73],
    ['deployments_filters', 1, 1],
    ['tasks_graphs', 1, 1],
    ['execution_schedules', 1, 1],
  ]);
  expect([...tally.unknownFields]).toEqual([]);
  expect(all).toHaveLength(943);
});

test('items have the fields of their type, whatever the archive lacks', async () => {
  const { all } = await readAll();
  const instance = all.find(({ type }) => type === 'node_instances');
  expect(instance).toMatchObject({
    tenant: 'default_tenant',
    item: {
      deployment_id: 'snap-a',
      node_id: 'host',
      id: 'host_94csij',
      state: 'started',
      version: 1,
      runtime_properties: { msg: 'made' },
    },
    place: { file: 'tenants/default_tenant/00000007.json', item: 1 },
  });
  const event = all.find(({ type }) => type === 'events');
  expect(event?.item).toMatchObject({ execution_id: expect.any(String), execution_group_id: null });
  const secret = all.find(({ type, item }) => type === 'secrets' && item.key === 'snap-hidden');
  expect(secret?.item).toMatchObject({ value: 'hidden-value', is_hidden_value: true, created_by: 'admin' });
});

test('the archive of a blueprint can be read', async () => {
  const archive = await openArchive(await fileSource(ARCHIVE));
  for await (const { type, blob } of records(archive)) {
    if (type !== 'blueprints') continue;
    const pieces: Buffer[] = [];
    for await (const piece of blobContent(archive, blob!)) pieces.push(piece);
    // The mark of gzip.
    expect(Buffer.concat(pieces).subarray(0, 2).toString('hex')).toBe('1f8b');
  }
  await archive.close();
  expect.assertions(1);
});
