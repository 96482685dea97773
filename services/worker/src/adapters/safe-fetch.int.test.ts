import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSafeFetch } from './safe-fetch';

let server: http.Server;
let port: number;
let hits: string[] = [];
const options = { caPem: null, signal: new AbortController().signal };

beforeAll(async () => {
  server = http.createServer((request, response) => {
    hits.push(request.url ?? '');
    if (request.url === '/away')
      response.writeHead(302, { location: `http://127.0.0.2:${port}/inside` }).end();
    else if (request.url === '/here') response.writeHead(302, { location: '/end' }).end();
    else response.writeHead(request.url === '/none' ? 404 : 200).end('text');
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());
beforeEach(() => {
  hits = [];
});

it.each([
  '127.0.0.1',
  'localhost',
  '0x7f.1',
  '2130706433',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '169.254.169.254',
  '10.0.0.1',
])('connects to nothing inside: %s', async (host) => {
  await expect(createSafeFetch([])(`http://${host}:${port}/x`, options)).rejects.toThrow(
    'does not lead to a public http or https address',
  );
  expect(hits).toEqual([]);
});

it('follows redirects, but not into what is not allowed', async () => {
  const fetchUrl = createSafeFetch(['127.0.0.1']);
  expect(await fetchUrl(`http://127.0.0.1:${port}/here`, options)).toMatchObject({ status: 200 });
  expect(await fetchUrl(`http://127.0.0.1:${port}/none`, options)).toMatchObject({ status: 404 });
  await expect(fetchUrl(`http://127.0.0.1:${port}/away`, options)).rejects.toThrow('public');
  expect(hits).toEqual(['/here', '/end', '/none', '/away']);
  await expect(fetchUrl('file:///etc/passwd', options)).rejects.toThrow('public');
});
