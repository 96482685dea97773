// Every list can be filtered and sorted by each scalar field of its resource, as in the original by each column of its models
// (reference/rest-api.md 3.2). Needs the bundles of `npm run build`.
import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Caller, callerOf } from '../security/caller';
import { ASKED, FEW, fill } from './filled-manager';

let fleet: Fleet;
let caller: Caller;
beforeAll(async () => {
  fleet = await startFleet({ mode: 'standalone', env: { BATON_VALIDATE_RESPONSES: 'true' } });
  caller = callerOf(fleet);
  await fill(caller);
}, 180_000);
afterAll(async () => await fleet?.stop(), 60_000);

type Item = Record<string, unknown>;

const isListed = ({ list, method, versions, path }: RouteContract): boolean =>
  !!list &&
  versions.includes('v3.1') &&
  path !== '/secrets/share/export' &&
  // The manager generates the id of the plugin. The list behaves like the list of a blueprint's uses.
  path !== '/plugins/:plugin_id/uses' &&
  (method === 'GET' || (method === 'POST' && /^\/searches\/(deployments|blueprints|secrets)$/.test(path)));
const lists = allRoutes.filter(isListed);
/** Lists whose items are the resource itself, with several items; events have special filters (reference ch. 7). */
const plain = lists.filter(
  ({ path }) => !FEW.has(path) && !/^\/(summary|labels|workflows|permissions|events)/.test(path),
);

async function items({ method, path }: RouteContract, query: string): Promise<Item[]> {
  const body = method === 'POST' ? {} : undefined;
  const answer = await caller.send(caller.admin, method, `${ASKED[path] ?? `${path}?`}${query}`, body);
  expect([query, answer.status, answer.status < 300 ? '' : answer.text]).toEqual([query, 200, '']);
  return JSON.parse(answer.text).items;
}

/** Returns the fields that a list shows when they are requested. */
const shownBy = ({ list }: RouteContract, names: readonly string[]): string[] =>
  names.filter((name) => list!.fields.includes(name));

test.each(plain.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s: filtered by any field has those with its value, by an empty one those without any',
  async (_name, route) => {
    const names = shownBy(route, route.list!.filters);
    const whole = await items(route, `_include=${names.join()}`);
    expect(whole.length).toBeGreaterThan(0);
    for (const name of names) {
      const value = whole.at(-1)![name];
      const text = value === null ? '' : String(value);
      const found = await items(route, `_include=${names.join()}&${name}=${encodeURIComponent(text)}`);
      const wanted = whole.filter((item) => item[name] === value);
      expect([name, text, found]).toEqual([
        name,
        text,
        text === '' && value !== null ? expect.anything() : wanted,
      ]);
      expect([name, await items(route, `${name}=no-such-value`)]).toEqual([name, []]);
    }
  },
  60_000,
);

test.each(lists.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s: takes each of its filters and sorts',
  async (_name, route) => {
    const { filters, sorts } = route.list!;
    for (const name of filters.filter((one) => one !== 'type')) await items(route, `_size=1&${name}=1`);
    for (const name of sorts) {
      const field = name === 'label:*' ? 'label:tier' : name;
      const up = await items(route, `_sort=${field}`);
      const down = await items(route, `_sort=-${field}`);
      const keys = (of: Item[]) => of.map((item) => JSON.stringify(item)).sort();
      expect(keys(down)).toEqual(keys(up));
    }
  },
  60_000,
);

test.each(plain.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s: is sorted as asked',
  async (_name, route) => {
    const names = shownBy(route, route.list!.sorts);
    for (const name of names)
      for (const sign of ['', '-']) {
        const values = (await items(route, `_include=${name}&_sort=${sign}${name}`)).map(
          (item) => item[name],
        );
        const known = values.filter((value) => value !== null && value !== undefined) as (string | number)[];
        const pairs = known.slice(1).map((value, i) => [known[i]!, value] as const);
        const isOrdered = pairs.every(([a, b]) => (sign === '-' ? a >= b : a <= b));
        expect([name, sign, isOrdered, values]).toEqual([name, sign, true, values]);
      }
  },
  60_000,
);

test('executions are deleted by whatever they are listed by', async () => {
  const { filters } = lists.find(({ path }) => path === '/executions')!.list!;
  for (const name of filters.filter((one) => one !== 'status'))
    for (const value of ['', 'no-such-value']) {
      const path = `/executions?id=no-such-value&${name}=${value}`;
      const answer = await caller.send(caller.admin, 'DELETE', path, {});
      expect([path, answer.status, answer.status < 300 ? '' : answer.text]).toEqual([path, 200, '']);
    }
});

test('what is no field of the resource, or no value, is refused with the names that are', async () => {
  const answer = await caller.send(caller.admin, 'GET', '/deployments?resource_availabilty=tenant');
  expect([answer.status, JSON.parse(answer.text)]).toEqual([
    400,
    expect.objectContaining({ error_code: 'bad_parameters_error', nearest: 'resource_availability' }),
  ]);
  for (const query of ['inputs={}', '_sort=inputs', '_sort=workdir_zip'])
    expect((await caller.send(caller.admin, 'GET', `/deployments?${query}`)).status).toBe(400);
});
