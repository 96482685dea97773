/**
 * Examples as people see them in the console: the items of examples/http-api with their drift and the diff of an update, and the
 * saved plan of examples/terraform-stack.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import type { Browser, Page } from 'playwright-core';
import { builtPlugin } from '../harness/example';
import { type Fleet, startFleet } from '../harness/fleet';
import { type ItemsApi, startItemsApi } from '../harness/items-api';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, follow, succeed, upload } from '../harness/session';
import { launch, openPage, signIn, type WatchedPage } from './browser';
import { type Hands, handsOn } from './hands';
import { judge } from './judge';

jest.setTimeout(240_000);
const TENANT = '/ui/default_tenant';
const TOKEN = 'token-of-the-api-3';
const PASSWORD = 'correct horse 4712';
const standIns = join(root, 'plugins/terraform/src/testing');
const hasTerraform = spawnSync('terraform', ['version']).status === 0;
const program = hasTerraform ? 'terraform' : join(standIns, 'stand-in.cjs');

let api: ItemsApi;
let fleet: Fleet;
let client: Client;
let browser: Browser;
let watched: WatchedPage;
let page: Page;
let hands: Hands;

beforeAll(async () => {
  api = await startItemsApi(TOKEN);
  const env = {
    BATON_TASK_RETRIES: '0',
    BATON_WORKER_EGRESS_ALLOW: `127.0.0.1:${api.port}`,
    ...(hasTerraform ? {} : { BATON_WORKER_SHARED_PATHS: standIns }),
  };
  fleet = await startFleet({ mode: 'standalone', workers: 1, env });
  client = adminClient(fleet);
  browser = await launch();
  await installItems();
  await planStack();
  watched = await openPage(browser, fleet.baseUrl);
  page = watched.page;
  hands = handsOn(page);
  await go('/deployments');
  await signIn(page, 'admin', fleet.adminPassword);
  await page.getByRole('link', { name: 'items', exact: true }).waitFor();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await fleet?.stop();
  await api?.stop();
}, 120_000);
afterEach(() => expect(watched.offences.splice(0)).toEqual([]));

async function installItems(): Promise<void> {
  await client.upload('uploadPlugin', { content: builtPlugin('utilities') });
  await call(client, 'putSecret', { secret_key: 'http_api_token' }, { value: TOKEN });
  await upload(client, 'http-api', archiveOf(join(root, 'examples/http-api')));
  const inputs = { api_host: '127.0.0.1', api_port: api.port, api_tls: false };
  await call(client, 'createDeployment', { id: 'items' }, { blueprint_id: 'http-api', inputs });
  await succeed(client, 'items', 'install');
}

async function planStack(): Promise<void> {
  await client.upload('uploadPlugin', { content: builtPlugin('terraform') });
  await call(client, 'putSecret', { secret_key: 'stack_admin_password' }, { value: PASSWORD });
  await upload(client, 'stack', archiveOf(join(root, 'examples/terraform-stack')));
  await call(client, 'createDeployment', { id: 'stack' }, { blueprint_id: 'stack', inputs: { program } });
  await succeed(client, 'stack', 'terraform_plan');
}

const go = async (path: string) => await page.goto(`${fleet.baseUrl}${TENANT}${path}`);
const named = (name: string) => [...api.items.values()].find((item) => item.name === name)!;
/** A row of a table, as the texts of its cells. */
const rowsOf = async (table: string): Promise<string[][]> => {
  const rows = page.getByRole('region', { name: table, exact: true }).locator('tbody tr');
  await rows.first().waitFor();
  return await Promise.all(
    (await rows.all()).map(async (row) => await row.getByRole('cell').allTextContents()),
  );
};

/** Runs a workflow by the dialog of the deployment, and stays at its execution. */
async function run(workflow: string): Promise<void> {
  await go('/deployments/items/nodes');
  await hands.press('Run a workflow');
  await hands.dialog().getByLabel('Workflow').selectOption(workflow);
  await hands.send('Start');
  await page.waitForURL(/\/executions\//);
  await completed();
}
const completed = async () =>
  await page
    .getByRole('heading', { level: 1 })
    .getByText('Completed', { exact: true })
    .waitFor({ timeout: 90_000 });

test('the items of the API are nodes, with what the API answered', async () => {
  await go('/deployments/items/nodes');
  await page.getByRole('button', { name: /^network/ }).waitFor();
  await page.getByRole('button', { name: /^server/ }).click();
  const panel = page.locator('#instances-server');
  await panel
    .getByText(String(named('server').id), { exact: true })
    .first()
    .waitFor();
  await judge(page, 'example-nodes');
  expect(await page.locator('main').textContent()).not.toContain(TOKEN);
  expect(await panel.getByText('drifted').count()).toBe(0);
  await go('/deployments/items/drift');
  await page.getByText('No drift is known').waitFor();
});

test('what somebody changes at the API is drift of its node: which value, as kept and as found', async () => {
  named('server').size = 9;
  await run('check_drift');
  await go('/deployments/items/nodes');
  await page.getByRole('button', { name: /^server.*1 drifted/ }).waitFor();
  expect(await page.getByRole('button', { name: /^network/ }).textContent()).not.toContain('drifted');
  await go('/deployments/items/drift');
  const section = page.getByRole('article', { name: /^server_/ });
  const instance = await section.getByRole('heading', { level: 2 }).textContent();
  expect(await rowsOf(`Drift of ${instance}`)).toEqual([['expected.size', '1', '9']]);
  expect(await page.getByRole('article').count()).toBe(1);
  await judge(page, 'example-drift');
});

test('an update says by property what it would change, and takes the drift back when it is applied', async () => {
  await go('/deployments/items/update');
  await page.getByLabel('size', { exact: true }).fill('5');
  await judge(page, 'example-update-form');
  await hands.press('Show what would change');
  await page.waitForURL(/preview_id=/, { timeout: 60_000 });
  for (const node of ['network', 'server'])
    expect(await rowsOf(node)).toEqual([
      ['properties.expected.size', '1', '5', 'a check for drift decides when it runs'],
    ]);
  expect(await rowsOf('Inputs')).toEqual([['size', '1', '5']]);
  expect([named('network').size, named('server').size]).toEqual([1, 9]);
  await judge(page, 'example-update');
  await hands.press('Apply the update');
  await page.waitForURL(/\/executions\//);
  await completed();
  expect([named('network').size, named('server').size]).toEqual([5, 5]);
  await go('/deployments/items/drift');
  await page.getByText('No drift is known').waitFor();
});

test('a check that fails is told from a difference, with its error', async () => {
  const id = String(named('server').id);
  const kept = api.items.get(id)!;
  api.items.delete(id);
  await follow(client, 'items', 'check_drift');
  await go('/deployments/items/drift');
  const section = page.getByRole('article', { name: /^server_/ });
  await section.getByText('The check itself failed').waitFor();
  await section.getByText(/does not exist any more/).waitFor();
  await judge(page, 'example-check-failed');
  api.items.set(id, kept);
  await succeed(client, 'items', 'check_drift');
  await page.getByText('No drift is known').waitFor();
});

test('the saved plan of a stack is read before it is applied, and has no secret', async () => {
  await go('/deployments/stack/nodes');
  await page.getByRole('button', { name: /^stack/ }).click();
  const panel = page.locator('#instances-stack');
  // Nothing is installed yet, so nothing was checked.
  await panel.getByText('not yet', { exact: true }).waitFor();
  const property = (name: string) =>
    panel.locator('dl > div').filter({ has: page.locator('dt').getByText(name, { exact: true }) });
  await property('plan').getByText('4 keys').click();
  await property('resource_changes').last().getByText('2 items').click();
  await panel.getByText('{"address": "terraform_data.server", "change": {"actions": ["create"]}}').waitFor();
  await property('plain_text_plan')
    .getByText(/^\d+ lines$/)
    .click();
  await panel.getByText(/Plan: 2 to add, 0 to change, 0 to destroy/).waitFor();
  await page.getByRole('button', { name: /^stack/ }).evaluate('(row) => row.scrollIntoView()');
  await judge(page, 'example-plan');
  expect(await page.content()).not.toContain(PASSWORD);
});
