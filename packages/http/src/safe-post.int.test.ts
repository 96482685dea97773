import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSafePost } from './safe-post';

let server: http.Server;
let port: number;
const hits: string[] = [];
beforeAll(async () => {
  server = http.createServer((request, response) => {
    hits.push(`${request.socket.localAddress} ${request.headers.host}`);
    if (request.url === '/redirect') response.writeHead(307, { location: 'http://127.0.0.2/' }).end();
    else if (request.url !== '/hang') request.pipe(response);
  });
  // Listens on all of 127/8, so that a second address can stand for "internal".
  await new Promise<void>((done) => server.listen(0, '0.0.0.0', done));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => void hits.splice(0));

const only = (address: string) => (candidate: string) => candidate === address;
const send = (url: string, deps = {}, some = {}) =>
  createSafePost({ isAllowed: only('127.0.0.1'), ...deps })({
    url,
    field: 'url',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('0123456789'),
    totalMs: 2_000,
    maxReadBytes: 100,
    keptBytes: 4,
    ...some,
  });

it('sends to the address that was judged, with the name of the URL, and keeps the beginning of the answer', async () => {
  const answers = [['127.0.0.1'], ['127.0.0.2']];
  const rebinding = { resolve: async () => answers.shift()! };
  expect(await send(`http://example.test:${port}/`, rebinding)).toMatchObject({ status: 200, text: '0123' });
  expect(hits).toEqual([`127.0.0.1 example.test:${port}`]);
  // The second lookup would lead inside.
  await expect(send(`http://example.test:${port}/`, rebinding)).rejects.toMatchObject({
    code: 'bad_parameters_error',
  });
  expect(hits).toHaveLength(1);
});

it('refuses a name with one forbidden address among several', async () => {
  const resolve = async () => ['127.0.0.1', '127.0.0.2'];
  await expect(send(`http://example.test:${port}/`, { resolve })).rejects.toMatchObject({
    details: { field: 'url' },
  });
  expect(hits).toEqual([]);
});

it('reaches a host that is allowed by its name, and no other name of the same address', async () => {
  const deps = {
    isAllowed: () => false,
    isHostAllowed: only('inside.test'),
    resolve: async () => ['127.0.0.1'],
  };
  expect((await send(`http://inside.test:${port}/`, deps)).status).toBe(200);
  await expect(send(`http://outside.test:${port}/`, deps)).rejects.toThrow();
});

it('does not follow redirects', async () => {
  expect((await send(`http://127.0.0.1:${port}/redirect`)).status).toBe(307);
  expect(hits).toHaveLength(1);
});

it('ends with its time, in the lookup and in the answer', async () => {
  const late = { reason: 'it took too long' };
  await expect(send(`http://127.0.0.1:${port}/hang`, {}, { totalMs: 50 })).rejects.toMatchObject({
    details: late,
  });
  const resolve = () => new Promise<never>(() => undefined);
  await expect(send('http://example.test/', { resolve }, { totalMs: 50 })).rejects.toMatchObject({
    details: late,
  });
});
