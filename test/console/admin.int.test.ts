/**
 * The administration in a real browser against a real manager: a new user in a new tenant sees only what he may, a token works
 * until it is revoked, a snapshot is made, and the audit log knows of it all.
 */
import { readFileSync } from 'node:fs';
import { type Client, createClient } from '@baton/client';
import { eventually } from '@baton/testkit';
import type { Browser, Page } from 'playwright-core';
import { type Fleet, startFleet } from '../harness/fleet';
import { adminClient, call } from '../harness/session';
import { launch, openPage, signIn, type WatchedPage } from './browser';
import { judge } from './judge';

jest.setTimeout(240_000);
const ADMIN = '/ui/default_tenant/admin';
const PASSWORD = 'a long enough password';
const LICENSE = JSON.stringify({
  license: {
    customer_id: 'ada and sons',
    expiration_date: '12/31/2099',
    license_edition: 'Premium',
    trial: false,
    cloudify_version: null,
    capabilities: ['sites'],
  },
});
let fleet: Fleet;
let client: Client;
let browser: Browser;
let watched: WatchedPage;
let page: Page;
/** Of the snapshot that was downloaded. */
let archive: string;

beforeAll(async () => {
  fleet = await startFleet({ mode: 'standalone', workers: 1 });
  client = adminClient(fleet);
  browser = await launch();
  watched = await openPage(browser, fleet.baseUrl);
  page = watched.page;
  await page.goto(`${fleet.baseUrl}${ADMIN}/users`);
  await signIn(page, 'admin', fleet.adminPassword);
  await page.getByRole('heading', { name: 'Users' }).waitFor();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await fleet?.stop();
});
afterEach(() => expect(watched.offences.splice(0)).toEqual([]));

const go = async (path: string) => await page.goto(`${fleet.baseUrl}${path}`);
const dialog = () => page.getByRole('dialog').or(page.getByRole('alertdialog'));

test('a user and a tenant are made, and the user is put into it with a role', async () => {
  await go(`${ADMIN}/users`);
  await page.getByRole('link', { name: 'admin', exact: true }).waitFor();
  // One place is the current one.
  expect(await page.locator('nav [aria-current=page]').count()).toBe(1);
  await judge(page, 'users');
  await page.getByRole('button', { name: 'New user' }).click();
  await dialog().getByLabel('User name').fill('1vera');
  await dialog().getByLabel('Password').fill(PASSWORD);
  await dialog().getByRole('button', { name: 'New user' }).click();
  // What the manager refuses stands beside its field.
  await dialog().locator('input[aria-invalid=true]').waitFor();
  await judge(page, 'new-user');
  await dialog().getByLabel('User name').fill('vera');
  await dialog().getByRole('button', { name: 'New user' }).click();
  await page.getByRole('heading', { name: 'vera' }).waitFor();
  await go(`${ADMIN}/tenants`);
  await page.getByRole('button', { name: 'New tenant' }).click();
  await dialog().getByLabel('Name').fill('shops');
  await dialog().getByLabel('Name').press('Enter');
  await page.getByRole('heading', { name: 'shops' }).waitFor();
  await page.getByRole('button', { name: 'Add a user' }).click();
  await dialog().getByLabel('User', { exact: false }).first().fill('vera');
  await dialog().getByLabel('Role').selectOption('viewer');
  await dialog().getByRole('button', { name: 'Add a user' }).click();
  await page.getByRole('cell', { name: 'viewer' }).waitFor();
  await judge(page, 'tenant');
});

test('limits of a tenant are set, and taken back', async () => {
  await page.getByRole('button', { name: 'Change the limits' }).click();
  await dialog().getByLabel('Deployments').fill('many');
  await dialog().getByText('Must be a whole number of at least 0.').waitFor();
  await judge(page, 'limits');
  await dialog().getByLabel('Deployments').fill('7');
  await dialog().getByRole('button', { name: 'Change the limits' }).click();
  await page.getByRole('cell', { name: /^7 \(of this tenant\)$/ }).waitFor();
});

test('a group brings its users into a tenant', async () => {
  await go(`${ADMIN}/groups`);
  await page.getByText('No user groups').waitFor();
  await page.getByRole('button', { name: 'New group' }).first().click();
  await dialog().getByLabel('Name', { exact: false }).first().fill('readers');
  await dialog().getByRole('button', { name: 'New group' }).click();
  await page.getByRole('link', { name: 'readers' }).click();
  await page.getByRole('button', { name: 'Add a user' }).click();
  await dialog().getByLabel('User', { exact: false }).first().fill('vera');
  await dialog().getByRole('button', { name: 'Add a user' }).click();
  await page.getByRole('link', { name: 'vera' }).waitFor();
  await judge(page, 'group');
  await page.getByRole('link', { name: 'vera' }).click();
  await page.getByRole('region', { name: 'Groups' }).getByRole('link', { name: 'readers' }).waitFor();
  await page.getByRole('link', { name: 'shops' }).first().waitFor();
  await judge(page, 'user');
});

test('the new user signs in and sees only what he may', async () => {
  const other = await openPage(browser, fleet.baseUrl);
  await other.page.goto(`${fleet.baseUrl}/ui/`);
  await signIn(other.page, 'vera', PASSWORD);
  await other.page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(other.page.url()).toContain('/ui/shops');
  const navigation = other.page.getByRole('navigation', { name: 'Main' });
  await navigation.getByText('Administration').click();
  await navigation.getByRole('link', { name: 'Tokens' }).waitFor();
  await navigation.getByRole('link', { name: 'Users' }).waitFor({ state: 'detached' });
  expect(await navigation.getByRole('link', { name: /groups|Tenants|Audit|Snapshots/ }).count()).toBe(0);
  await other.page.goto(`${fleet.baseUrl}/ui/shops/admin/users`);
  await other.page.getByText('You may not see this').waitFor();
  await other.page.goto(`${fleet.baseUrl}/ui/shops/admin/config`);
  await other.page.getByRole('table').waitFor();
  expect(await other.page.getByRole('button', { name: /^Change / }).count()).toBe(0);
  await other.page.context().close();
  expect(other.offences).toEqual([]);
});

test('a token is shown once, works, and stops when it is revoked', async () => {
  await go(`${ADMIN}/tokens`);
  await page.getByRole('button', { name: 'New token' }).first().click();
  await dialog().getByLabel('What is it for?').fill('the test');
  await dialog().getByRole('button', { name: 'New token' }).click();
  const token = (await dialog().locator('code').textContent())!;
  await judge(page, 'token');
  await dialog().getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('cell', { name: 'the test' }).waitFor();
  await judge(page, 'tokens');
  expect(await page.getByText(token).count()).toBe(0);
  const program = createClient({ baseUrl: fleet.baseUrl, token, tenant: 'default_tenant' });
  expect((await program.call('getCurrentUser')).username).toBe('admin');
  await page.getByRole('button', { name: /^Revoke/ }).click();
  await dialog().getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('No tokens').waitFor();
  await eventually(
    async () => await expect(program.call('getCurrentUser')).rejects.toMatchObject({ status: 401 }),
  );
});

test('the cluster says how its parts are', async () => {
  await go(`${ADMIN}/cluster`);
  await page.getByRole('cell', { name: 'Management Worker' }).waitFor();
  await page.getByText('Operations at once').first().waitFor();
  await judge(page, 'cluster');
});

test('the audit log has what was done, by whom, and appears live', async () => {
  await go(`${ADMIN}/audit`);
  const table = page.getByRole('table', { name: 'Audit log' });
  await table.getByText('users vera').waitFor();
  await table.getByText('tenants vera, shops').waitFor();
  await page.getByText('Live', { exact: true }).nth(1).waitFor();
  await judge(page, 'audit');
  await call(client, 'putSecret', { secret_key: 'just_now' }, { value: 'x' });
  await table.getByText('just_now').first().waitFor();
  await page.getByLabel('User, exact name').fill('nobody');
  await page.waitForURL(/creator_name=nobody/);
  await page.getByText('Nothing matches').waitFor();
});

test('a snapshot is made, downloaded, rehearsed and deleted', async () => {
  await go(`${ADMIN}/snapshots`);
  await page.getByText('No snapshots').waitFor();
  await page.getByRole('button', { name: 'New snapshot' }).first().click();
  await dialog().getByLabel('Id').fill('before-the-test');
  await judge(page, 'new-snapshot');
  await dialog().getByRole('button', { name: 'New snapshot' }).click();
  const download = page.getByRole('button', { name: 'Download before-the-test' });
  await download.waitFor({ timeout: 60_000 });
  await judge(page, 'snapshots');
  const [file] = await Promise.all([page.waitForEvent('download'), download.click()]);
  expect(file.suggestedFilename()).toBe('before-the-test.zip');
  await page.getByRole('button', { name: 'Restore before-the-test' }).click();
  await dialog().getByText('Rehearse only').click();
  await dialog().getByText('The state of the whole manager is replaced').waitFor();
  expect(await dialog().getByRole('button', { name: 'Restore the manager' }).isDisabled()).toBe(true);
  await judge(page, 'restore');
  await page.keyboard.press('Escape');
  // The file is the whole snapshot: uploaded, it is one more.
  archive = await file.path();
  await page.getByRole('button', { name: 'Delete before-the-test' }).click();
  await dialog().getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No snapshots').waitFor();
});

test('a snapshot file is uploaded, and restored: the session ends, and the data is that of the snapshot', async () => {
  await call(client, 'putSecret', { secret_key: 'made_since' }, { value: 'x' });
  await call(client, 'deleteUser', { username: 'vera' });
  await page.getByRole('button', { name: 'Upload' }).click();
  await dialog()
    .getByLabel('Archive (zip)')
    .setInputFiles({
      name: 'from-a-file.zip',
      mimeType: 'application/zip',
      buffer: readFileSync(archive),
    });
  expect(await dialog().getByLabel('Id').inputValue()).toBe('from-a-file');
  await judge(page, 'snapshot-upload');
  await dialog().getByRole('button', { name: 'Upload' }).click();
  await page
    .getByRole('row')
    .filter({ hasText: 'from-a-file' })
    .getByRole('cell', { name: 'Uploaded' })
    .waitFor();
  await page.getByRole('button', { name: 'Restore from-a-file' }).click();
  await dialog().getByText('Rehearse only').click();
  await dialog().getByText('Although this manager is not empty').click();
  await dialog().getByLabel('Type this to confirm:').fill('from-a-file');
  await dialog().getByRole('button', { name: 'Restore the manager' }).click();
  await page.getByText('Your session has ended').waitFor({ timeout: 90_000 });
  await eventually(async () =>
    expect((await call(client, 'getSnapshotStatus', {})).status).not.toBe('running'),
  );
  await signIn(page, 'admin', fleet.adminPassword);
  await page.getByRole('heading', { level: 1 }).getByText('Completed').waitFor();
  await go('/ui/default_tenant/secrets');
  await page.getByRole('link', { name: 'just_now' }).waitFor();
  expect(await page.getByRole('link', { name: 'made_since' }).count()).toBe(0);
  await go(`${ADMIN}/users`);
  await page.getByRole('link', { name: 'vera' }).waitFor();
});

test('maintenance mode says what it is, and ends again', async () => {
  await go(`${ADMIN}/maintenance`);
  await page.getByText('The manager works as usual.').waitFor();
  await judge(page, 'maintenance');
  await page.getByRole('button', { name: 'Begin maintenance' }).click();
  await judge(page, 'begin-maintenance');
  await dialog().getByRole('button', { name: 'Begin maintenance' }).click();
  await page.getByText('The mode is on: nothing runs').waitFor();
  await page.getByRole('button', { name: 'End maintenance' }).click();
  await page.getByText('The manager works as usual.').waitFor();
});

test('a license is uploaded from a file; what is none is refused in words', async () => {
  await go(`${ADMIN}/license`);
  await page.getByText('No license').waitFor();
  const send = async (text: string) => {
    await dialog()
      .getByLabel('License file')
      .setInputFiles({ name: 'license.yaml', mimeType: 'text/yaml', buffer: Buffer.from(text) });
    await dialog().getByRole('button', { name: 'Upload a license' }).click();
  };
  await page.getByRole('button', { name: 'Upload a license' }).click();
  await send('license: {customer_id: ada}');
  await dialog().getByText('The license cannot be verified').waitFor();
  await judge(page, 'license-refused');
  await send(LICENSE);
  await dialog().waitFor({ state: 'detached' });
  await page.getByText('ada and sons').waitFor();
  await judge(page, 'license');
  await page.getByRole('button', { name: 'Remove' }).click();
  await dialog().getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No license').waitFor();
});

test('configuration and roles can be read', async () => {
  await go(`${ADMIN}/config?name=max_concurrent`);
  await page.getByRole('button', { name: 'Change max_concurrent_workflows' }).click();
  await dialog().getByLabel('Value').fill('21');
  await judge(page, 'config-value');
  await dialog().getByRole('button', { name: 'Change' }).click();
  await page.getByRole('cell', { name: '21', exact: true }).waitFor();
  await judge(page, 'config');
  await go(`${ADMIN}/roles?role=viewer&permission=agent`);
  await page.getByRole('cell', { name: 'agent_list' }).waitFor();
  await judge(page, 'roles');
});

test('a user is deactivated, activated again, and deleted after its name was typed', async () => {
  await go(`${ADMIN}/users/vera`);
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await dialog().getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('heading', { level: 1 }).getByText('Disabled').waitFor();
  await page.getByRole('button', { name: 'Activate', exact: true }).click();
  await page.getByRole('heading', { level: 1 }).getByText('Enabled').waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog().getByLabel('Type this to confirm:').fill('vera');
  await dialog().getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL(/\/admin\/users$/);
  await page.getByRole('link', { name: 'admin', exact: true }).waitFor();
  await page.getByRole('link', { name: 'vera' }).waitFor({ state: 'detached' });
});
