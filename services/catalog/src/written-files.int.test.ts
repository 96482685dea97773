// Files that clients and operations write (reference/rest-api.md 5.30).
import { gunzipSync } from 'node:zlib';
import { buildMessage, deploymentDeleted } from '@baton/contracts';
import { isoInstant, systemClock } from '@baton/kernel';
import { extract } from 'tar-stream';
import { sweepOnce } from './commands/sweep-blobs';
import { tgzOf, zipOf } from './testing/archives';
import { admin, startCatalog, type TestCatalog, userOf } from './testing/catalog-setup';

let catalog: TestCatalog;
let call: TestCatalog['call'];
const LARGE = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));
const bob = { ...userOf('bob'), permissions: ['file_server_auth', 'deployment_update', 'blueprint_upload'] };
const at = (path: string, id = 'd') => `/resources/deployments/default_tenant/${id}/${path}`;
const put = (path: string, raw: Buffer | string, more = {}) =>
  call('PUT', path, { raw: Buffer.from(raw), contentType: 'application/octet-stream', as: bob, ...more });
const folder = (id: string) => ({ area: 'deployments', tenant: 'default_tenant', folder: id });

beforeAll(async () => {
  catalog = await startCatalog({
    env: {
      BATON_FOLDER_MAX_FILES: '20',
      BATON_FOLDER_MAX_BYTES: '500000',
      BATON_FOLDER_MAX_FILE_BYTES: '200000',
    },
  });
  ({ call } = catalog);
  for (const id of ['d', 'e', 'f', 'w', 'full']) catalog.known.set(`default_tenant/${id}`, '');
  catalog.known.set('default_tenant/hers', 'alice');
});
afterAll(() => catalog.close());

interface Part {
  name: string;
  file?: string;
  content: string | Buffer;
}
/** Makes a multipart body as the Python client does. */
function form(parts: Part[]) {
  const lines = parts.flatMap(({ name, file, content }) => [
    Buffer.from(
      `--XX\r\nContent-Disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}\r\n\r\n`,
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return {
    raw: Buffer.concat([...lines, Buffer.from('--XX--\r\n')]),
    contentType: 'multipart/form-data; boundary=XX',
    as: bob,
  };
}

it('a file is written, read with ranges and validators, replaced and removed, on both ways', async () => {
  expect((await call('GET', at(''), { as: bob })).body).toEqual({});
  expect((await put(at('state/a.txt'), 'hello')).body).toEqual({
    'state/a.txt': expect.stringMatching(/\+00:00$/),
  });
  await put(at('large.bin'), LARGE);
  const read = await call('GET', at('state/a.txt'), { as: bob });
  expect(read.bytes.toString()).toBe('hello');
  expect(read.headers.get('content-security-policy')).toMatch(/^sandbox/);
  const proxy = '/file-server-proxy/deployments/default_tenant/d/';
  expect((await call('GET', `${proxy}large.bin`, { as: bob })).bytes.equals(LARGE)).toBe(true);
  const range = await call('GET', at('large.bin'), { headers: { range: 'bytes=5-9' } });
  expect(range.status).toBe(206);
  expect(range.bytes.equals(LARGE.subarray(5, 10))).toBe(true);
  const etag = read.headers.get('etag')!;
  expect((await call('GET', at('state/a.txt'), { headers: { 'if-none-match': etag } })).status).toBe(304);
  await put(`${proxy}state/a.txt`, 'other');
  expect(
    (await call('GET', at('state/a.txt'), { headers: { 'if-none-match': etag } })).bytes.toString(),
  ).toBe('other');
  expect(Object.keys((await call('GET', proxy)).body)).toEqual(['large.bin', 'state/a.txt']);
  expect(Object.keys((await call('GET', at('state/.cloudify-index.json'))).body)).toEqual(['a.txt']);
  expect((await call('DELETE', `${proxy}state/a.txt`, { as: bob })).status).toBe(204);
  expect((await call('DELETE', `${proxy}state/a.txt`, { as: bob })).status).toBe(404);
  expect((await call('GET', at('state/'))).status).toBe(404);
  expect((await call('DELETE', at(''), { as: bob })).status).toBe(204);
  expect((await call('GET', at(''))).body).toEqual({});
});

it('multipart: the time of the sender to the microsecond, several files into a folder, an empty file', async () => {
  const time = '2026-01-02T03:04:05.678901+00:00';
  const one = form([
    { name: 'file', file: '/tmp/x', content: 'x' },
    { name: 'mtime', content: time },
  ]);
  expect((await call('PUT', at('x', 'e'), one)).body).toEqual({ x: time });
  const seconds = form([
    { name: 'file', file: 'y', content: '' },
    { name: 'mtime', content: '1700000000' },
  ]);
  expect((await call('PUT', at('y', 'e'), seconds)).body).toEqual({ y: '2023-11-14T22:13:20+00:00' });
  const two = form([
    { name: 'a', file: 'a.txt', content: 'a' },
    { name: 'b', file: 'sub/b.txt', content: 'b' },
  ]);
  const written = (await call('POST', at('in', 'e'), two)).body;
  expect(Object.keys(written)).toEqual(['in/a.txt', 'in/sub/b.txt']);
  expect((await call('PUT', at('z', 'e'), two)).body.error_code).toBe('multiple_files_upload_exception');
  expect((await call('PUT', at('empty', 'e'), { as: bob })).status).toBe(200);
  expect((await call('GET', at('empty', 'e'))).bytes.length).toBe(0);
  const none = form([{ name: 'mtime', content: time }]);
  expect((await call('POST', at('', 'e'), none)).body.error_code).toBe('upload_missing_file');
  expect((await call('POST', at('', 'e'), { raw: Buffer.from('x'), as: bob })).body.error_code).toBe(
    'upload_missing_file',
  );
  const bad = form([
    { name: 'file', file: 'x', content: 'x' },
    { name: 'mtime', content: 'yesterday' },
  ]);
  expect((await call('PUT', at('x', 'e'), bad)).body).toMatchObject({
    error_code: 'bad_parameters_error',
    field: 'mtime',
  });
});

it('extract unpacks into the folder, archive packs it', async () => {
  const archive = await tgzOf([
    { name: './', type: 'directory' },
    { name: './run.sh', content: 'echo', mode: 0o755 },
    { name: './deep/large.bin', content: LARGE },
    { name: './deep/link', type: 'symlink', link: '../run.sh' },
  ]);
  expect((await put(`${at('', 'f')}?extract=yes`, archive)).status).toBe(200);
  const zip = zipOf([{ name: 'z.txt', content: 'zip' }]);
  expect(Object.keys((await put(`${at('more/', 'f')}?extract=True`, zip)).body)).toEqual(['more/z.txt']);
  const packed = await call('GET', `${at('', 'f')}?archive=True`, { as: bob });
  expect(packed.headers.get('content-disposition')).toBe('attachment; filename="f.tar.gz"');
  const files: Record<string, [string, number | undefined]> = {};
  const tar = extract();
  tar.end(gunzipSync(packed.bytes));
  for await (const entry of tar) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    files[entry.header.name] = [Buffer.concat(chunks).toString('latin1'), entry.header.mode];
  }
  expect(files).toEqual({
    'run.sh': ['echo', 0o755],
    'deep/large.bin': [LARGE.toString('latin1'), 0o644],
    'deep/link': ['echo', 0o755],
    'more/z.txt': ['zip', 0o644],
  });
  const evil = await tgzOf([{ name: '../out', content: 'x' }]);
  expect((await put(`${at('', 'f')}?extract=true`, evil)).body).toMatchObject({
    error_code: 'bad_parameters_error',
    field: 'extract',
  });
  expect((await put(`${at('', 'f')}?extract=true`, 'no archive')).status).toBe(400);
  expect((await put(`${at('', 'f')}?extract=perhaps`, archive)).status).toBe(400);
});

it.each(['..%2fx', 'a%2f..%2fb', 'a//b', 'a%5cb', '%00', '.cloudify-index.json', ''])(
  'nothing is written to the path "%s"',
  async (path) => {
    expect((await put(at(path), 'x')).status).toBe(400);
    expect((await call('GET', at(''))).body).toEqual({});
  },
);

it('holds to its caps, and to a tree that a disk can hold; a refused write changes nothing', async () => {
  await put(at('a', 'full'), 'a');
  expect((await put(at('a/b', 'full'), 'x')).body.error_code).toBe('conflict_error');
  await put(at('c/d', 'full'), 'x');
  expect((await put(at('c', 'full'), 'x')).body.error_code).toBe('conflict_error');
  expect((await put(at('big', 'full'), Buffer.alloc(200_001))).status).toBe(413);
  for (const name of ['1', '2'])
    expect((await put(at(name, 'full'), Buffer.alloc(200_000))).status).toBe(200);
  expect((await put(at('3', 'full'), Buffer.alloc(200_000))).status).toBe(413);
  const many = await tgzOf(Array.from({ length: 17 }, (_, i) => ({ name: `m${i}`, content: '' })));
  expect((await put(`${at('', 'full')}?extract=yes`, many)).status).toBe(413);
  expect(Object.keys((await call('GET', at('', 'full'))).body)).toEqual(['1', '2', 'a', 'c/d']);
  // Existing files may be replaced even when the folder is full.
  expect((await put(at('1', 'full'), 'small')).status).toBe(200);
});

it('whoever does not see the deployment does not see its folder', async () => {
  const alice = { ...userOf('alice'), permissions: bob.permissions };
  expect((await put(at('x', 'hers'), 'x', { as: alice })).status).toBe(200);
  expect((await call('GET', at('x', 'hers'), { as: bob })).body.error_code).toBe('not_found_error');
  expect((await put(at('y', 'hers'), 'x')).status).toBe(404);
  expect((await call('DELETE', at('x', 'hers'), { as: bob })).status).toBe(404);
  expect((await call('GET', at('x', 'nosuch'))).status).toBe(404);
  expect((await call('GET', '/resources/deployments/elsewhere/d/')).status).toBe(404);
});

it('files of a tenant are its own, those of everybody are everybody’s', async () => {
  const eve = { ...userOf('eve', 'elsewhere'), permissions: bob.permissions };
  await put('/resources/tenant-resources/default_tenant/t.txt', 'ours');
  expect(
    (await call('GET', '/resources/tenant-resources/default_tenant/t.txt', { as: bob })).bytes.toString(),
  ).toBe('ours');
  expect((await call('GET', '/resources/tenant-resources/elsewhere/', { as: eve })).body).toEqual({});
  expect((await call('GET', '/resources/tenant-resources/default_tenant/t.txt', { as: eve })).status).toBe(
    404,
  );
  const nowhere = { ...admin, tenant: '' };
  await put('/resources/global-resources/g/x.txt', 'all', { as: nowhere });
  expect(
    (
      await call('GET', '/resources/global-resources/g/x.txt', { as: { ...eve, tenant: '' } })
    ).bytes.toString(),
  ).toBe('all');
});

it('goes with its deployment; what a newer one of the name has written stays', async () => {
  await put(at('old', 'e'), LARGE);
  const consumer = catalog.parts.consumers.find((one) => one.message === deploymentDeleted)!;
  const gone = (time: string) =>
    consumer.handler(
      buildMessage(
        deploymentDeleted,
        { tenant: 'default_tenant', key: 'e', time },
        { deploymentId: 'e', deleteLogs: false },
      ),
      new AbortController().signal,
    );
  await gone('2020-01-01T00:00:00.000Z');
  expect((await call('GET', at('', 'e'))).body).toHaveProperty('old');
  await gone(isoInstant(systemClock.now() + 60_000));
  await gone(isoInstant(systemClock.now() + 60_000));
  expect((await call('GET', at('', 'e'))).body).toEqual({});
});

it('blobs of what is gone are swept, those in use stay', async () => {
  const other = Buffer.concat([LARGE, LARGE.subarray(0, 90_000)]);
  await put(at('keep', 'w'), LARGE);
  await put(at('gone', 'w'), other);
  const { digest } = (await catalog.rpc.getFolder({ folder: folder('w') })).files.find(
    (f) => f.path === 'gone',
  )!;
  await call('DELETE', at('gone', 'w'), { as: bob });
  await sweepOnce({ db: catalog.db, blobs: catalog.blobs, graceMs: -60_000 });
  expect(await catalog.blobs.stat(digest)).toBeNull();
  expect((await call('GET', at('keep', 'w'))).bytes.equals(LARGE)).toBe(true);
  await call('DELETE', at('', 'w'), { as: bob });
});

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

it('rpc: a folder by its version, files in pieces, removal of what the caller knows only', async () => {
  const { rpc } = catalog;
  const first = await rpc.changeFolder({
    folder: folder('w'),
    writes: [
      { path: 'small', mode: 0o700, modifiedUs: 1_700_000_000_123_456, content: Buffer.from('s') },
      {
        path: 'dir/large',
        mode: 0o644,
        modifiedUs: 1,
        pieces: [
          (await rpc.storePiece({ data: LARGE.subarray(0, 60_000) })).digest,
          (await rpc.storePiece({ data: LARGE.subarray(60_000) })).digest,
        ],
      },
    ],
  });
  const seen = await rpc.getFolder({ folder: folder('w') });
  expect(seen).toMatchObject({
    version: first.version,
    isChanged: true,
    maxFiles: 20,
    maxFileBytes: 200_000,
  });
  expect(seen.files).toMatchObject([
    { path: 'dir/large', size: LARGE.length },
    { path: 'small', mode: 0o700, modifiedUs: 1_700_000_000_123_456 },
  ]);
  expect(await rpc.getFolder({ folder: folder('w'), knownVersion: first.version })).toMatchObject({
    isChanged: false,
    files: [],
  });
  const chunks: Uint8Array[] = [];
  const { path, digest } = seen.files[0]!;
  for await (const { data } of rpc.readStoredFile({ folder: folder('w'), path, digest })) chunks.push(data);
  expect(Buffer.concat(chunks).equals(LARGE)).toBe(true);
  const stale = rpc.readStoredFile({ folder: folder('w'), path, digest: seen.files[1]!.digest });
  await expect(drain(stale)).rejects.toMatchObject({ code: 'not_found_error' });
  const zip: Uint8Array[] = [];
  for await (const { data } of rpc.zipFolder({ folder: folder('w'), maxBytes: 200_000 })) zip.push(data);
  await call('PUT', `${at('', 'f')}?extract=yes`, { raw: Buffer.concat(zip), as: bob });
  expect((await call('GET', at('dir/large', 'f'))).bytes.equals(LARGE)).toBe(true);
  const tooMuch = rpc.zipFolder({ folder: folder('w'), maxBytes: 1_000 });
  await expect(drain(tooMuch)).rejects.toMatchObject({ code: 'payload_too_large_error' });
  await rpc.changeFolder({
    folder: folder('w'),
    removes: [
      { path: 'small', digest: 'another' },
      { path, digest },
    ],
  });
  expect(Object.keys((await call('GET', at('', 'w'))).body)).toEqual(['small']);
  await expect(rpc.changeFolder({ folder: folder('nosuch'), writes: [] })).rejects.toMatchObject({
    code: 'not_found_error',
  });
  await expect(
    rpc.changeFolder({ folder: { area: 'tenant-resources', tenant: 'default_tenant' }, writes: [] }),
  ).rejects.toMatchObject({ code: 'bad_parameters_error' });
});

it('rpc: an archive goes into the folder of a deployment; a check keeps nothing and asks for no deployment', async () => {
  const { rpc } = catalog;
  await call('DELETE', at('', 'w'), { as: bob });
  const archive = zipOf([
    { name: 'a/one.txt', content: '1' },
    { name: 'two.txt', content: '22' },
  ]);
  await rpc.unpackFolder({ folder: folder('nosuch'), archive, isCheck: true });
  await expect(rpc.unpackFolder({ folder: folder('nosuch'), archive })).rejects.toMatchObject({
    code: 'not_found_error',
  });
  await rpc.unpackFolder({ folder: folder('w'), archive });
  await rpc.unpackFolder({ folder: folder('w'), archive });
  expect(Object.keys((await call('GET', at('', 'w'))).body)).toEqual(['a/one.txt', 'two.txt']);
  // A change with a request id is done once, whatever happened to the files since.
  const requestId = '11111111-1111-4111-8111-111111111111';
  await rpc.unpackFolder({ folder: folder('w'), archive, requestId });
  await call('DELETE', at('two.txt', 'w'), { as: bob });
  await rpc.unpackFolder({ folder: folder('w'), archive, requestId });
  expect(Object.keys((await call('GET', at('', 'w'))).body)).toEqual(['a/one.txt']);
  const refused = async (bad: Buffer, code: string) =>
    await expect(
      rpc.unpackFolder({ folder: folder('nosuch'), archive: bad, isCheck: true }),
    ).rejects.toMatchObject({ code });
  await refused(Buffer.from('no archive'), 'bad_parameters_error');
  await refused(zipOf([{ name: '../up', content: 'x' }]), 'bad_parameters_error');
  await refused(zipOf([{ name: 'big', content: 'x'.repeat(200_001) }]), 'payload_too_large_error');
});
