import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { addressRule, isNetwork, isPublicAddress } from './public-address';

import { createSafeFetch } from './safe-fetch';

const limits = { maxBytes: 1000, totalMs: 2000, field: 'url' };
let server: http.Server;
let port: number;
let hits: string[] = [];
let answerWith: (request: http.IncomingMessage, response: http.ServerResponse) => void;

beforeAll(async () => {
  server = http.createServer((request, response) => {
    hits.push(`${request.socket.localAddress}${request.url}`);
    answerWith(request, response);
  });
  // Listens on all of 127/8, so that a second address can stand for "internal".
  await new Promise<void>((done) => server.listen(0, '0.0.0.0', done));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());
beforeEach(() => {
  hits = [];
  answerWith = (_request, response) => response.end('hello');
});

const only = (address: string) => (candidate: string) => candidate === address;
async function read(url: string, deps = {}, some = {}): Promise<string> {
  const chunks = [];
  for await (const chunk of await createSafeFetch({ isAllowed: only('127.0.0.1'), ...deps })(url, {
    ...limits,
    ...some,
  }))
    chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

it.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  'fe80::1',
  'fc00::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  'nonsense',
])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));
it.each(['8.8.8.8', '93.184.216.34', '2606:4700::1111'])('%s is public', (address) =>
  expect(isPublicAddress(address)).toBe(true),
);

it.each([
  'http://127.0.0.1:{port}/',
  'http://localhost:{port}/',
  'http://0x7f.1:{port}/',
  'http://2130706433:{port}/',
  'http://[::1]:{port}/',
  'http://[::ffff:127.0.0.1]:{port}/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:{port}/',
  'http://user:pw@8.8.8.8/',
  'http://',
  'unix:/run/x.sock',
])('%s is refused without a connection', async (url) => {
  await expect(createSafeFetch()(url.replace('{port}', String(port)), limits)).rejects.toMatchObject({
    code: 'bad_parameters_error',
    details: { field: 'url' },
  });
  expect(hits).toEqual([]);
});

it('connects to the address that was judged, whatever the name says later', async () => {
  const answers = [['127.0.0.1'], ['127.0.0.2']];
  await expect(read(`http://rebind.test:${port}/x`, { resolve: async () => answers.shift()! })).resolves.toBe(
    'hello',
  );
  expect(hits).toEqual(['127.0.0.1/x']);
});

it('refuses a name with one bad address among good ones', async () => {
  await expect(
    read(`http://mixed.test:${port}/`, { resolve: async () => ['127.0.0.1', '127.0.0.2'] }),
  ).rejects.toThrow(/public/);
  expect(hits).toEqual([]);
});

it('judges every redirect', async () => {
  answerWith = (request, response) => {
    if (request.url === '/inside')
      response.writeHead(302, { location: `http://127.0.0.2:${port}/secret` }).end();
    else if (request.url === '/fine') response.writeHead(307, { location: '/end' }).end();
    else if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
    else response.end('end');
  };
  await expect(read(`http://127.0.0.1:${port}/fine`)).resolves.toBe('end');
  await expect(read(`http://127.0.0.1:${port}/inside`)).rejects.toThrow(/public/);
  await expect(read(`http://127.0.0.1:${port}/loop`)).rejects.toThrow(/redirects/);
  expect(hits.filter((h) => h.startsWith('127.0.0.2'))).toEqual([]);
});

it('caps size and time', async () => {
  answerWith = (_request, response) => response.end(Buffer.alloc(5000));
  await expect(read(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'payload_too_large_error' });
  answerWith = (_request, response) => void response.write('begin');
  await expect(read(`http://127.0.0.1:${port}/`, {}, { totalMs: 100 })).rejects.toThrow(/too long/);
  answerWith = (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('short');
    response.socket?.end();
  };
  await expect(read(`http://127.0.0.1:${port}/`)).rejects.toThrow(/broke off/);
});

it('takes only 2xx answers', async () => {
  answerWith = (_request, response) => response.writeHead(404).end('nothing');
  await expect(read(`http://127.0.0.1:${port}/`)).rejects.toThrow(/answered 404/);
});

it('sends headers to the named address only', async () => {
  const seen: unknown[] = [];
  answerWith = (request, response) => {
    seen.push(request.headers['x-token']);
    if (request.url === '/go') response.writeHead(302, { location: '/elsewhere' }).end();
    else response.end('end');
  };
  await expect(read(`http://127.0.0.1:${port}/end`, {}, { headers: { 'x-token': 't1' } })).resolves.toBe(
    'end',
  );
  await expect(read(`http://127.0.0.1:${port}/go`, {}, { headers: { 'x-token': 't2' } })).rejects.toThrow(
    /answered 302/,
  );
  expect(seen).toEqual(['t1', 't2']);
});

it('lets in the networks that the operator named, and no others', () => {
  const isAllowed = addressRule(['10.1.0.0/16', 'fd00::/8', '192.168.7.7']);
  const yes = ['10.1.2.3', '::ffff:10.1.2.3', 'fd00::5', '192.168.7.7', '8.8.8.8'];
  const no = ['10.2.0.1', '192.168.7.8', 'fc00::1', '127.0.0.1', 'nonsense'];
  expect(yes.filter((address) => !isAllowed(address))).toEqual([]);
  expect(no.filter(isAllowed)).toEqual([]);
  expect(['10.0.0.0/8', '::1', 'fd00::/8'].every(isNetwork)).toBe(true);
  expect(['10.0.0.0/33', 'vault', '', '10.0.0.0/8/9', '::/129'].some(isNetwork)).toBe(false);
});
