// Errors in a query or a body, for each route: the answer is 400 with a code, the field and the expected value, never a 500 and
// never a silent default. Needs the bundles of `npm run build`.

import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { z } from 'zod';
import { type Answer, startWorld, type World } from './world';

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, 120_000);
afterAll(async () => await world?.stop(), 60_000);

const routes: readonly RouteContract[] = allRoutes;
const json = routes.filter((route) => route.responseKind === undefined || route.responseKind === 'json');
/** Returns a path to a missing object: input is checked before any object is looked up. */
const pathOf = (route: RouteContract): string =>
  route.path.replaceAll(/:\w+/g, 'nosuch').replace('/*', '/nosuch');
const send = (route: RouteContract, query: string, body?: unknown): Promise<Answer> => {
  const version = route.versions.includes('v3.1') ? 'v3.1' : 'v2.1';
  const path = `${pathOf(route)}${query === '' ? '' : `?${query}`}`;
  return world.send(version, route.method, body === undefined ? { path } : { path, body });
};
/** Describes the problem of a refusal; null when the refusal is correct. */
function fault(route: RouteContract, what: string, { status, body }: Answer, code?: string): string | null {
  const about = `${route.method} ${route.path} ${what}`;
  if (status !== 400) return `${about}: ${status} ${JSON.stringify(body)?.slice(0, 150)}`;
  const missing = ['message', 'error_code', 'field', 'expected'].filter((key) => body?.[key] === undefined);
  if (missing.length > 0) return `${about}: no ${missing.join(', ')} in ${JSON.stringify(body)}`;
  return code === undefined || body.error_code === code ? null : `${about}: ${body.error_code}`;
}

test('queries of lists', async () => {
  const faults: (string | null)[] = [];
  for (const route of json.filter((one) => one.list !== undefined && one.method === 'GET')) {
    const queries = [
      '_size=-1',
      '_size=abc',
      '_size=1.5',
      '_offset=-1',
      '_offset=x',
      '_sort=nosuch',
      '_sort=-',
    ];
    if (route.list!.allowsGetAll) queries.push('_get_all_results=maybe');
    if (route.list!.allowsAllTenants) queries.push('_all_tenants=maybe');
    if (route.list!.filters.length > 0 && route.list!.ignoresOthers !== true) queries.push('nosuch=1');
    for (const query of queries) faults.push(fault(route, query, await send(route, query)));
    const include = await send(route, '_include=nosuch');
    faults.push(fault(route, '_include=nosuch', include, 'no_such_include_field_error'));
  }
  expect(faults.filter((one) => one !== null)).toEqual([]);
}, 120_000);

test('ids of paths that break the rules of names', async () => {
  const checked = [
    ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} /secrets/:secret_key`),
    ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} /filters/deployments/:id`),
    ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} /filters/blueprints/:filter_id`),
    ...['GET', 'PUT', 'PATCH'].map((method) => `${method} /agents/:name`),
    ...['GET', 'PUT', 'POST'].map((method) => `${method} /sites/:name`),
    'GET /tenants/:tenant_name',
    'POST /tenants/:name',
    'DELETE /tenants/:name',
    'GET /user-groups/:group_name',
    'DELETE /user-groups/:group_name',
    'POST /users/unlock/:username',
  ];
  const faults: (string | null)[] = [];
  for (const about of checked) {
    const route = routes.find(({ method, path }) => `${method} ${path}` === about)!;
    for (const id of ['x:y', '1a']) {
      const request = { path: route.path.replace(/:\w+/, id), ...(route.body ? { body: {} } : {}) };
      const answer = await world.send('v3.1', route.method, request);
      faults.push(fault(route, id, answer, 'bad_parameters_error'));
      if (answer.body?.field !== route.path.match(/:(\w+)/)![1])
        faults.push(`${about}: ${answer.body?.field}`);
    }
  }
  expect(faults.filter((one) => one !== null)).toEqual([]);
}, 60_000);

/** Returns a value that is invalid for the schema. */
function wrong(schema: Record<string, unknown>): unknown {
  const types = new Set(((schema.anyOf ?? [schema]) as { type?: string }[]).map((one) => one.type ?? 'any'));
  if (types.has('any')) return undefined;
  if (!types.has('object')) return { wrong: 1 };
  return types.has('string') || types.has('array') ? 5 : 'wrong';
}

test('bodies: each property of another type, and what is no object', async () => {
  const faults: (string | null)[] = [];
  for (const route of routes.filter((one) => one.body !== undefined)) {
    for (const body of [[], 'text', 5].filter((one) => !route.body!.safeParse(one).success)) {
      const answer = await send(route, '', body);
      if (answer.status !== 400)
        faults.push(`${route.method} ${route.path} ${JSON.stringify(body)}: ${answer.status}`);
    }
    const schema = z.toJSONSchema(route.body!, { io: 'input', unrepresentable: 'any' }) as {
      properties?: Record<string, Record<string, unknown>>;
    };
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const value = wrong(property);
      if (value === undefined) continue;
      const answer = await send(route, '', { [name]: value });
      const about = `{${name}: ${JSON.stringify(value)}}`;
      faults.push(fault(route, about, answer));
    }
  }
  expect(faults.filter((one) => one !== null)).toEqual([]);
}, 120_000);

test('unknown paths and methods are told as JSON', async () => {
  const faults: string[] = [];
  const paths = new Map<string, Set<string>>();
  for (const route of routes.filter((one) => one.versions.includes('v3.1'))) {
    const methods = paths.get(pathOf(route)) ?? new Set();
    paths.set(pathOf(route), methods.add(route.method));
  }
  for (const [path, methods] of paths) {
    const unknown = ['PATCH', 'DELETE', 'POST', 'PUT'].find((method) => !methods.has(method));
    if (unknown === undefined) continue;
    const { status, body } = await world.send('v3.1', unknown, { path });
    // Some paths match other routes, with a name in place of the last segment.
    const isRefused = status >= 400 && status < 500 && typeof body?.error_code === 'string';
    if (!isRefused) faults.push(`${unknown} ${path}: ${status} ${JSON.stringify(body)?.slice(0, 100)}`);
  }
  const nowhere = await world.send('v3.1', 'GET', { path: '/nosuch/path' });
  expect([nowhere.status, nowhere.body.error_code]).toEqual([404, 'not_found_error']);
  expect(faults).toEqual([]);
}, 120_000);

const schedule = (more: object) => ({
  method: 'PUT',
  path: '/execution-schedules/bad?deployment_id=d1',
  body: { workflow_id: 'install', since: '2040-01-01 00:00:00', recurrence: '1 day', ...more },
});
const rules = (rule: object) => ({
  method: 'POST',
  path: '/searches/deployments',
  body: { filter_rules: [{ key: 'a', values: ['b'], operator: 'any_of', type: 'label', ...rule }] },
});
const get = (path: string) => ({ method: 'GET', path, body: undefined });
const put = (path: string, body: object) => ({ method: 'PUT', path, body });
const post = (path: string, body: object) => ({ method: 'POST', path, body });
const patch = (path: string, body: object) => ({ method: 'PATCH', path, body });

test.each([
  ['recurrence', schedule({ recurrence: '5 fortnights' })],
  ['weekdays[0]', schedule({ weekdays: ['xx'] })],
  ['weekdays[0]', schedule({ weekdays: ['2mo'] })],
  ['rrule', schedule({ recurrence: undefined, rrule: 'FREQ=NEVER' })],
  ['recurrence', schedule({ rrule: 'FREQ=DAILY' })],
  ['since', schedule({ since: 'some day' })],
  ['until', schedule({ until: '2040-13-45 00:00:00' })],
  ['slip', schedule({ slip: -1 })],
  ['filter_rules[0]', rules({ operator: 'rubbish' })],
  ['filter_rules[0]', rules({ type: 'rubbish' })],
  ['filter_rules[0]', rules({ type: 'attribute', key: 'rubbish' })],
  ['filter_rules[0]', rules({ operator: 'is_null' })],
  ['filter_rules[0]', rules({ values: [] })],
  ['_range', get('/events?_range=timestamp,rubbish,')],
  ['_range', get('/events?_range=rubbish,2040-01-01,')],
  ['type', get('/events?type=rubbish')],
  ['_target_field', get('/summary/blueprints?_target_field=rubbish')],
  ['_target_field', get('/summary/deployments')],
  ['_sub_field', get('/summary/nodes?_target_field=deployment_id&_sub_field=nosuch')],
  ['_include_system_workflows', get('/executions?_include_system_workflows=maybe')],
  ['_evaluate_functions', get('/nodes?_evaluate_functions=maybe')],
  ['to_datetime', { method: 'DELETE', path: '/executions', body: { to_datetime: 'rubbish' } }],
  ['keep_last', { method: 'DELETE', path: '/executions', body: { keep_last: 0 } }],
  ['expiration_date', post('/tokens', { expiration_date: 'rubbish' })],
  ['location', put('/sites/bad', { location: '100,200' })],
  ['location', put('/sites/bad', { location: 'here' })],
  ['labels[0]', put('/deployments/bad', { blueprint_id: 'b1', labels: [{ a: 'b', c: 'd' }] })],
  ['visibility', put('/secrets/bad', { value: 'v', visibility: 'rubbish' })],
  ['visibility', patch('/blueprints/b1/set-visibility', { visibility: 'private' })],
  ['version', patch('/node-instances/$nodeInstance', { version: -1 })],
  ['version', patch('/node-instances/$nodeInstance', { state: 'started' })],
  ['inputs', put('/deployment-updates/d1/update/initiate', { inputs: 'x' })],
  ['dependency_creator', put('/deployments/inter-deployment-dependencies', { source_deployment: 'd1' })],
  ['nodes.n1', post('/deployment-modifications', { deployment_id: 'd1', nodes: { n1: 5 } })],
  [
    'nodes.n1.instances',
    post('/deployment-modifications', { deployment_id: 'd1', nodes: { n1: { instances: 'x' } } }),
  ],
  ['payload', post('/evaluate/functions', { deployment_id: 'd1', payload: 'x' })],
  ['secrets_list', post('/secrets/share/import', { override_collisions: false })],
  ['action', post('/executions/$execution', { action: 'rubbish' })],
  [
    'scheduled_time',
    post('/executions', { deployment_id: 'd1', workflow_id: 'install', scheduled_time: 'rubbish' }),
  ],
])('%s of %j is refused', async (field, { method, path, body }) => {
  const answer = await world.send('v3.1', method, body === undefined ? { path } : { path, body });
  expect([answer.status, answer.body]).toEqual([
    400,
    expect.objectContaining({ message: expect.any(String), error_code: expect.any(String) }),
  ]);
  expect(String(answer.body.field)).toBe(field);
  if (answer.body.error_code === 'bad_parameters_error') expect(answer.body.expected).toBeDefined();
});
