import { createServer, request as httpRequest, type Server } from 'node:http';
import { Readable } from 'node:stream';
import { defineRoutes } from '@baton/contracts';
import { AppError, notFound, silentLog } from '@baton/kernel';
import { derivedTrust } from '@baton/trust';
import { z } from 'zod';
import {
  answer,
  bindRoutes,
  createHttpApp,
  type HttpApp,
  listEnvelope,
  principalHeader,
  signPrincipal,
} from './index';
import { ann, key } from './testing/ann';

const base = {
  owner: 'catalog',
  permission: 'blueprint_list',
  tenant: 'required',
  versions: ['v3.1', 'v2.1'],
  summary: '',
  spec: '',
} as const;
const item = z.object({ id: z.string(), size: z.number().optional() });
const routes = defineRoutes([
  {
    ...base,
    id: 'listThings',
    method: 'GET',
    path: '/things',
    status: 200,
    query: z.object({ _filter_id: z.string().optional(), tag: z.array(z.string()).optional() }),
    list: {
      fields: ['id', 'size'],
      filters: ['id', 'site_name'],
      sorts: ['id', 'created_at', 'label:*'],
      search: 'id',
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: true,
      allowsGetAll: true,
      extra: { _filter_id: 'text' },
    },
  },
  { ...base, id: 'getThing', method: 'GET', path: '/things/:id', status: 200, response: item },
  {
    ...base,
    id: 'putThing',
    method: 'PUT',
    path: '/things/:id',
    status: 201,
    isBodyOptional: true,
    body: z.strictObject({
      visibility: z.enum(['private', 'tenant']).default('tenant'),
      deep: z.unknown().optional(),
    }),
  },
  {
    ...base,
    id: 'patchThing',
    method: 'PATCH',
    path: '/things/:id',
    status: 200,
    body: z.object({ n: z.number() }),
    versions: ['v3.1'],
  },
  { ...base, id: 'upload', method: 'PUT', path: '/things/:id/archive', status: 201, rawBody: 'archive' },
  { ...base, id: 'download', method: 'GET', path: '/files/*', status: 200, responseKind: 'stream' },
  { ...base, id: 'events', method: 'GET', path: '/events/stream', status: 200, responseKind: 'events' },
  { ...base, id: 'ping', method: 'GET', path: '/ping', status: 200, permission: 'none', tenant: 'none' },
  { ...base, id: 'boom', method: 'POST', path: '/boom', status: 200 },
  { ...base, id: 'gone', method: 'DELETE', path: '/things/:id', status: 204 },
]);

async function* numbers() {
  for (let n = 1; n <= 3; n++) yield { id: String(n), event: 'tick', data: { n } };
}
const errors: object[] = [];
const log = { ...silentLog, error: (fields: object) => void errors.push(fields), child: () => silentLog };
let lastSignal: AbortSignal | undefined;

const bound = bindRoutes(routes, {
  listThings: async (call) =>
    listEnvelope(
      { items: [{ id: JSON.stringify(call.list), size: call.query.tag?.length ?? 0 }], total: 1 },
      call.list,
    ),
  getThing: async (call) => {
    if (call.params.id === 'none') throw notFound('thing', 'none');
    if (call.params.id === 'away')
      throw new AppError('service_unavailable_error', 'The database does not answer');
    return call.params.id === 'bad' ? { id: 5 } : { id: call.params.id, size: 3, v: call.version };
  },
  putThing: async (call) => ({ ...call.body, user: call.principal.username, id: call.params.id }),
  patchThing: async (call) => ({ double: call.body.n * 2 }),
  upload: async (call) => {
    let size = 0;
    for await (const chunk of call.raw) size += (chunk as Buffer).length;
    return { size, hasBody: call.hasBody };
  },
  download: async (call) =>
    answer({ stream: Readable.from(['ab', 'cd']), filename: `ünder ${call.params['*']}`, length: 4 }),
  events: async (call) => {
    lastSignal = call.signal;
    return answer({ stream: numbers() });
  },
  ping: async () => ({ pong: true }),
  boom: async () => {
    throw new TypeError('secret internals');
  },
  gone: async () => undefined,
});

let app: HttpApp;
let url: string;
let token: string;
beforeAll(async () => {
  token = await signPrincipal(ann, derivedTrust('gateway', key).identity, 'catalog');
  app = createHttpApp({
    service: 'catalog',
    routes: bound,
    trust: derivedTrust('catalog', key),
    log,
    wire: 'spec',
    validateResponses: true,
    jsonLimitBytes: 100_000,
    plain: { '/healthz': async () => ({ status: 200, contentType: 'text/plain', body: 'ok' }) },
  });
  url = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`;
});
afterAll(() => app.close());

async function call(method: string, path: string, init: RequestInit & { duplex?: 'half' } = {}) {
  const response = await fetch(`${url}${path}`, {
    method,
    ...init,
    headers: {
      [principalHeader]: token,
      ...(init.body ? { 'content-type': 'application/json' } : {}),
      ...init.headers,
    },
  });
  const body = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text: body,
    json: body ? (safeJson(body) as any) : undefined,
  };
}
function safeJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

test('a service answers nobody without the signed header, except open routes', async () => {
  expect((await call('GET', '/api/v3.1/things', { headers: { [principalHeader]: '' } })).json).toMatchObject({
    error_code: 'unauthorized_error',
    server_traceback: null,
  });
  expect(
    (await call('GET', '/api/v3.1/things', { headers: { [principalHeader]: `${token}x` } })).status,
  ).toBe(401);
  expect(await (await fetch(`${url}/api/v3.1/ping`)).json()).toEqual({ pong: true });
  expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok');
});

test('what passes soon says when to ask again', async () => {
  const { status, headers } = await call('GET', '/api/v3.1/things/away');
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  expect((await call('GET', '/api/v3.1/things/none')).headers.get('retry-after')).toBeNull();
});

describe('lists', () => {
  const list = async (query: string) => (await call('GET', `/api/v3.1/things?${query}`)).json;
  const parsed = async (query: string) => JSON.parse((await list(query)).items[0].id);
  test('conventions reach the handler parsed', async () => {
    expect(
      await parsed(
        'id=a&id=b&site_name=&_sort=-id&_sort=%2Bcreated_at&_sort=label:env&_size=0&_offset=7&_search=X&_all_tenants=TRUE&_filter_id=f&_search_name=y&_unnamed=z',
      ),
    ).toEqual({
      include: null,
      filters: { id: ['a', 'b'], site_name: [] },
      sort: [
        { field: 'id', descending: true },
        { field: 'created_at', descending: false },
        { field: 'label:env', descending: false },
      ],
      size: 0,
      offset: 7,
      search: 'X',
      searchName: null,
      allTenants: true,
      getAll: false,
      asked: { size: true, offset: true },
      extra: { _filter_id: ['f'] },
    });
    expect(await parsed('_get_all_results=true&_size=5')).toMatchObject({ getAll: true, size: 0, offset: 0 });
    // Nothing is cut off, and the requested values are echoed nevertheless.
    const echoed = async (query: string) => (await list(`_get_all_results=true${query}`)).metadata.pagination;
    expect(await echoed('&_size=5&_offset=2')).toMatchObject({ size: 5, offset: 2 });
    expect(await echoed('')).toMatchObject({ size: 0, offset: 0 });
    expect((await list('_include=size&tag=x&_unknown=1')).items).toEqual([{ size: 1 }]);
    // Of a repeated single-valued parameter, the first value counts.
    expect(await parsed('_size=1&_size=3&_search=a&_search=b')).toMatchObject({ size: 1, search: 'a' });
    expect((await list('')).metadata).toEqual({
      pagination: { total: 1, offset: 0, size: 1000 },
      filtered: null,
    });
  });
  test.each([
    ['_size=-1', '_size'],
    ['_size=abc', '_size'],
    ['_size=99999999999999999999', '_size'],
    ['_offset=1.5', '_offset'],
    ['_get_all_results=1', '_get_all_results'],
    ['_sort=nope', '_sort'],
    ['_sort=', '_sort'],
    ['idd=1', 'idd'],
  ])('%s is a bad parameter', async (query, field) => {
    expect(await list(query)).toMatchObject({
      error_code: 'bad_parameters_error',
      field,
      expected: expect.anything(),
    });
  });
  test('an unknown _include names what there is and what was meant', async () => {
    expect(await list('_include=id,siez')).toMatchObject({
      error_code: 'no_such_include_field_error',
      expected: ['id', 'size'],
      nearest: 'size',
    });
  });
});

describe('bodies', () => {
  test('an optional body takes its defaults, a wrong one is located', async () => {
    expect(
      (await call('PUT', '/api/v3.1/things/a%20b', { headers: { 'content-type': 'application/json' } })).json,
    ).toEqual({ visibility: 'tenant', user: 'ann', id: 'a b' });
    expect((await call('PUT', '/api/v3.1/things/a', { body: '{"visibilty":"x"}' })).json).toMatchObject({
      field: 'visibilty',
      nearest: 'visibility',
    });
    expect((await call('PUT', '/api/v3.1/things/a', { body: '{"visibility":"all"}' })).json).toMatchObject({
      field: 'visibility',
      expected: ['private', 'tenant'],
    });
  });
  test.each(['[]', '"x"', 'null', '{', '', '{"n":"1"}'])('PATCH with %s is 400', async (body) => {
    expect(await call('PATCH', '/api/v3.1/things/a', { body })).toMatchObject({
      status: 400,
      json: { error_code: 'bad_parameters_error' },
    });
  });
  test('deep nesting, prototype keys, size and foreign types are refused, a charset is not', async () => {
    const deep = `{"deep":${'['.repeat(100_000 / 3)}${']'.repeat(100_000 / 3)}}`;
    expect((await call('PUT', '/api/v3.1/things/a', { body: deep })).status).toBe(400);
    expect(
      (await call('PUT', '/api/v3.1/things/a', { body: '{"deep":{"__proto__":{"x":1}}}' })).json,
    ).toMatchObject({ field: '__proto__' });
    expect(
      (await call('PUT', '/api/v3.1/things/a', { body: '{"deep":"\\u005f_proto__ and \\"[[["}' })).status,
    ).toBe(201);
    expect(
      (await call('PUT', '/api/v3.1/things/a', { body: `{"deep":"${'x'.repeat(100_001)}"}` })).json,
    ).toMatchObject({ error_code: 'payload_too_large_error' });
    expect(
      (await call('PATCH', '/api/v3.1/things/a', { body: 'n=1', headers: { 'content-type': 'text/plain' } }))
        .status,
    ).toBe(415);
    expect(
      (
        await call('PATCH', '/api/v3.1/things/a', {
          body: '{"n":2}',
          headers: { 'content-type': 'application/json; charset=utf-8' },
        })
      ).json,
    ).toEqual({ double: 4 });
  });
  test('archives pass as a stream, also when the client calls its chunks JSON', async () => {
    const chunks = Readable.toWeb(
      Readable.from([Buffer.alloc(80_000), Buffer.alloc(80_000)]),
    ) as unknown as ReadableStream;
    expect((await call('PUT', '/api/v3.1/things/a/archive', { body: chunks, duplex: 'half' })).json).toEqual({
      size: 160_000,
      hasBody: true,
    });
    expect(
      (
        await call('PUT', '/api/v3.1/things/a/archive', {
          body: 'x'.repeat(9),
          headers: { 'content-type': 'multipart/form-data; boundary=q' },
        })
      ).json.size,
    ).toBe(9);
    expect((await call('PUT', '/api/v3.1/things/a/archive')).json).toEqual({ size: 0, hasBody: false });
  });
});

describe('answers', () => {
  test('unknown path, unknown method, trailing slash, unknown version of a route', async () => {
    expect(await call('GET', '/api/v3.1/nothing')).toMatchObject({
      status: 404,
      json: { error_code: 'not_found_error' },
    });
    const wrong = await call('POST', '/api/v3.1/things/a');
    expect([wrong.status, wrong.headers.get('allow'), wrong.json.error_code]).toEqual([
      405,
      'DELETE, GET, PATCH, PUT',
      'method_not_allowed_error',
    ]);
    expect((await call('GET', '/api/v3.1/things/')).status).toBe(404);
    expect((await call('PATCH', '/api/v2.1/things/a', { body: '{"n":1}' })).status).toBe(405);
    expect((await call('GET', '/api/v2.1/things/a')).json).toMatchObject({ v: 'v2.1' });
    expect((await call('GET', '/api/v3.1/things/%ff')).status).toBe(400);
  });
  test('refusals keep their code; a fault hides its text, is logged once with the request id', async () => {
    expect((await call('GET', '/api/v3.1/things/none')).json).toEqual({
      message: expect.any(String),
      error_code: 'not_found_error',
      server_traceback: null,
      kind: 'thing',
      id: 'none',
    });
    errors.length = 0;
    const fault = await call('POST', '/api/v3.1/boom', { headers: { 'x-request-id': 'req-7' } });
    expect([
      fault.status,
      fault.text.includes('secret internals'),
      fault.headers.get('x-request-id'),
    ]).toEqual([500, false, 'req-7']);
    expect(errors).toEqual([expect.objectContaining({ requestId: 'req-7', err: expect.any(TypeError) })]);
  });
  test('an answer that breaks its contract fails in validating mode; _include cuts single answers', async () => {
    expect((await call('GET', '/api/v3.1/things/bad')).status).toBe(500);
    expect((await call('GET', '/api/v3.1/things/a?_include=id')).json).toEqual({ id: 'a' });
    expect((await call('GET', '/api/v3.1/things/a?_include=idd')).json.error_code).toBe(
      'no_such_include_field_error',
    );
    expect((await call('DELETE', '/api/v3.1/things/a')).status).toBe(204);
  });
  test('downloads carry name and length', async () => {
    const file = await call('GET', '/api/v3.1/files/x/y');
    expect([file.text, file.headers.get('content-length'), file.headers.get('content-disposition')]).toEqual([
      'abcd',
      '4',
      `attachment; filename="_nder x/y"; filename*=UTF-8''%C3%BCnder%20x%2Fy`,
    ]);
    expect([file.headers.get('content-description'), file.headers.get('cache-control')]).toEqual([
      'File Transfer',
      'no-cache',
    ]);
  });
  test('events are streamed in their wire form', async () => {
    const stream = await call('GET', '/api/v3.1/events/stream');
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    expect(stream.text).toContain('id: 2\nevent: tick\ndata: {"n":2}\n\n');
    expect(lastSignal?.aborted).toBe(false);
  });
});

test('a foreign server may hand its requests over', async () => {
  const server: Server = createServer((request, response) => app.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const status = await new Promise((resolve) =>
    httpRequest({ port, path: '/api/v3.1/ping' }, (r) => resolve(r.resume().statusCode)).end(),
  );
  expect(status).toBe(200);
  await new Promise((resolve) => server.close(resolve));
});

test('AppError of a handler bound without its table is refused at start', () => {
  expect(() => bindRoutes(routes as readonly (typeof routes)[number][], {} as never)).toThrow(
    /has no handler/,
  );
  expect(new AppError('conflict_error', 'x').entry.http).toBe(409);
});
