import { Readable } from 'node:stream';
import { contentTypeOf, serveFile } from './serve-file';

const CONTENT = Buffer.from('0123456789');
const file = {
  name: 'a/readme.md',
  size: CONTENT.length,
  tag: 'abc',
  modifiedAt: '2026-01-02T03:04:05.678Z',
  open: (range?: { start: number; end: number }) =>
    Readable.from([range ? CONTENT.subarray(range.start, range.end + 1) : CONTENT]),
};
const MODIFIED = 'Fri, 02 Jan 2026 03:04:05 GMT';

async function get(headers: Record<string, string> = {}) {
  const { full } = await serveFile(headers, file);
  const text = full.stream ? String(Buffer.concat(await (full.stream as Readable).toArray())) : null;
  return { status: full.status, headers: full.headers!, length: full.length, text, body: full.body };
}

test('the whole file with what caches need', async () => {
  const all = await get();
  expect(all).toMatchObject({ status: 200, text: '0123456789', length: 10 });
  expect(all.headers).toMatchObject({
    etag: '"abc"',
    'last-modified': MODIFIED,
    'accept-ranges': 'bytes',
    'content-security-policy': expect.stringContaining('sandbox'),
  });
});

test.each([
  [{ 'if-none-match': '"abc"' }, 304],
  [{ 'if-none-match': 'W/"abc"' }, 304],
  [{ 'if-none-match': '"x", "abc"' }, 304],
  [{ 'if-none-match': '*' }, 304],
  [{ 'if-none-match': '"x"', 'if-modified-since': MODIFIED }, 200],
  [{ 'if-modified-since': MODIFIED }, 304],
  [{ 'if-modified-since': 'Fri, 02 Jan 2026 03:04:04 GMT' }, 200],
  [{ 'if-modified-since': 'yesterday' }, 200],
])('%j: %i', async (headers, status) => {
  const got = await get(headers as Record<string, string>);
  expect(got.status).toBe(status);
  expect(got.headers.etag).toBe('"abc"');
});

test.each([
  ['bytes=0-0', '0', 'bytes 0-0/10'],
  ['bytes=3-5', '345', 'bytes 3-5/10'],
  ['bytes=7-', '789', 'bytes 7-9/10'],
  ['bytes=7-99', '789', 'bytes 7-9/10'],
  ['bytes=-2', '89', 'bytes 8-9/10'],
  ['bytes=-99', '0123456789', 'bytes 0-9/10'],
])('%s', async (range, text, contentRange) => {
  const got = await get({ range });
  expect(got).toMatchObject({ status: 206, text, length: text.length });
  expect(got.headers['content-range']).toBe(contentRange);
});

test.each(['bytes=5-3', 'bytes=0-1,4-5', 'lines=0-1', 'bytes=', 'bytes=-', 'bytes=a-b'])(
  '%s is answered with everything',
  async (range) => expect(await get({ range })).toMatchObject({ status: 200, text: '0123456789' }),
);

test.each(['bytes=10-', 'bytes=10-20', 'bytes=-0'])('%s cannot be satisfied', async (range) => {
  const got = await get({ range });
  expect(got).toMatchObject({ status: 416, text: null, body: { error_code: 'range_not_satisfiable_error' } });
  expect(got.headers['content-range']).toBe('bytes */10');
});

test('If-Range: a part only of the file that the client knows', async () => {
  for (const same of ['"abc"', MODIFIED])
    expect(await get({ range: 'bytes=1-2', 'if-range': same })).toMatchObject({ status: 206, text: '12' });
  expect(await get({ range: 'bytes=1-2', 'if-range': '"old"' })).toMatchObject({
    status: 200,
    text: '0123456789',
  });
});

test.each([
  ['a.yaml', 'text/yaml; charset=utf-8'],
  ['a/b/ICON.PNG', 'image/png'],
  ['x.wgn', 'application/octet-stream'],
  ['noending', 'application/octet-stream'],
  ['folder.png/file', 'application/octet-stream'],
  ['x.constructor', 'application/octet-stream'],
])('%s is %s', (name, type) => expect(contentTypeOf(name)).toBe(type));
