/** The overview and the list of all events in a real browser against a real manager, while executions fail, wait and run. */
import { join } from 'node:path';
import type { Client } from '@baton/client';
import type { Browser, Page } from 'playwright-core';
import { type Fleet, startFleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, followExecution, upload } from '../harness/session';
import { launch, openPage, signIn, type WatchedPage } from './browser';
import { judge } from './judge';

jest.setTimeout(240_000);
let fleet: Fleet;
let client: Client;
let browser: Browser;
let watched: WatchedPage;
let page: Page;

beforeAll(async () => {
  fleet = await startFleet({ mode: 'standalone', workers: 1 });
  client = adminClient(fleet);
  browser = await launch();
  watched = await openPage(browser, fleet.baseUrl);
  page = watched.page;
  await upload(client, 'failing', archiveOf(join(__dirname, 'blueprints/failing')));
  await call(client, 'createDeployment', { id: 'shop' }, { blueprint_id: 'failing' });
  const { id } = await call(client, 'startExecution', {}, { deployment_id: 'shop', workflow_id: 'install' });
  await followExecution(client, id);
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await fleet?.stop();
});
afterEach(() => expect(watched.offences.splice(0)).toEqual([]));

const go = async (path: string) => await page.goto(`${fleet.baseUrl}${path}`);
const dialog = () => page.getByRole('dialog').or(page.getByRole('alertdialog'));

test('the overview is what comes after the sign-in, with the failure in front', async () => {
  await go('/ui/');
  await signIn(page, 'admin', fleet.adminPassword);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('link', { name: 'install of shop' }).waitFor();
  await page.getByText('Everything that runs moves.').waitFor();
  await page.getByText('Message broker').waitFor();
  await judge(page, 'overview');
  const reads = watched.requests.filter((one) => one.startsWith('GET /api/'));
  expect(new Set(reads).size).toBeLessThanOrEqual(14);
  await page.getByRole('link', { name: /^1 Needs attention$/ }).click();
  await page.waitForURL(/deployment_status=requires_attention/);
  await page.getByRole('link', { name: 'shop' }).waitFor();
});

test('what happens elsewhere appears in the overview by itself', async () => {
  await go('/ui/default_tenant');
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('link', { name: /^1 Failed$/ }).waitFor();
  await call(client, 'startExecution', {}, { deployment_id: 'shop', workflow_id: 'install' });
  await page.getByRole('link', { name: /^2 Failed$/ }).waitFor({ timeout: 60_000 });
});

test('an execution that waits stands in the overview with its reason, until it moves', async () => {
  await upload(client, 'sleeper', archiveOf(join(root, 'test/e2e/blueprints/sleeper')));
  await call(
    client,
    'createDeployment',
    { id: 'slow' },
    { blueprint_id: 'sleeper', inputs: { seconds: '60' } },
  );
  const start = { deployment_id: 'slow', workflow_id: 'install' };
  const running = await call(client, 'startExecution', {}, start);
  const waiting = await call(client, 'startExecution', {}, { ...start, queue: true });
  const panel = page.locator('section').filter({ hasText: 'Executions that do not move' });
  await panel.getByRole('link', { name: 'install of slow' }).waitFor();
  await panel.getByText(/The queue|Another execution of the deployment/).waitFor();
  await judge(page, 'overview-waiting');
  for (const { id } of [waiting, running]) {
    await call(client, 'actOnExecution', { executionId: id }, { action: 'force-cancel' });
    await followExecution(client, id);
  }
  await panel.getByText('Everything that runs moves.').waitFor();
});

test('events are newest first, searched by the manager, and each has its details', async () => {
  await go('/ui/default_tenant/events?deployment_id=shop');
  const table = page.getByRole('table', { name: 'Events' });
  await table
    .getByRole('link', { name: /workflow execution failed/ })
    .first()
    .waitFor();
  await judge(page, 'events');
  await page.getByLabel('Search in messages').fill("Starting 'install'");
  await page.waitForURL(/message=Starting/);
  await page.getByText('2 events').waitFor();
  await table
    .getByRole('link', { name: /Starting 'install'/ })
    .first()
    .click();
  await page.waitForURL(/event=/);
  await dialog().getByText('workflow_started').waitFor();
  await judge(page, 'event');
  await page.reload();
  await dialog().getByText('workflow_started').waitFor();
  await dialog().getByRole('link', { name: 'install', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Hold' }).click();
  await page.waitForURL(/_range=timestamp/);
  await page.getByText('2 events').waitFor();
});

test('events up to a time are read by a cursor', async () => {
  const asked = page.waitForResponse((answer) => /api.*\/events\?.*2100-01-01/.test(answer.url()));
  await go('/ui/default_tenant/events?deployment_id=shop&_range=timestamp,,2100-01-01T00:00:00.000Z');
  const answer = await asked;
  expect(answer.url()).toContain('_after=&');
  const { items, metadata } = await answer.json();
  const { pagination } = metadata;
  expect([items.length, pagination.next === null]).toEqual([
    Math.min(pagination.total, pagination.size),
    pagination.total <= pagination.size,
  ]);
  await page.getByText(`${pagination.total} events`).waitFor();
});

test('events that are written appear while somebody looks', async () => {
  await go('/ui/default_tenant/events?deployment_id=shop&message=Starting+%27install%27');
  await page.getByText('2 events').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await call(client, 'startExecution', {}, { deployment_id: 'shop', workflow_id: 'install' });
  await page.getByText('3 events').waitFor();
});
