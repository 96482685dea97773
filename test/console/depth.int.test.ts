/**
 * What a person does with a deployment, in a real browser: deploys by a form whose constraint refuses, installs and watches,
 * updates by a diff, scales, reads why something failed, cancels, deletes. Somebody with fewer rights sees less.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import type { Browser, Page } from 'playwright-core';
import { type Fleet, startFleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, upload } from '../harness/session';
import { launch, openPage, signIn, type WatchedPage } from './browser';
import { judge as judgePage } from './judge';
import { ctrlClickAll, screenOf } from './links';

jest.setTimeout(240_000);
const TENANT = '/ui/default_tenant';
const BLUEPRINTS = join(__dirname, 'blueprints');
const VERA = 'a long enough password';
let fleet: Fleet;
let client: Client;
let browser: Browser;
let watched: WatchedPage;
let page: Page;

beforeAll(async () => {
  fleet = await startFleet({ mode: 'standalone', workers: 2 });
  client = adminClient(fleet);
  browser = await launch();
  await upload(client, 'forms', archiveOf(join(BLUEPRINTS, 'forms')));
  await upload(client, 'forms-next', nextArchive());
  watched = await openPage(browser, fleet.baseUrl);
  page = watched.page;
  await go('/deployments');
  await signIn(page, 'admin', fleet.adminPassword);
  await page.getByText('No deployments in this tenant').waitFor();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await fleet?.stop();
}, 120_000);
afterEach(() => expect(watched.offences.splice(0)).toEqual([]));

/** The same blueprint with another node in the place of its store. */
function nextArchive(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'baton-forms-'));
  try {
    const copy = join(folder, 'forms');
    cpSync(join(BLUEPRINTS, 'forms'), copy, { recursive: true });
    const file = join(copy, 'blueprint.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/\bstore\b/g, 'cache'));
    return archiveOf(copy);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const go = async (path: string) => await page.goto(`${fleet.baseUrl}${TENANT}${path}`);
const judge = (name: string): Promise<void> => judgePage(page, name);
const heading = (text: string) => page.getByRole('heading', { level: 1 }).getByText(text, { exact: true });
const completed = async () => await heading('Completed').waitFor({ timeout: 90_000 });

test('a deployment is made by a form: what a constraint refuses is said beside its field, and mended there', async () => {
  await page.getByRole('link', { name: 'New deployment' }).first().click();
  await page.getByText('Choose a blueprint first').waitFor();
  await judge('deploy-empty');
  await page.getByLabel('Blueprint').fill('forms');
  await page.keyboard.press('Enter');
  await page.waitForURL(/blueprint_id=forms$/);
  await page.getByRole('textbox', { name: 'Id', exact: true }).fill('shop');
  await page.getByLabel('Owner').fill('ada');
  await page.getByLabel('port', { exact: true }).fill('80');
  await page.getByRole('button', { name: 'Add a label' }).click();
  await page.getByLabel('Key of label 1').fill('env');
  await page.getByLabel('Value of label 1').fill('test');
  await page.getByText('<img src=x onerror="document.title=1"> is a text').waitFor();
  await judge('deploy-form');
  await page.getByRole('button', { name: 'Create and install' }).click();
  await page.getByText('Must be between 1024 and 9999.').waitFor();
  expect(await page.getByLabel('port', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  await judge('deploy-refused');
  await page.getByLabel('port', { exact: true }).fill('4000');
  await page.getByText('Must be between 1024 and 9999.').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Create and install' }).click();
  await page.waitForURL(/\/executions\//);
  await completed();
  const made = await call(client, 'getDeployment', { id: 'shop' });
  expect(made.inputs).toMatchObject({
    owner: 'ada',
    port: 4000,
    plan: 'small',
    disk: { size: 10, kind: 'ssd' },
  });
  expect(made.labels.map(({ key, value }: { key: string; value: string }) => [key, value])).toEqual([
    ['env', 'test'],
  ]);
});

test('an id that is taken is said before anything is sent, and values come as YAML too', async () => {
  await go('/deployments/new?blueprint_id=forms');
  await page.getByRole('textbox', { name: 'Id', exact: true }).fill('shop');
  await page.getByText('A deployment of this id is there already.').waitFor();
  await page.getByRole('textbox', { name: 'Id', exact: true }).fill('yaml');
  await page.getByLabel('Fill in as').selectOption('text');
  await page.getByLabel('Values as YAML or JSON').fill('owner: bob\nport: 70000\nwrong: 1\n');
  await page.getByLabel('Install it right away').uncheck();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('Nothing of this name is asked for.').waitFor();
  await judge('deploy-yaml');
  await page.getByLabel('Values as YAML or JSON').fill('owner: bob\nport: 5000\nhosts: [a, b]\n');
  await page.getByLabel('Fill in as').selectOption('fields');
  expect(await page.getByRole('textbox', { name: 'hosts 2', exact: true }).inputValue()).toBe('b');
  await page.getByLabel('A YAML or JSON file with values').setInputFiles({
    name: 'values.yaml',
    mimeType: 'text/yaml',
    buffer: Buffer.from('inputs: {plan: large, other: 1}'),
  });
  await page.getByText('1 value read from values.yaml.').waitFor();
  await page.getByText('nothing of these names is asked for: other').waitFor();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.waitForURL(/\/deployments\/yaml\/nodes/);
  const { inputs } = await call(client, 'getDeployment', { id: 'yaml' });
  expect(inputs).toMatchObject({ owner: 'bob', port: 5000, hosts: ['a', 'b'], plan: 'large' });
});

test('an update is shown as a diff by property before it is applied', async () => {
  await go('/deployments/shop/nodes');
  await page.getByRole('link', { name: 'Update', exact: true }).click();
  await page.getByLabel('Blueprint').fill('forms-next');
  await page.keyboard.press('Enter');
  await page.waitForURL(/blueprint_id=forms-next/);
  await page.getByLabel('port', { exact: true }).fill('5000');
  await judge('update-form');
  await page.getByRole('button', { name: 'Show what would change' }).click();
  await page.waitForURL(/preview_id=/, { timeout: 60_000 });
  const service = page.getByRole('region', { name: 'service' });
  const row = service.getByRole('row').filter({ hasText: 'properties.port' });
  expect(await row.locator('del').innerText()).toBe('4000');
  expect(await row.locator('ins').innerText()).toBe('5000');
  const count = async (name: string) =>
    await page.locator('dl > div').filter({ hasText: name }).locator('dd').innerText();
  expect([await count('Add'), await count('Remove')]).toEqual(['1', '1']);
  await page.getByText('Blueprint forms becomes forms-next.').waitFor();
  await judge('update-preview');
  // The preview stands in the address: a colleague sees the same.
  await page.reload();
  await page.getByRole('region', { name: 'service' }).getByText('properties.port').waitFor();
  await page.getByRole('button', { name: 'Apply the update' }).click();
  await page.waitForURL(/\/executions\//);
  await completed();
  const { inputs, blueprint_id } = await call(client, 'getDeployment', { id: 'shop' });
  expect([inputs.port, inputs.owner, blueprint_id]).toEqual([5000, 'ada', 'forms-next']);
});

test('the topology is played back along the events of an execution', async () => {
  await page.getByRole('link', { name: 'Topology' }).click();
  const scrubber = page.getByLabel('Moment of the execution');
  await scrubber.waitFor();
  const last = Number(await scrubber.getAttribute('max'));
  await scrubber.fill('1');
  await page.waitForURL(/[?&]at=1$/);
  await page.getByLabel('Show as').selectOption('table');
  const cache = page.getByRole('row').filter({ has: page.getByRole('cell', { name: 'cache', exact: true }) });
  await cache.getByText('1 untouched').waitFor();
  await judge('replay');
  await scrubber.fill(String(last));
  await cache.getByText('1 started').waitFor();
  expect(page.url()).not.toContain('at=');
  await page.getByRole('button', { name: 'Play' }).click();
  await page.waitForURL(/[?&]at=/);
  await page.getByRole('button', { name: 'Stop' }).click();
});

test('the whole log is a file', async () => {
  await page.getByRole('link', { name: 'Log', exact: true }).click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  const text = readFileSync(await file.path(), 'utf8');
  expect(file.suggestedFilename()).toMatch(/^log-.*\.log$/);
  expect(text).toContain('said by a script');
  expect(text).toMatch(/^\d{4}-\d\d-\d\dT\S+ WORKFLOW_STARTED /m);
});

test('events of a deployment are those of all its executions', async () => {
  await go('/deployments/shop/events');
  const list = page.getByRole('table', { name: 'Events' });
  await list.getByRole('link', { name: 'update', exact: true }).first().waitFor();
  await page.getByLabel('Search in messages').fill('said by');
  await page.waitForURL(/message=said/);
  await list.getByRole('link', { name: 'install', exact: true }).first().waitFor();
  await list.getByRole('link', { name: 'said by a script' }).first().click();
  await page.getByRole('dialog').getByText('Happened').waitFor();
  await page.keyboard.press('Escape');
  await judge('deployment-events');
});

test('a group is scaled to a wanted number', async () => {
  await go('/deployments/shop/nodes');
  await page.getByRole('button', { name: 'Scale' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What to scale').selectOption('services');
  await dialog.getByText('That is the number of now').waitFor();
  expect(await dialog.getByRole('button', { name: 'Scale' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Wanted number of instances').fill('2');
  await dialog.getByText('1 instance will be added.').waitFor();
  await judge('scale');
  await dialog.getByRole('button', { name: 'Scale' }).click();
  await page.waitForURL(/\/executions\//);
  await completed();
  const { items } = await call(client, 'listNodeInstances', {}, undefined, {
    deployment_id: 'shop',
    node_id: 'service',
  });
  expect(items).toHaveLength(2);
});

test('a workflow that fails says why, first the task and then its log', async () => {
  await upload(client, 'failing', archiveOf(join(BLUEPRINTS, 'failing')));
  await call(client, 'createDeployment', { id: 'broken' }, { blueprint_id: 'failing' });
  await go('/deployments/broken/nodes');
  await page.getByRole('button', { name: 'Run a workflow' }).click();
  await page.getByRole('dialog').getByLabel('Workflow').selectOption('install');
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await page.waitForURL(/\/executions\//);
  await heading('Failed').waitFor({ timeout: 90_000 });
  await page.getByText('Failed first').first().waitFor();
  await page.getByRole('link', { name: 'Show its log lines' }).click();
  await page.getByText('Migrating the schema of the shop').first().waitFor();
});

test('a parameter that names a node is offered by the manager, and a running workflow is cancelled', async () => {
  await upload(client, 'sleeper', archiveOf(join(root, 'test/e2e/blueprints/sleeper')));
  await call(
    client,
    'createDeployment',
    { id: 'slow' },
    { blueprint_id: 'sleeper', inputs: { seconds: '60' } },
  );
  await go('/deployments/slow/nodes');
  await page.getByRole('button', { name: 'Run a workflow' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Workflow').selectOption('install');
  await dialog.getByRole('button', { name: 'Add to node_ids' }).click();
  const node = dialog.getByRole('combobox', { name: 'node_ids 1', exact: true });
  await node.focus();
  await page.locator('datalist option[value=sleeper]').waitFor({ state: 'attached' });
  await node.fill('sleeper');
  await judge('run-with-nodes');
  await dialog.getByRole('button', { name: 'Start' }).click();
  await page.waitForURL(/\/executions\//);
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await heading('Cancelling').waitFor();
  await page.getByRole('button', { name: 'Cancel by force' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel by force' }).click();
  await heading('Cancelled').waitFor({ timeout: 60_000 });
});

test('name, labels and visibility are edited where they are shown', async () => {
  await go('/deployments/yaml/nodes');
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Display name').fill('By YAML');
  await dialog.getByRole('button', { name: 'Add a label' }).click();
  await dialog.getByLabel('Key of label 1').fill('team');
  await dialog.getByLabel('Value of label 1').fill('blue');
  await judge('settings');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: /^By YAML/ }).waitFor();
  await page.getByRole('listitem').filter({ hasText: 'teamblue' }).waitFor();
});

test('a deletion names what it hits, and asks for the id', async () => {
  await go('/deployments/yaml/nodes');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('This would hit').waitFor();
  await page.getByLabel('Type the id to confirm').fill('yaml');
  await page.getByRole('button', { name: 'Delete the deployment' }).click();
  await page.waitForURL(/\/deployments$/);
  await page.getByRole('link', { name: 'shop' }).waitFor();
  await page.getByRole('link', { name: 'By YAML' }).waitFor({ state: 'detached' });
});

test('every link opens the same page in a tab of its own', async () => {
  await call(client, 'putSecret', { secret_key: 'key' }, { value: 'x' });
  const rule = { workflow_id: 'install', rrule: 'FREQ=YEARLY' };
  await call(client, 'createExecutionSchedule', { schedule_id: 'yearly' }, rule, { deployment_id: 'shop' });
  const { items } = await call(client, 'listExecutions', {}, undefined, {
    deployment_id: 'broken',
    workflow_id: 'install',
  });
  // A click opens a tab; that of every other link is left to the browser in the same way.
  await go('/deployments');
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'shop' }).click({ modifiers: ['ControlOrMeta'] }),
  ]);
  await tab.waitForURL(`${fleet.baseUrl}${TENANT}/deployments/shop/nodes`);
  await tab.getByRole('main').getByText('service').first().waitFor();
  await tab.close();
  const targets = new Map<string, string>();
  const walked = new Set<string>();
  const look = async (shown: string): Promise<void> => {
    await page.getByRole('main').getByText(shown).first().waitFor();
    const address = page.url();
    walked.add(screenOf(address));
    const links = await ctrlClickAll(page);
    expect([address, links.filter(({ isCovered, isTaken }) => isCovered || isTaken)]).toEqual([address, []]);
    expect([address, links.length]).not.toEqual([address, 0]);
    expect(page.url()).toBe(address);
    for (const { href } of links) targets.set(screenOf(href), href);
  };
  const main = page.getByRole('main');
  const menu = page.getByRole('navigation', { name: 'Main' });
  await page.getByRole('link', { name: 'shop' }).click();
  await look('service');
  await main.getByRole('link', { name: 'Update', exact: true }).click();
  await look('Show what would change');
  await menu.getByRole('link', { name: 'Deployments' }).click();
  await page.getByRole('heading', { level: 1, name: 'Deployments' }).waitFor();
  await look('shop');
  await main.getByRole('link', { name: 'New deployment' }).first().click();
  await look('Choose a blueprint first');
  await go(`/executions/${items[0].id}/why`);
  await look('Show its log lines');
  for (const [name, shown] of [
    ['Timeline', 'Failed only'],
    ['Tasks', 'After'],
    ['Log', 'This is the end of the log.'],
  ] as const) {
    await main.getByRole('link', { name, exact: true }).click();
    await look(shown);
  }
  await menu.getByText('Administration').click();
  for (const [name, shown] of [
    ['Events', 'workflow execution'],
    ['Blueprints', 'forms-next'],
    ['Secrets', 'key'],
    ['Schedules', 'yearly'],
    ['Users', 'admin'],
  ] as const) {
    await menu.getByRole('link', { name, exact: true }).click();
    // Until then the screen before is shown, which may have the same text.
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await look(shown);
  }
  for (const [screen, href] of targets) {
    if (walked.has(screen)) continue;
    await page.goto(href, { waitUntil: 'commit' });
    await page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor();
    expect(page.url().startsWith(href)).toBe(true);
  }
});

test('who may only look sees nothing that he may not do, and reads which permission he lacks', async () => {
  const user = { username: 'vera', password: VERA, role: 'default' };
  await call(client, 'createUser', {}, user);
  await call(
    client,
    'addTenantUser',
    {},
    { tenant_name: 'default_tenant', username: 'vera', role: 'viewer' },
  );
  const other = await openPage(browser, fleet.baseUrl);
  await other.page.goto(`${fleet.baseUrl}${TENANT}/deployments/shop/nodes`);
  await signIn(other.page, 'vera', VERA);
  await other.page.getByRole('button', { name: /service/ }).waitFor();
  const actions = /^(Run a workflow|Scale|Edit|Delete)$/;
  expect(await other.page.getByRole('button', { name: actions }).count()).toBe(0);
  expect(await other.page.getByRole('link', { name: 'Update', exact: true }).count()).toBe(0);
  for (const [path, permission] of [
    ['/deployments/new?blueprint_id=forms', 'deployment_create'],
    ['/deployments/shop/update', 'deployment_update_create'],
  ] as const) {
    await other.page.goto(`${fleet.baseUrl}${TENANT}${path}`);
    await other.page.getByText(`It needs the permission ${permission}.`).waitFor();
    expect(await other.page.locator('form').count()).toBe(0);
  }
  await judgePage(other.page, 'forbidden');
  // The other one sees them at the same address.
  await go('/deployments/shop/nodes');
  await page.getByRole('button', { name: 'Scale' }).waitFor();
  expect(await page.getByRole('button', { name: actions }).count()).toBe(4);
  await other.page.context().close();
  expect(other.offences).toEqual([]);
});
