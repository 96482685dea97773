/**
 * The console in a real browser against a real manager: from the sign-in to a failed execution, live, with the keyboard, on a
 * small screen, and with axe on each screen.
 */
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit';
import type { Browser, Page } from 'playwright-core';
import { type Fleet, startFleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, succeed, upload } from '../harness/session';
import { launch, openPage, setLook, shoot, signIn, type WatchedPage } from './browser';
import { judge as judgePage } from './judge';

jest.setTimeout(240_000);
const TENANT = '/ui/default_tenant';
let fleet: Fleet;
let client: Client;
let browser: Browser;
let watched: WatchedPage;
let page: Page;

beforeAll(async () => {
  fleet = await startFleet({ mode: 'standalone', workers: 2 });
  client = adminClient(fleet);
  browser = await launch();
  watched = await openPage(browser, fleet.baseUrl);
  page = watched.page;
}, 240_000);
afterAll(async () => {
  await browser?.close();
  // The servers that the example starts would outlive their manager.
  for (const id of ['web-shop', 'web-blog', 'intranet'])
    await succeed(client, id, 'uninstall').catch(() => undefined);
  await fleet?.stop();
}, 120_000);
afterEach(() => expect(watched.offences.splice(0)).toEqual([]));

/** Pixels of the log below what is seen; as text, since the tests know no names of browsers. */
const LEFT_BELOW =
  '((box) => box.scrollHeight - box.scrollTop - box.clientHeight)(document.querySelector("section[tabindex]"))';

const go = async (path: string) => await page.goto(`${fleet.baseUrl}${path}`);
const judge = (name: string): Promise<void> => judgePage(page, name);

test('who is not signed in sees the sign-in, at any address, and no data', async () => {
  await go(`${TENANT}/deployments?_search=web`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await judge('sign-in');
  await signIn(page, 'admin', 'wrong password');
  await page.getByText('User name or password is wrong.').waitFor();
  expect(watched.requests.filter((one) => one.includes('/deployments') && one.includes('/api/'))).toEqual([]);
});

test('after the sign-in the address that was asked for is shown, with its filter', async () => {
  await signIn(page, 'admin', fleet.adminPassword);
  await page.getByText('No deployment matches').waitFor();
  expect(page.url()).toContain('_search=web');
  await page.getByRole('button', { name: 'Clear all filters' }).first().click();
  await page.getByText('No deployments in this tenant').waitFor();
  await judge('deployments-empty');
});

test('a deployment that is made elsewhere appears by itself', async () => {
  await page.getByText('Live', { exact: true }).waitFor();
  await call(client, 'putSecret', { secret_key: 'hello_signature' }, { value: 'the console' });
  await upload(client, 'hello', archiveOf(join(root, 'examples/hello')));
  for (const id of ['web-shop', 'web-blog', 'intranet', 'archive'])
    await call(client, 'createDeployment', { id }, { blueprint_id: 'hello', inputs: { audience: id } });
  await page.getByRole('link', { name: 'web-shop' }).waitFor();
  await page.getByRole('link', { name: 'intranet' }).waitFor();
});

test('filters narrow the list, stand in the address and survive a reload', async () => {
  await page.keyboard.press('/');
  await page.keyboard.type('web');
  await page.getByRole('link', { name: 'intranet' }).waitFor({ state: 'detached' });
  await page.waitForURL(/_search=web/);
  await page.reload();
  await page.getByRole('link', { name: 'web-shop' }).waitFor();
  expect(await page.getByRole('link', { name: 'intranet' }).count()).toBe(0);
  // Counts are of what is searched for, too.
  await eventually(async () => {
    const texts = await page.getByRole('group', { name: 'Status' }).getByRole('button').allTextContents();
    const counts = texts.map((text) => Number(/\d*$/.exec(text)![0]));
    expect(counts.reduce((sum, one) => sum + one, 0)).toBe(2);
  });
  await page.getByRole('button', { name: 'Clear all filters' }).click();
  await page.getByRole('link', { name: 'intranet' }).waitFor();
});

test('a workflow is run by its form, and its end is seen without a reload', async () => {
  await page.getByRole('link', { name: 'web-shop' }).click();
  await page.waitForURL(/\/deployments\/web-shop\/nodes/);
  await page.getByRole('button', { name: 'Run a workflow' }).click();
  await page.getByRole('dialog').getByLabel('Workflow').selectOption('install');
  await judge('run-workflow');
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await page.waitForURL(/\/executions\//);
  await page.getByRole('heading', { level: 1 }).getByText('Completed').waitFor({ timeout: 90_000 });
  await page.getByRole('link', { name: 'Timeline' }).click();
  await page.getByRole('table', { name: 'Tasks over time' }).getByText('configure').first().waitFor();
  await judge('execution-timeline');
  await page
    .getByRole('button', { name: /^Open the task configure/ })
    .first()
    .click();
  await page.getByRole('dialog').getByText('task_kwargs').waitFor();
  await judge('execution-task');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('the log is there from its tail, and is searched by the manager', async () => {
  await page.getByRole('link', { name: 'Log', exact: true }).click();
  await page.getByText("'install' workflow execution succeeded").first().waitFor();
  // The end is seen, not only there.
  await page.getByText('This is the end of the log.').waitFor();
  await eventually(async () => expect(await page.evaluate(LEFT_BELOW)).toBeLessThan(2));
  await judge('execution-log');
  await page.getByLabel('Search in messages').fill('render-page');
  await page.waitForURL(/message=render-page/);
  await page.getByRole('link', { name: 'Tasks' }).click();
  await page.getByText('After').first().waitFor();
  await judge('execution-tasks');
});

test('a deployment shows its nodes, outputs, topology and runs', async () => {
  await go(`${TENANT}/deployments/web-shop/nodes`);
  await page.getByRole('button', { name: /server/ }).click();
  await page.getByText('Runtime properties').first().waitFor();
  await judge('deployment-nodes');
  await page.getByRole('link', { name: 'Outputs', exact: true }).click();
  await page.getByText('seen').first().waitFor();
  await judge('deployment-outputs');
  await page.getByRole('link', { name: 'Topology' }).click();
  await page.getByRole('img', { name: /Topology: 3 nodes/ }).waitFor();
  await judge('deployment-topology');
  await page.getByLabel('Show as').selectOption('table');
  await page.getByRole('cell', { name: /connected to page/ }).waitFor();
  for (const [tab, text] of [
    ['Inputs', 'audience'],
    ['Runs', 'install'],
    ['Events', 'workflow execution succeeded'],
    ['Drift', 'No drift is known'],
  ] as const) {
    await page.getByRole('main').getByRole('link', { name: tab, exact: true }).click();
    await page.getByRole('main').getByText(text).first().waitFor();
    await judge(`deployment-${tab.toLowerCase()}`);
  }
});

test('a running execution says why it does not move, and is cancelled', async () => {
  await upload(client, 'sleeper', archiveOf(join(root, 'test/e2e/blueprints/sleeper')));
  await call(
    client,
    'createDeployment',
    { id: 'slow' },
    { blueprint_id: 'sleeper', inputs: { seconds: '60' } },
  );
  const { id } = await call(client, 'startExecution', {}, { deployment_id: 'slow', workflow_id: 'install' });
  await go(`${TENANT}/executions/${id}/why`);
  await page.getByText('An operation that runs').waitFor();
  await judge('execution-why');
  await setLook(page, 'narrow');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('heading', { level: 1 }).getByText('Cancelling').waitFor();
  await shoot(page, 'execution-cancelling-narrow');
  await setLook(page, 'light');
  await page.getByRole('button', { name: 'Cancel by force' }).click();
  await page.getByRole('alertdialog').waitFor();
  await judge('cancel-by-force');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel by force' }).click();
  await page
    .getByRole('heading', { level: 1 })
    .getByText('Cancelled', { exact: true })
    .waitFor({ timeout: 60_000 });
});

test('a failed execution shows the task that failed first', async () => {
  await upload(client, 'failing', archiveOf(join(__dirname, 'blueprints/failing')));
  await call(client, 'createDeployment', { id: 'shop' }, { blueprint_id: 'failing' });
  const { id } = await call(client, 'startExecution', {}, { deployment_id: 'shop', workflow_id: 'install' });
  await go(`${TENANT}/executions/${id}`);
  await page.getByRole('heading', { level: 1 }).getByText('Failed').waitFor({ timeout: 60_000 });
  await page.getByText('Failed first').waitFor();
  await judge('execution-failed');
});

test('lists show what happened, by keyboard too', async () => {
  await page.keyboard.press('g');
  await page.keyboard.press('d');
  await page.waitForURL(/\/deployments/);
  await page.getByRole('link', { name: 'web-shop' }).waitFor();
  await page.getByRole('button', { name: /Needs attention/ }).waitFor();
  await judge('deployments');
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await page.waitForURL(/\/executions/);
  await page.getByRole('table', { name: 'Executions' }).getByText('install').first().waitFor();
  await judge('executions');
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Keyboard shortcuts').waitFor();
  await judge('shortcuts');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('a workflow on several deployments asks for their number', async () => {
  await go(`${TENANT}/deployments?installation_status=inactive`);
  await page.getByRole('checkbox', { name: 'Select intranet' }).check();
  await page.getByRole('checkbox', { name: 'Select web-blog' }).check();
  await page.getByRole('button', { name: 'Run a workflow …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Workflow').selectOption('install');
  const start = dialog.getByRole('button', { name: 'Start 2 executions' });
  expect(await start.isDisabled()).toBe(true);
  await dialog.getByLabel('Type 2 to confirm').fill('2');
  await judge('bulk-start');
  await start.click();
  await dialog.getByText('2 executions started').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
});

test('a deletion shows first what it hits, and what keeps the deployment', async () => {
  await go(`${TENANT}/deployments/web-shop/nodes`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('It cannot be deleted now').waitFor();
  await judge('delete');
  await page.keyboard.press('Escape');
  await go(`${TENANT}/deployments/archive/nodes`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByLabel('Type the id to confirm').fill('archive');
  await page.getByRole('button', { name: 'Delete the deployment' }).click();
  await page.waitForURL(/\/deployments$/);
  await page.getByRole('link', { name: 'web-shop' }).waitFor();
  await page.getByRole('link', { name: 'archive' }).waitFor({ state: 'detached' });
});

test('what is not there, and a tenant that is not the user’s, is said', async () => {
  await go(`${TENANT}/deployments/nothing-of-this-name/nodes`);
  await page.getByText('There is no such thing here').waitFor();
  await judge('missing');
});

test('after the sign-out nothing is shown any more, not by going back either', async () => {
  await go(`${TENANT}/deployments`);
  await page.getByRole('link', { name: 'web-shop' }).waitFor();
  await page.getByRole('button', { name: 'admin' }).click();
  await judge('account');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.getByText('web-shop').count()).toBe(0);
});
