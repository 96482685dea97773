// The differences of BATON_WIRE=cloudify for every route (docs/compatibility.md).
import { defineRoutes, type Principal } from '@baton/contracts';
import { silentLog } from '@baton/kernel';
import { derivedTrust } from '@baton/trust';
import { z } from 'zod';
import {
  bindRoutes,
  createHttpApp,
  type HttpApp,
  listEnvelope,
  principalHeader,
  signPrincipal,
  type Wire,
} from './index';
import { key } from './testing/ann';

const base = {
  owner: 'catalog',
  permission: 'blueprint_list',
  tenant: 'none',
  versions: ['v3.1'],
  summary: '',
  spec: '',
  status: 200,
} as const;
const routes = bindRoutes(
  defineRoutes([
    { ...base, id: 'patchThing', method: 'PATCH', path: '/things/:id', body: z.object({ n: z.number() }) },
    {
      ...base,
      id: 'freeThing',
      method: 'PUT',
      path: '/things/:id',
      body: z.object({ n: z.number().optional() }),
    },
    {
      ...base,
      id: 'plainThing',
      method: 'PATCH',
      path: '/things/:id/plain',
      body: z.object({ n: z.number() }),
      isBodyReadPlainly: true,
    },
    { ...base, id: 'oldThing', method: 'PATCH', path: '/things/:id/old', isGoneFromOriginal: true },
    {
      ...base,
      id: 'listThings',
      method: 'GET',
      path: '/things',
      versions: ['v3.1', 'v2.1'],
      list: {
        fields: ['id', 'visibility'],
        filters: [],
        sorts: [],
        defaultSort: [],
        allowsAllTenants: false,
        allowsGetAll: false,
        isIncludeLoose: true,
        passedOver: ['filters', '_sort', '_size'],
      },
      legacyFields: ['id', 'tags'],
    },
  ]),
  {
    patchThing: (call) => ({ n: call.body.n }),
    freeThing: () => ({}),
    plainThing: () => ({}),
    oldThing: () => ({}),
    listThings: ({ list }) =>
      listEnvelope({ items: [{ id: 'a', visibility: 'tenant', tags: [] }], total: 1 }, list),
  },
);
const ann = { username: 'ann', tenant: '', permissions: [], tenants: [] } as unknown as Principal;

const apps: HttpApp[] = [];
afterAll(() => Promise.all(apps.map((app) => app.close())));

async function startApp(wire: Wire) {
  const app = createHttpApp({
    service: 'catalog',
    routes,
    trust: derivedTrust('catalog', key),
    log: silentLog,
    wire,
  });
  apps.push(app);
  const url = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}/api/v3.1`;
  const token = await signPrincipal(ann, derivedTrust('gateway', key).identity, 'catalog');
  return async (path: string, type: string, method = 'PATCH', body = '{"n":1}') =>
    (
      await fetch(`${url}${path}`, {
        method,
        headers: { [principalHeader]: token, 'content-type': type },
        body,
      })
    ).status;
}

test.each([
  ['spec', 200, 415],
  ['cloudify', 200, 400],
] as const)(
  '%s: a body that is read plainly with a charset is %i, with another type %i',
  async (wire, charset, other) => {
    const send = await startApp(wire);
    expect(await send('/things/a/plain', 'application/json')).toBe(200);
    expect(await send('/things/a/plain', 'application/json; charset=utf-8')).toBe(charset);
    expect(await send('/things/a/plain', 'text/plain')).toBe(other);
  },
);

test.each([
  ['spec', 200, 200],
  ['cloudify', 415, 404],
] as const)('%s: a charset is %i, what the original dropped is %i', async (wire, charset, old) => {
  const send = await startApp(wire);
  expect(await send('/things/a', 'application/json')).toBe(200);
  expect(await send('/things/a', 'application/json; charset=utf-8')).toBe(charset);
  expect(await send('/things/a', 'text/plain')).toBe(415);
  // Only an object is accepted, even where all of its fields may be missing.
  expect(await send('/things/a', 'application/json', 'PUT', '{}')).toBe(200);
  for (const body of ['null', '[]', '"str"', '1'])
    expect(await send('/things/a', 'application/json', 'PUT', body)).toBe(400);
  expect(await send('/things/a/old', 'application/json')).toBe(old);
});

test.each([
  ['spec', 'v3.1', 'id,visibility', [{ id: 'a', visibility: 'tenant' }]],
  ['spec', 'v3.1', 'tags', 'no_such_include_field_error'],
  ['spec', 'v2.1', 'id,tags', [{ id: 'a', tags: [] }]],
  ['spec', 'v2.1', 'visibility', 'no_such_include_field_error'],
  ['cloudify', 'v2.1', 'visibility', [{ visibility: 'tenant' }]],
  ['cloudify', 'v3.1', 'nope', [{}]],
  ['cloudify', 'v3.1', 'id&_sort=nope&nope=x&_size=-1', [{ id: 'a' }]],
  ['spec', 'v3.1', 'id&nope=x', 'bad_parameters_error'],
] as const)('%s %s: _include=%s', async (wire, version, names, expected) => {
  const app = createHttpApp({
    service: 'catalog',
    routes,
    trust: derivedTrust('catalog', key),
    log: silentLog,
    wire,
  });
  apps.push(app);
  const url = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}/api/${version}/things?_include=${names}`;
  const headers = {
    [principalHeader]: await signPrincipal(ann, derivedTrust('gateway', key).identity, 'catalog'),
  };
  const body = (await (await fetch(url, { headers })).json()) as {
    items?: object[];
    error_code?: string;
    metadata?: { pagination: { size: number } };
  };
  expect(body.items ?? body.error_code).toEqual(expected);
  const size = wire === 'spec' && version === 'v2.1' ? 10_000 : 1_000;
  expect(body.metadata?.pagination.size ?? size).toBe(size);
});
