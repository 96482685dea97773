import { createServer as createPlainServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { systemClock } from '@baton/kernel';
import { type Authority, createAuthority, type Issued } from '@baton/tls/authority';
import { http } from '../index';

let authority: Authority;
let client: Issued;
let server: Server;
let base: string;
let redirect: string | null;
/** Common names of the clients. */
let clients: (string | undefined)[];
/** What the proxy was asked for. */
let tunnels: string[];
const proxy = createPlainServer((request, response) => {
  tunnels.push(`${request.method} ${request.url} ${request.headers['proxy-authorization']}`);
  response.end('by proxy');
});
proxy.on('connect', ({ method, url, headers }, socket, head) => {
  tunnels.push(`${method} ${url} ${headers['proxy-authorization']}`);
  if (url!.startsWith('refused')) return void socket.end('HTTP/1.1 407 No\r\n\r\n').resume();
  const [host, port] = url!.split(':');
  const behind = connect(Number(port), host, () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    behind.write(head);
    socket.pipe(behind).pipe(socket);
    behind.once('close', () => socket.destroy());
  });
});
const portOf = (one: { address(): unknown }): number => (one.address() as AddressInfo).port;

beforeAll(async () => {
  const nowMs = systemClock.now();
  authority = await createAuthority('tests', nowMs);
  client = await authority.issue({ names: ['client'], nowMs });
  const own = await authority.issue({ names: ['localhost'], nowMs });
  server = createServer(
    { ...own, ca: authority.cert, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      clients.push((request.socket as TLSSocket).getPeerCertificate().subject?.CN as string | undefined);
      const place = redirect;
      redirect = null;
      if (place !== null) response.writeHead(302, { location: place });
      response.end('safe');
    },
  );
  for (const one of [server, proxy])
    await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  base = `https://localhost:${portOf(server)}`;
});
// The server does not close before each connection of the proxy has ended: tunnels must not be left open.
afterAll(async () => {
  for (const one of [proxy, server]) await new Promise((resolve) => one.close(resolve));
});
beforeEach(() => {
  [clients, tunnels, redirect] = [[], [], null];
});

it('a server is believed by its authority, by the name of its certificate', async () => {
  const tls = { ca: authority.cert };
  expect(await http.get(base, { tls })).toBe('safe');
  const byAddress = base.replace('localhost', '127.0.0.1');
  await expect(http.get(byAddress, { tls })).rejects.toMatchObject({
    exceptionType: 'NonRecoverableError',
    message: expect.stringContaining("IP: 127.0.0.1 is not in the cert's list"),
  });
  expect(await http.get(byAddress, { tls: { ...tls, serverName: 'localhost' } })).toBe('safe');
});

it('a server that nobody knows is refused for good, unless the author says otherwise', async () => {
  await expect(http.get(base)).rejects.toMatchObject({ exceptionType: 'NonRecoverableError' });
  expect(clients).toEqual([]);
  expect(await http.get(base, { tls: { verify: false } })).toBe('safe');
  // What was said for one request does not hold for the next one.
  await expect(http.get(base)).rejects.toMatchObject({ exceptionType: 'NonRecoverableError' });
});

it('a client shows its certificate, and not to another server', async () => {
  const tls = { ca: authority.cert, ...client };
  redirect = base.replace('localhost', '127.0.0.1');
  await expect(http.get(base, { tls })).rejects.toThrow("is not in the cert's list");
  redirect = `${base}/same`;
  await http.get(base, { tls });
  expect(clients).toEqual(['client', 'client', 'client']);
  clients = [];
  redirect = base.replace('localhost', '127.0.0.1');
  expect(await http.get(base, { tls: { ...client, verify: false } })).toBe('safe');
  expect(clients).toEqual(['client', undefined]);
});

it('a redirect from https to http is not followed', async () => {
  redirect = `http://127.0.0.1:${portOf(proxy)}/`;
  expect((await http.request('GET', base, { tls: { ca: authority.cert } })).status).toBe(302);
  expect(tunnels).toEqual([]);
});

describe('a proxy', () => {
  const by = () => ({ proxy: `http://me:p%40w@127.0.0.1:${portOf(proxy)}` });
  const login = `Basic ${Buffer.from('me:p@w').toString('base64')}`;

  it('gets whole requests over http', async () => {
    expect(await http.get('http://api.invalid/a?b=1', by())).toBe('by proxy');
    expect(tunnels).toEqual([`GET http://api.invalid/a?b=1 ${login}`]);
  });

  it('is a tunnel for https: certificates are checked from end to end', async () => {
    expect(await http.get(base, { ...by(), tls: { ca: authority.cert, ...client } })).toBe('safe');
    expect([tunnels, clients]).toEqual([[`CONNECT localhost:${portOf(server)} ${login}`], ['client']]);
    await expect(http.get(base, by())).rejects.toMatchObject({ exceptionType: 'NonRecoverableError' });
  });

  it('that refuses is said to be the proxy, without its login', async () => {
    await expect(http.get('https://refused.invalid/', { ...by(), retries: 0 })).rejects.toThrow(
      `GET https://refused.invalid/: the proxy 127.0.0.1:${portOf(proxy)} answered 407`,
    );
  });
});
