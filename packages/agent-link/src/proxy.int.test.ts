import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { isExcepted, openSocket, proxyOfEnvironment } from './proxy';

test.each([
  ['*', 'a.corp', 1, true],
  ['a.corp', 'a.corp', 1, true],
  ['corp', 'a.corp', 1, true],
  ['.corp', 'a.corp', 1, true],
  ['*.corp', 'a.corp', 1, true],
  ['orp', 'a.corp', 1, false],
  ['a.corp:1, x', 'A.corp', 1, true],
  ['a.corp:2', 'a.corp', 1, false],
  ['', 'a.corp', 1, false],
])('NO_PROXY %j leaves out %s:%i: %j', (except, host, port, is) => {
  expect(isExcepted(except, host, port)).toBe(is);
});

test('the environment names the proxy in capitals or not', () => {
  expect(proxyOfEnvironment({ https_proxy: 'http://p', NO_PROXY: 'x' })).toEqual({
    url: 'http://p',
    except: 'x',
  });
  expect(proxyOfEnvironment({})).toEqual({ url: null, except: '' });
});

describe('a proxy of HTTP', () => {
  let proxy: Server;
  let status: number;
  const asked: { url: string; who: string | undefined }[] = [];
  const target = createTcpServer((socket) => socket.end('hello'));
  const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

  beforeAll(async () => {
    proxy = createServer();
    proxy.on('connect', (request, socket) => {
      asked.push({ url: request.url!, who: request.headers['proxy-authorization'] });
      if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      const on = connect(portOf(target), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        on.pipe(socket).pipe(on);
      });
    });
    await Promise.all(
      [proxy, target].map((one) => new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve))),
    );
  });
  afterAll(() => {
    proxy.closeAllConnections();
    proxy.close();
    target.close();
  });

  const through = () =>
    openSocket(
      { host: 'manager.corp', port: 8443 },
      { url: `http://me:p%40ss@127.0.0.1:${portOf(proxy)}`, except: '' },
      5_000,
    );

  test('leads to the manager, with the user of its address', async () => {
    status = 200;
    const socket = await through();
    let text = '';
    for await (const part of socket) text += String(part);
    expect(text).toBe('hello');
    expect(asked.at(-1)).toEqual({
      url: 'manager.corp:8443',
      who: `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
    });
  });

  test('is named when it refuses, without its password', async () => {
    status = 407;
    const text = await through().catch((error: Error) => error.message);
    expect(text).toBe(
      `the proxy http://127.0.0.1:${portOf(proxy)} answers CONNECT manager.corp:8443 with status 407`,
    );
  });
});
