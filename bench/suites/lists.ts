// Every list and search of the API with each of its filters, sorts and searches, on a large data set: finds the slow ones.
import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { type Manager, startManager } from '../harness/manager';
import { columns, type Plan } from '../harness/report';
import { median, rounded } from '../harness/statistics';
import { seededDatabase } from '../seed/seeded';
import { TENANT } from '../seed/sizes';

/** Slower requests are listed. */
const SLOW_MS = 200;
/** Slower requests are sent once, all others twice: the faster answer counts. */
const ONCE_MS = 1_000;
const GIVE_UP_MS = 10_000;
const PAGE = 50;
/** Lists whose answer is not a page, or whose objects a manager without licence and snapshots does not have. */
const LEFT_OUT = /export|license|snapshots|log-bundles|managers|brokers|db-nodes|permissions/;
const PATHS: Record<string, string> = {
  '/labels/deployments/:key': '/labels/deployments/env',
  '/labels/blueprints/:label_key': '/labels/blueprints/env',
};
/** Summaries count the objects of these lists. */
const SUMMED = /^\/summary\/(.*)$/;

interface Asked {
  what: string;
  ms: number;
}

type Item = Record<string, unknown>;
type Page = { items: Item[]; metadata: { pagination: { total: number } } };
type Ask = (method: string, path: string) => Promise<{ status: number; page: Page; ms: number }>;

export async function lists(plan: Plan): Promise<object> {
  const database = await seededDatabase(plan);
  const manager = await startManager({ mode: plan.modes[0]!, workers: 1, databaseUrl: database.url });
  try {
    const ask = askOf(manager);
    const only = plan.only === undefined ? null : new RegExp(plan.only);
    const routes = allRoutes.filter((route) => isListed(route) && (only?.test(route.path) ?? true));
    plan.say(columns('lists, ms', 'requests', 'median', 'slowest'));
    const results: Record<string, object> = {};
    for (const route of routes) results[`${route.method} ${route.path}`] = await ofRoute(plan, ask, route);
    return { sizes: database.sizes, slowMs: SLOW_MS, results };
  } finally {
    await manager.stop();
    await database.drop();
  }
}

function isListed({ list, method, path, versions }: RouteContract): boolean {
  if (!list || !versions.includes('v3.1') || LEFT_OUT.test(path)) return false;
  return method === 'GET' || (method === 'POST' && path.startsWith('/searches/'));
}

function askOf({ fleet }: Manager): Ask {
  const authorization = `Basic ${Buffer.from(`admin:${fleet.adminPassword}`).toString('base64')}`;
  return async (method, path) => {
    const begin = performance.now();
    const signal = AbortSignal.timeout(GIVE_UP_MS);
    const response = await fetch(`${fleet.baseUrl}/api/v3.1${path}`, {
      method,
      headers: {
        authorization,
        tenant: TENANT,
        ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      },
      body: method === 'POST' ? '{}' : null,
      signal,
    });
    const page = (await response.json()) as Page;
    return { status: response.status, page, ms: performance.now() - begin };
  };
}

async function ofRoute(plan: Plan, ask: Ask, route: RouteContract): Promise<object> {
  const path = PATHS[route.path] ?? route.path;
  const asked: Asked[] = [];
  for (const query of await queriesOf(ask, route, path)) {
    const first = await ask(route.method, `${path}?${query}`).catch((error: Error) => {
      if (error.name !== 'TimeoutError') throw error;
      return { status: 200, ms: GIVE_UP_MS };
    });
    // Fields by which a summary cannot count, or filters that need another kind of value.
    if (first.status === 400) continue;
    if (first.status !== 200) throw new Error(`${path}?${query}: ${first.status}`);
    const again = first.ms < ONCE_MS ? (await ask(route.method, `${path}?${query}`)).ms : first.ms;
    asked.push({ what: query, ms: rounded(Math.min(first.ms, again), 0) });
  }
  if (asked.length === 0) return { requests: 0 };
  asked.sort((a, b) => b.ms - a.ms);
  const middle = median(asked.map(({ ms }) => ms));
  plan.say(columns(`  ${route.method} ${route.path}`, asked.length, middle, asked[0]!.ms));
  const slow = asked.filter(({ ms }) => ms > SLOW_MS);
  for (const { what, ms } of slow) plan.say(`      ${ms} ${what}`);
  return { requests: asked.length, medianMs: middle, slowestMs: asked[0]!.ms, slowest: asked[0]!.what, slow };
}

/**
 * Returns queries: the page, both ends of the list, each filter with a value of a row in the middle, each sort in both
 * directions, a search.
 */
async function queriesOf(ask: Ask, route: RouteContract, path: string): Promise<string[]> {
  const { filters, sorts, search, allowsAllTenants } = route.list!;
  const summed = SUMMED.exec(path)?.[1]?.replaceAll('_', '-');
  const { total, item } = await rowInTheMiddle(ask, route.method, summed ? `/${summed}` : path);
  const values = filters.flatMap((name) => {
    const value = Array.isArray(item[name]) ? item[name][0] : item[name];
    if (value === undefined || value === null || typeof value === 'object') return [];
    return [`${name}=${encodeURIComponent(String(value))}`];
  });
  const size = `_size=${PAGE}`;
  if (summed) {
    const targets = filters.map((name) => `_target_field=${name}&${size}`);
    return [...targets, ...values.map((value) => `_target_field=visibility&${value}`)];
  }
  const text = String(item[search ?? ''] ?? '').slice(1);
  return [
    size,
    ...[0.5, 1].map((part) => `${size}&_offset=${Math.max(0, Math.floor(total * part) - PAGE)}`),
    ...(allowsAllTenants ? [`${size}&_all_tenants=true`] : []),
    ...values.map((value) => `${size}&${value}`),
    ...sorts
      .filter((name) => !name.includes('*'))
      .flatMap((name) => [`${size}&_sort=${name}`, `${size}&_sort=-${name}`]),
    ...(text ? [`${size}&_search=${encodeURIComponent(text)}`] : []),
  ];
}

async function rowInTheMiddle(
  ask: Ask,
  method: string,
  path: string,
): Promise<{ total: number; item: Item }> {
  const { page } = await ask(method, `${path}?_size=1`);
  const total = page.metadata?.pagination.total ?? 0;
  const middle = await ask(method, `${path}?_size=1&_offset=${Math.floor(total / 2)}`);
  return { total, item: middle.page.items?.[0] ?? {} };
}
