/**
 * Large answers, made up at the border of the browser: how much of them the console asks for, draws and keeps. Times are printed,
 * and judged only where they would be ten times too long: machines differ.
 */
import { eventually } from '@baton/testkit';
import type { Browser, Page, Route } from 'playwright-core';
import { type Fleet, startFleet } from '../harness/fleet';
import { launch, openPage, signIn, type WatchedPage } from './browser';

jest.setTimeout(240_000);
const TENANT = '/ui/default_tenant';
const SECOND_MS = 1000;
let fleet: Fleet;
let browser: Browser;
let watched: WatchedPage;
let page: Page;

beforeAll(async () => {
  fleet = await startFleet({ mode: 'standalone', workers: 0 });
  browser = await launch();
  watched = await openPage(browser, fleet.baseUrl);
  page = watched.page;
  await page.goto(`${fleet.baseUrl}${TENANT}/deployments`);
  await signIn(page, 'admin', fleet.adminPassword);
  await page.getByText('No deployments in this tenant').waitFor();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await fleet?.stop();
});
afterEach(async () => {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  expect(watched.offences.splice(0)).toEqual([]);
});

const json = (route: Route, body: unknown): Promise<void> => route.fulfill({ json: body });
const countOf = async (selector: string): Promise<number> => await page.locator(selector).count();

function deploymentRow(i: number) {
  return {
    id: `dep-${String(i).padStart(6, '0')}`,
    display_name: `dep-${String(i).padStart(6, '0')}`,
    blueprint_id: `blueprint-${i % 7}`,
    created_at: '2026-01-01T00:00:00.000Z',
    installation_status: 'active',
    deployment_status: i % 9 === 0 ? 'requires_attention' : 'good',
    sub_services_count: 0,
    sub_environments_count: 0,
    latest_execution: null,
    latest_execution_status: null,
    latest_execution_workflow_id: null,
    latest_execution_total_operations: 0,
    latest_execution_finished_operations: 0,
    drifted_instances: i % 11 === 0 ? 2 : 0,
    unavailable_instances: 0,
  };
}

test('100,000 deployments: one page is asked for, few rows are drawn, and row 90,000 is near', async () => {
  const total = 100_000;
  const offsets: number[] = [];
  await page.route(/\/api\/v3\.1\/deployments\?/, (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [offset, size] = [Number(query.get('_offset')), Number(query.get('_size'))];
    expect(query.get('_include')).toBeTruthy();
    offsets.push(offset);
    const items = Array.from({ length: Math.min(size, total - offset) }, (_, i) => deploymentRow(offset + i));
    return json(route, { items, metadata: { pagination: { total, offset, size } } });
  });
  const before = watched.requests.length;
  const startedMs = performance.now();
  await page.goto(`${fleet.baseUrl}${TENANT}/deployments`);
  await page.getByRole('link', { name: 'dep-000000' }).waitFor();
  const firstMs = performance.now() - startedMs;
  await page.getByText('100,000 deployments').waitFor();
  // Three for the rows and their counts, and the names for a filter after them; nothing twice.
  await eventually(() =>
    expect(
      watched.requests
        .slice(before)
        .filter((one) => one.includes('/api/') && !one.endsWith('/stream'))
        .map((one) => one.replace('GET /api/v3.1', ''))
        .filter((one) => one !== '/blueprints')
        .sort(),
    ).toEqual(['/deployments', '/session', '/summary/deployments']),
  );
  expect(new Set(offsets)).toEqual(new Set([0]));
  expect(await countOf('[role=row]')).toBeLessThanOrEqual(80);
  const jumpedMs = performance.now();
  await page.evaluate('document.querySelector("[data-rows]").scrollTop = 90000 * 44');
  await page.getByRole('link', { name: 'dep-090005' }).waitFor();
  const jumpMs = performance.now() - jumpedMs;
  expect(await countOf('[role=row]')).toBeLessThanOrEqual(80);
  expect(new Set(offsets).size).toBeLessThanOrEqual(4);
  console.info(`first rows ${firstMs.toFixed(0)} ms, row 90,000 after ${jumpMs.toFixed(0)} ms`);
  expect(firstMs).toBeLessThan(15 * SECOND_MS);
  expect(jumpMs).toBeLessThan(5 * SECOND_MS);
});

function task(i: number) {
  const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
  const isFailed = i === 7_777;
  return {
    id: `t${i}`,
    name: `task ${i}`,
    state: isFailed ? 'failed' : 'succeeded',
    type: 'RemoteWorkflowTask',
    dependencies: i > 0 ? [`t${i - 1}`] : [],
    operation: 'cloudify.interfaces.lifecycle.create',
    source_id: null,
    target_id: null,
    started_at: at(i * 10),
    ended_at: at(i * 10 + 500),
    attempt: 1,
    next_retry_at: null,
    error: isFailed ? { type: 'X', message: 'the needle', recoverable: false } : null,
    node_instance_id: `node_${i}`,
    node_id: 'node',
    subgraph_id: null,
  };
}

test('a timeline of 10,000 tasks draws few rows and finds the one that failed', async () => {
  const execution = {
    id: 'e1',
    workflow_id: 'install',
    status: 'failed',
    deployment_id: 'big',
    created_at: '2026-01-01T00:00:00.000Z',
    error: 'x',
  };
  await page.route('**/api/v3.1/executions/e1', (route) => json(route, execution));
  await page.route('**/api/v3.1/operations/t7777', (route) =>
    json(route, { ...task(7_777), parameters: { task_kwargs: { inputs: { port: 8080 } } } }),
  );
  await page.route(/api\/v3\.1\/executions\/e1\/graph/, (route) => {
    // Most of a large answer would be parameters: they come with the task that somebody opens.
    expect(new URL(route.request().url()).searchParams.get('_include')?.split(',')).not.toContain(
      'parameters',
    );
    return json(route, {
      execution_id: 'e1',
      status: 'failed',
      version: 1,
      is_planned: false,
      is_whole: true,
      error: null,
      total_operations: 10_000,
      stages: [],
      graphs: [
        {
          id: 'g',
          name: 'install',
          created_at: null,
          ended: 'failed',
          operations: Array.from({ length: 10_000 }, (_, i) => task(i)),
        },
      ],
    });
  });
  const startedMs = performance.now();
  await page.goto(`${fleet.baseUrl}${TENANT}/executions/e1/gantt`);
  await page.getByRole('table').getByText('node_0', { exact: true }).waitFor();
  console.info(`timeline after ${(performance.now() - startedMs).toFixed(0)} ms`);
  expect(await countOf('[role=row]')).toBeLessThanOrEqual(60);
  await page.getByText('Failed first: create node_7777').waitFor();
  await page.getByLabel('Failed only').check();
  await page.getByRole('table').getByText('node_7777').waitFor();
  expect(await countOf('[role=row]')).toBe(2);
  await page.getByRole('button', { name: 'Open the task create node_7777' }).click();
  const opened = page.getByRole('dialog');
  await opened.getByText('cloudify.interfaces.lifecycle.create').waitFor();
  await opened.getByText('task_kwargs').waitFor();
  await page.keyboard.press('Escape');
  await opened.waitFor({ state: 'hidden' });
  await page.getByRole('link', { name: 'Tasks' }).click();
  await page.getByText('200 of 10,000 tasks').waitFor();
});

test('a log of 20,000 lines keeps 2,000 of them, the newest', async () => {
  await page.route('**/api/v3.1/executions/e2', (route) =>
    json(route, {
      id: 'e2',
      workflow_id: 'install',
      status: 'terminated',
      created_at: '2026-01-01T00:00:00.000Z',
    }),
  );
  const lines = Array.from({ length: 20_000 }, (_, i) => {
    const data = {
      type: 'cloudify_log',
      level: 'info',
      message: `line ${i + 1}`,
      reported_timestamp: '2026-01-01T00:00:00.000Z',
    };
    return `id: ${i + 1}\ndata: ${JSON.stringify(data)}\n\n`;
  });
  await page.route(/\/events\/stream/, (route) => {
    expect(new URL(route.request().url()).searchParams.get('from')).toBe('tail:500');
    return route.fulfill({
      contentType: 'text/event-stream',
      body: `${lines.join('')}event: end\ndata: {"status":"terminated","error":null}\n\n`,
    });
  });
  await page.goto(`${fleet.baseUrl}${TENANT}/executions/e2/log`);
  await page.getByText('line 20000', { exact: true }).waitFor();
  await page.getByText('Complete · 2,000 lines').waitFor();
  await page.getByText('18,000 earlier lines are not in memory.').waitFor();
  expect(await countOf('ol > li')).toBeLessThanOrEqual(120);
});

test('a topology of 1,000 nodes is drawn by types, and listed in full', async () => {
  await page.route(/\/api\/v3\.1\/deployments\/big\?/, (route) =>
    json(route, {
      ...deploymentRow(1),
      id: 'big',
      display_name: 'big',
      created_by: 'admin',
      description: null,
      site_name: null,
      labels: [],
      inputs: {},
      workflows: [],
      visibility: 'tenant',
      deployment_groups: [],
    }),
  );
  await page.route(/api\/v3\.1\/deployments\/big\/topology/, (route) =>
    json(route, {
      deployment_id: 'big',
      version: '1',
      nodes: Array.from({ length: 1000 }, (_, i) => ({
        id: `n${i}`,
        type: `kinds.nodes.Kind${i % 6}`,
        host_id: null,
        contained_in: null,
        instances: { total: 2, by_state: { started: 2 } },
        has_drift: false,
      })),
      edges: Array.from({ length: 999 }, (_, i) => ({
        source: `n${i + 1}`,
        target: `n${i}`,
        type: 'cloudify.relationships.connected_to',
        kind: 'connected_to',
      })),
      types: {},
      groups: [],
    }),
  );
  const startedMs = performance.now();
  await page.goto(`${fleet.baseUrl}${TENANT}/deployments/big/topology`);
  await page.getByRole('img', { name: 'Topology: 1,000 nodes, 999 relationships' }).waitFor();
  console.info(`topology after ${(performance.now() - startedMs).toFixed(0)} ms`);
  expect(await countOf('svg[role=img] g')).toBe(6);
  await page.getByLabel('Show as').selectOption('table');
  await page.getByRole('cell', { name: 'n999', exact: true }).waitFor();
});
