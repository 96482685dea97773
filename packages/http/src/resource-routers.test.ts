// Route matching by path: the gateway decides by the path as it was sent, and a service must match in the same way.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request, Response } from 'express';
import { createExpress } from './express-app';
import { resourceRouters } from './resource-routers';

const PATHS = [
  'GET /api/v3.1/things',
  'GET /api/v3.1/things/:id',
  'GET /api/v3.1/things/special',
  'GET /api/v3.1/things/:id/sub',
  'GET /api/v3.1/things/:id/:odd name("*")',
  'PUT /api/v3.1/things/users',
  'PUT /api/v3.1/things/:id',
  'GET /api/v3.1/files/*',
  'GET /api/v3.1/files/:a/fixed',
  'GET /api/v3.1/a+b(c)/:id',
  'GET /healthz',
];

const routes = PATHS.map((text) => {
  const mark = text.indexOf(' ');
  const [method, path] = [text.slice(0, mark), text.slice(mark + 1)];
  const handler = (request: Request, response: Response) =>
    void response.end(`${path} ${JSON.stringify(request.params)}`);
  return { method, path, handler };
});

let server: Server;
let port: number;
beforeAll(async () => {
  const app = createExpress();
  app.use(resourceRouters(routes));
  app.use((_request: Request, response: Response) => void response.end('none'));
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const ask = async (method: string, path: string): Promise<string> =>
  (await fetch(`http://127.0.0.1:${port}${path}`, { method })).text();

test.each([
  ['GET', '/api/v3.1/things', '/api/v3.1/things {}'],
  ['GET', '/api/v3.1/things?a=/b/c', '/api/v3.1/things {}'],
  ['GET', '/api/v3.1/things/a%2Fb%20c', '/api/v3.1/things/:id {"id":"a/b c"}'],
  ['GET', '/api/v3.1/things/special', '/api/v3.1/things/special {}'],
  // An encoded segment is a parameter: the gateway read it so, and so it was allowed.
  ['GET', '/api/v3.1/things/%73pecial', '/api/v3.1/things/:id {"id":"special"}'],
  ['GET', '/api/v3.1/things/users', '/api/v3.1/things/:id {"id":"users"}'],
  ['PUT', '/api/v3.1/things/users', '/api/v3.1/things/users {}'],
  ['GET', '/api/v3.1/things/a/sub', '/api/v3.1/things/:id/sub {"id":"a"}'],
  [
    'GET',
    '/api/v3.1/things/a/x',
    String.raw`/api/v3.1/things/:id/:odd name("*") {"id":"a","odd name(\"*\")":"x"}`,
  ],
  ['GET', '/api/v3.1/files/', '/api/v3.1/files/* {}'],
  ['GET', '/api/v3.1/files/a//b', '/api/v3.1/files/* {"*":["a","","b"]}'],
  ['GET', '/api/v3.1/files/a/fixed', '/api/v3.1/files/:a/fixed {"a":"a"}'],
  ['GET', '/api/v3.1/a+b(c)/x', '/api/v3.1/a+b(c)/:id {"id":"x"}'],
  ['GET', '/healthz?x=1', '/healthz {}'],
])('%s %s', async (method, path, expected) => {
  expect(await ask(method, path)).toBe(expected);
});

test.each([
  ['GET', '/api/v3.1/things/'],
  ['GET', '/api/v3.1/Things'],
  ['GET', '/api/v3.1/th%69ngs'],
  ['GET', '/api/v3.1//things'],
  ['GET', '//api/v3.1/things'],
  ['GET', '/healthz/'],
  ['OPTIONS', '/api/v3.1/things'],
  ['POST', '/api/v3.1/things'],
])('%s %s is no path of ours', async (method, path) => {
  expect(await ask(method, path)).toBe('none');
});

test('two routes for the same requests, and a resource that is a parameter, are refused at start', () => {
  const route = (method: string, path: string) => ({ method, path, handler: () => undefined });
  expect(() => resourceRouters([route('GET', '/a/b/c/:x'), route('GET', '/a/b/c/:y')])).toThrow(/two routes/);
  expect(() => resourceRouters([route('GET', '/a/b/:x')])).toThrow(/must be literal/);
});
