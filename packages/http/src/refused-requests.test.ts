// Requests that are refused before any handler: the answer is JSON with a code, the wrong part and the expected value.
import { defineRoutes } from '@baton/contracts';
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
} from './index';
import { ann, key } from './testing/ann';

const base = {
  owner: 'catalog',
  permission: 'blueprint_list',
  tenant: 'required',
  versions: ['v3.1'],
  summary: '',
  spec: '',
  status: 200,
} as const;
const list = {
  fields: ['id'],
  filters: ['id'],
  sorts: ['id'],
  search: 'id',
  defaultSort: [],
  allowsAllTenants: false,
  allowsGetAll: false,
} as const;
const routes = bindRoutes(
  defineRoutes([
    { ...base, id: 'listThings', method: 'GET', path: '/things', list },
    {
      ...base,
      id: 'patchThing',
      method: 'PATCH',
      path: '/things/:id',
      body: z.object({ n: z.number(), deep: z.unknown().optional() }),
    },
  ]),
  {
    listThings: async (call) => listEnvelope({ items: [], total: 0 }, call.list),
    patchThing: async () => ({}),
  },
);

let app: HttpApp;
let url: string;
let token: string;
beforeAll(async () => {
  token = await signPrincipal(ann, derivedTrust('gateway', key).identity, 'catalog');
  app = createHttpApp({
    service: 'catalog',
    routes,
    trust: derivedTrust('catalog', key),
    log: silentLog,
    wire: 'spec',
  });
  url = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}/api/v3.1`;
});
afterAll(() => app.close());

const STORABLE = 'text without NUL characters and halves of surrogate pairs';
const GOOD = '{"n": 1}';
test.each([
  [400, 'PATCH', '/things/a', 'application/json', '{', 'body', 'JSON'],
  [400, 'PATCH', '/things/a', 'application/json', '<xml/>', 'body', 'JSON'],
  [400, 'PATCH', '/things/a', 'application/json', '\xff', 'body', 'JSON'],
  [400, 'PATCH', '/things/a', 'application/json', '['.repeat(300), 'body', 'at most 200 levels'],
  [415, 'PATCH', '/things/a', 'text/plain', GOOD, 'Content-Type', 'application/json'],
  [415, 'PATCH', '/things/a', 'application/x-www-form-urlencoded', GOOD, 'Content-Type', 'application/json'],
  [400, 'PATCH', '/things/%00', 'application/json', GOOD, 'id', STORABLE],
  [400, 'PATCH', '/things/%ff', 'application/json', GOOD, 'path', 'percent-encoded UTF-8'],
  [400, 'GET', '/things?_search=a%00', '', null, '_search', STORABLE],
  [400, 'GET', '/things?id=a&id=%00', '', null, 'id', STORABLE],
])('%i: %s %s as %s with %s', async (status, method, path, type, body, field, expected) => {
  const headers: Record<string, string> = { [principalHeader]: token };
  if (type !== '') headers['content-type'] = type;
  const response = await fetch(`${url}${path}`, { method, headers, body });
  expect([response.status, await response.json()]).toEqual([
    status,
    expect.objectContaining({ error_code: expect.any(String), message: expect.any(String), field, expected }),
  ]);
});
