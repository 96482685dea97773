import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { defineRoutes } from '@baton/contracts';
import { Secret } from '@baton/kernel';
import { z } from 'zod';
import { ApiError, type Client, createClient } from './index';
import { contractOf } from './operations';

interface OpenApi {
  paths: Record<string, Record<string, { operationId: string }>>;
}

const base = {
  owner: 'catalog',
  permission: 'x',
  tenant: 'required',
  versions: ['v3.1'],
  summary: '',
  spec: '',
} as const;
const [list, put, archive, file, stream] = defineRoutes([
  {
    ...base,
    id: 'list',
    method: 'GET',
    path: '/things',
    status: 200,
    response: z.object({ items: z.array(z.number()) }),
  },
  {
    ...base,
    id: 'put',
    method: 'PUT',
    path: '/things/:id',
    status: 201,
    body: z.object({ n: z.number() }),
    response: z.object({ n: z.number() }),
  },
  { ...base, id: 'archive', method: 'PUT', path: '/things/:id/archive', status: 201, rawBody: 'archive' },
  { ...base, id: 'file', method: 'GET', path: '/files/*', status: 200, responseKind: 'stream' },
  { ...base, id: 'stream', method: 'GET', path: '/events/stream', status: 200, responseKind: 'events' },
]);

let server: Server;
let client: Client;
let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void;
const seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ method: request.method!, url: request.url!, headers: request.headers, body });
    answer(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  client = createClient({
    baseUrl: `http://127.0.0.1:${port}/`,
    username: 'zoë',
    password: new Secret('pässword'),
    tenant: 'default_tenant',
  });
});
beforeEach(() => void seen.splice(0));
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
const json = (response: ServerResponse, status: number, body: unknown) =>
  response
    .writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r9' })
    .end(JSON.stringify(body));

test('operations go by their ids in the OpenAPI document, and each of them has a contract', async () => {
  answer = (_request, response) => json(response, 200, { id: 'web', plan: null });
  const { id } = await client.call('getBlueprint', {
    params: { blueprint_id: 'a b' },
    query: { _include: 'id' },
  });
  expect(id).toBe('web');
  expect(seen[0]).toMatchObject({ method: 'GET', url: '/api/v3.1/blueprints/a%20b?_include=id' });
  // @ts-expect-error no such operation
  await expect(client.call('getNothing')).rejects.toThrow('no operation getNothing');
  const document = readFileSync(join(__dirname, '../../../docs/generated/openapi.json'), 'utf8');
  const operations = Object.entries((JSON.parse(document) as OpenApi).paths).filter(([path]) =>
    path.startsWith('/api/v3.1/'),
  );
  for (const [path, methods] of operations)
    for (const [method, { operationId }] of Object.entries(methods)) {
      const route = contractOf(operationId);
      const template = `/api/v3.1${route.path}`.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{rest}');
      expect([operationId, route.method.toLowerCase(), template]).toEqual([operationId, method, path]);
    }
});

test('credentials, tenant, path and query reach the server as its clients send them', async () => {
  answer = (_q, response) => json(response, 200, { items: [1] });
  expect(
    (await client.call(list, { query: { id: ['a', 'b'], _size: 5, gone: undefined, _all_tenants: true } }))
      .items,
  ).toEqual([1]);
  expect(seen[0]!.url).toBe('/api/v3.1/things?id=a&id=b&_size=5&_all_tenants=true');
  expect(seen[0]!.headers).toMatchObject({
    tenant: 'default_tenant',
    authorization: `Basic ${Buffer.from('zoë:pässword').toString('base64')}`,
  });
  answer = (_q, response, body) => json(response, 201, JSON.parse(body));
  expect(await client.call(put, { params: { id: 'a/b ü' }, body: { n: 3 }, idempotencyKey: 'k1' })).toEqual({
    n: 3,
  });
  expect(seen[1]).toMatchObject({
    url: '/api/v3.1/things/a%2Fb%20%C3%BC',
    headers: { 'idempotency-key': 'k1' },
  });
});

test('a refusal becomes an ApiError with code and details', async () => {
  answer = (_q, response) =>
    json(response, 400, {
      message: 'no',
      error_code: 'bad_parameters_error',
      server_traceback: null,
      field: 'n',
    });
  const error = await client.call(put, { params: { id: 'a' }, body: { n: 3 } }).catch((e) => e);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    status: 400,
    errorCode: 'bad_parameters_error',
    message: 'no',
    details: { field: 'n' },
    requestId: 'r9',
  });
});

test('reads and keyed writes outlast a lost connection, other writes do not', async () => {
  let calls = 0;
  answer = (request, response) =>
    ++calls % 2 === 1 ? request.socket.destroy() : json(response, 200, { items: [7] });
  expect(await client.call(list)).toEqual({ items: [7] });
  expect(await client.call(put, { params: { id: 'a' }, body: { n: 1 }, idempotencyKey: 'k' })).toEqual({
    items: [7],
  });
  await expect(client.call(put, { params: { id: 'a' }, body: { n: 1 } })).rejects.toMatchObject({
    name: 'TypeError',
  });
  expect(calls).toBe(5);
});

test('maintenance is an answer, not a disturbance', async () => {
  answer = (_q, response) => json(response, 503, { message: 'later', error_code: 'maintenance_mode_active' });
  await expect(client.call(list)).rejects.toMatchObject({ errorCode: 'maintenance_mode_active' });
  expect(seen).toHaveLength(1);
});

test('uploads stream, downloads carry their name', async () => {
  answer = (_q, response, body) => json(response, 201, { size: body.length });
  expect(
    await client.upload(archive, {
      params: { id: 'a' },
      content: Readable.from([Buffer.from('ab'), Buffer.from('cd')]),
    }),
  ).toEqual({ size: 4 });
  expect(seen[0]!.headers).toMatchObject({
    'transfer-encoding': 'chunked',
    'content-type': 'application/octet-stream',
  });
  answer = (_q, response) =>
    response
      .writeHead(200, {
        'content-disposition': 'attachment; filename="_.zip"; filename*=UTF-8\'\'%C3%BC.zip',
        'content-length': '3',
      })
      .end('xyz');
  const download = await client.download(file, { params: { '*': 'a/b' } });
  expect([download.filename, download.length, await new Response(download.body).text()]).toEqual([
    'ü.zip',
    3,
    'xyz',
  ]);
});

test('all pages of a list', async () => {
  answer = (request, response) => {
    const offset = Number(new URL(request.url!, 'http://x').searchParams.get('_offset'));
    json(response, 200, {
      items: [1, 2, 3, 4, 5].slice(offset, offset + 2),
      metadata: { pagination: { total: 5 } },
    });
  };
  const items: unknown[] = [];
  for await (const item of client.all(list, { pageSize: 2 })) items.push(item);
  expect(items).toEqual([1, 2, 3, 4, 5]);
});

test('events go on after a lost connection from where they were; a refusal ends them', async () => {
  let connection = 0;
  answer = (request, response) => {
    connection++;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const from = Number(request.headers['last-event-id'] ?? 0);
    response.write(
      `: hello\n\nid: ${from + 1}\nevent: tick\ndata: {"n":${from + 1}}\n\nid: ${from + 2}\ndata: text\n\n`,
    );
    if (connection === 1) setImmediate(() => request.socket.destroy());
    else response.end('event: error\ndata: {}\n\n');
  };
  const got: string[] = [];
  for await (const event of client.events(stream, { execution_id: 'e' })) {
    got.push(`${event.id} ${event.event} ${JSON.stringify(event.data)}`);
    if (got.length === 5) break;
  }
  expect(got).toEqual([
    '1 tick {"n":1}',
    '2 message "text"',
    '3 tick {"n":3}',
    '4 message "text"',
    '5 tick {"n":5}',
  ]);
  answer = (_q, response) => json(response, 404, { message: 'none', error_code: 'not_found_error' });
  await expect(client.events(stream, {}).next()).rejects.toMatchObject({ status: 404 });
});

test('a stream of changes is resumed by itself, and says when something was missed', async () => {
  const asked: (string | undefined)[] = [];
  answer = (request, response) => {
    asked.push(request.headers['last-event-id'] as string | undefined);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (asked.length === 1) {
      const change = JSON.stringify({ kind: 'deployments', id: 'd', operation: 'changed' });
      response.end(
        `id: e-1\nevent: ready\ndata: {}\n\n: alive\n\nid: e-2\nevent: change\ndata: ${change}\n\n`,
      );
    } else response.end('id: f-7\nevent: reset\ndata: {}\n\nid: f-7\nevent: ready\ndata: {}\n\n');
  };
  const got: string[] = [];
  for await (const event of client.events('streamChanges', { kinds: 'deployments' })) {
    got.push(`${event.id} ${event.event}`);
    if (got.length === 5) break;
  }
  expect(got).toEqual(['e-1 ready', 'e-2 change', 'f-7 reset', 'f-7 ready', 'f-7 reset']);
  expect(asked).toEqual([undefined, 'e-2', 'f-7']);
});

test('a caller may stop waiting for events', async () => {
  answer = (_q, response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
  const controller = new AbortController();
  const got: unknown[] = [];
  for await (const event of client.events(stream, {}, { signal: controller.signal })) {
    got.push(event.data);
    controller.abort();
  }
  expect(got).toEqual([1]);
});
