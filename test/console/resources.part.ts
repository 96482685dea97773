/**
 * Resources in a real browser: secrets, sites, filters and plugins are made, changed and deleted; values of secrets never come back; a
 * user without rights sees no actions.
 */
import { join } from 'node:path';
import { tgzOf } from '../../services/catalog/src/testing/archives';
import { moduleEntries } from '../../services/catalog/src/testing/plugin-archives';
import { makeSigner, signedEntries } from '../../services/catalog/src/testing/sign-entries';
import { wagon } from '../contract/world';
import { root } from '../harness/processes';
import { archiveOf, call, upload } from '../harness/session';
import { judge } from './judge';
import { type Stage, TENANT, VIEWER } from './stage';

/** What a title may hold. */
const TITLE = 'Our cloud <img src=x onerror="document.title=1">';
const VALUE = 'correct horse battery staple';

export function resourcesPart(shared: () => Stage): void {
  let stage: Stage;
  let { client, page, go, dialog, press, send, isClosed } = {} as Stage;

  beforeAll(() => {
    stage = shared();
    ({ client, page, go, dialog, press, send, isClosed } = stage);
  });
  afterEach(async () => expect(await stage.offences()).toEqual([]));

  test('a secret is made, its value is written anew, and never comes back', async () => {
    const bodies: string[] = [];
    page.on('response', (answer) => {
      if (answer.url().includes('/api/') && answer.url().includes('secrets'))
        void answer.text().then(
          (text) => bodies.push(text),
          () => undefined,
        );
    });
    await go('/secrets');
    await press('New secret');
    await judge(page, 'secret-form');
    await dialog().getByLabel('Key').fill('db_password');
    await send('Create the secret');
    await dialog().getByText('A value is missing.').waitFor();
    await dialog()
      .getByLabel(/^Value/)
      .fill(VALUE);
    await page.keyboard.press('Enter');
    await isClosed();
    await judge(page, 'secrets');
    await page.getByRole('link', { name: 'db_password' }).click();
    await page.getByText('No blueprint that you see needs it.').waitFor();
    await press('New value');
    await dialog()
      .getByLabel(/^Value/)
      .fill(`${VALUE} 2`);
    await send('Save');
    await isClosed();
    const { value } = await call(client, 'getSecret', { secret_key: 'db_password' });
    expect(value).toBe(`${VALUE} 2`);
    await press('Edit');
    await dialog()
      .getByLabel(/Hide the value/)
      .check();
    await send('Save');
    await page.getByText(/^Hidden: only/).waitFor();
    await judge(page, 'secret');
    expect(bodies.length).toBeGreaterThan(0);
    expect(bodies.filter((body) => body.includes(VALUE))).toEqual([]);
    expect(page.url()).not.toContain('horse');
  });

  test('a secret with a flat schema has a field for each property', async () => {
    await go('/secrets');
    await press('New secret');
    await dialog().getByLabel('Key').fill('database');
    await dialog().getByLabel('Kind of value').selectOption('schema');
    await dialog()
      .getByLabel('JSON schema')
      .fill(
        '{"type":"object","required":["host"],"properties":{"host":{"type":"string"},"port":{"type":"integer"}}}',
      );
    await dialog().getByLabel('host').fill('db.example.com');
    await dialog().getByLabel('port').fill('x');
    await send('Create the secret');
    await dialog().getByText('This is no whole number.').waitFor();
    await dialog().getByLabel('port').fill('5432');
    await send('Create the secret');
    await isClosed();
    const { value } = await call(client, 'getSecret', { secret_key: 'database' });
    expect(value).toEqual({ host: 'db.example.com', port: 5432 });
  });

  test('a secret that a blueprint needs says so, and asks for its key before it goes', async () => {
    await go('/secrets/hello_signature');
    await page.getByText('One blueprint needs it:').waitFor();
    await press('Delete');
    await dialog().getByText('One blueprint needs it:').waitFor();
    const sure = dialog().getByRole('button', { name: 'Delete the secret' });
    expect(await sure.isDisabled()).toBe(true);
    await judge(page, 'secret-delete');
    await send('Cancel');
    await go('/secrets/db_password');
    await press('Delete');
    await send('Delete the secret');
    await page.waitForURL(/\/secrets$/);
    await page.getByRole('link', { name: 'database' }).waitFor();
    expect(await page.getByRole('link', { name: 'db_password' }).count()).toBe(0);
  });

  test('providers of secrets: what the manager refuses stands beside its field', async () => {
    await go('/secrets-providers');
    await page.getByText('No providers in this tenant').waitFor();
    await judge(page, 'providers-empty');
    await page.getByRole('button', { name: 'New provider' }).first().click();
    await dialog().getByLabel('Name').fill('vault-1');
    await dialog().getByLabel('Address').fill('no address');
    await send('Try it and keep it');
    await dialog().locator('[aria-invalid=true]').first().waitFor();
    await judge(page, 'provider-form');
    // Who goes on elsewhere keeps the focus there.
    await dialog().getByLabel('Path').pressSequentially('team/db');
    expect(await dialog().getByLabel('Path').inputValue()).toBe('team/db');
    await dialog().getByLabel('Type').selectOption('local');
    await send('Try it and keep it');
    await isClosed();
    await press('Delete vault-1');
    await send('Delete the provider');
    await page.getByText('No providers in this tenant').waitFor();
  });

  test('a filter is tried while it is written, and opens the deployments that it finds', async () => {
    await go('/filters');
    await page.waitForURL(/\/filters\/deployments$/);
    await press('New filter');
    await dialog().getByLabel('Id').fill('prod');
    await dialog().getByLabel('Key of the label').fill('env');
    await dialog().getByLabel('Values').fill('prod');
    await dialog().getByText('2 deployments').waitFor();
    await press('Add a rule');
    await dialog().getByRole('group', { name: 'Rule 2' }).getByLabel('About a').selectOption('attribute');
    await dialog().getByRole('group', { name: 'Rule 2' }).getByLabel('Attribute').selectOption('id');
    await dialog().getByRole('group', { name: 'Rule 2' }).getByLabel('Values').fill('web-shop\nweb-blog');
    await judge(page, 'filter-form');
    await send('Create the filter');
    await page.getByText('Label env is one of prod').waitFor();
    await page.getByText('2 deployments').waitFor();
    await judge(page, 'filter');
    await page.getByRole('link', { name: 'Open the deployments it finds' }).click();
    await page.getByRole('link', { name: 'web-blog' }).waitFor();
    expect(await page.getByRole('link', { name: 'intranet' }).count()).toBe(0);
    await go('/filters/deployments');
    await page.getByRole('link', { name: 'prod', exact: true }).waitFor();
    await judge(page, 'filters');
    await page.getByRole('link', { name: 'For blueprints' }).click();
    await page.waitForURL(/\/filters\/blueprints$/);
    await go('/filters/deployments/prod');
    await press('Delete');
    await send('Delete the filter');
    await page.waitForURL(/\/filters\/deployments$/);
    await page.getByRole('link', { name: 'prod', exact: true }).waitFor({ state: 'detached' });
  });

  test('a filter of blueprints narrows their list, over a reload, until it is taken away', async () => {
    await upload(client, 'sleeper', archiveOf(join(root, 'test/e2e/blueprints/sleeper')));
    const rule = { type: 'attribute', key: 'id', operator: 'starts_with', values: ['hel'] };
    await call(client, 'putBlueprintFilter', { filter_id: 'greeting' }, { filter_rules: [rule] });
    await go('/filters/blueprints/greeting');
    await page.getByRole('link', { name: 'Open the blueprints it finds' }).click();
    await page.waitForURL(/\/blueprints\?_filter_id=greeting$/);
    await page.getByText('1 blueprint', { exact: true }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'hello' }).waitFor();
    expect(await page.getByRole('link', { name: 'sleeper' }).count()).toBe(0);
    const choice = page.getByLabel('Stored filter');
    expect(await choice.inputValue()).toBe('greeting');
    await choice.selectOption('No stored filter');
    await page.getByRole('link', { name: 'sleeper' }).waitFor();
    await page.waitForURL(/\/blueprints$/);
    await choice.selectOption('greeting');
    await page.getByRole('link', { name: 'sleeper' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Clear all filters' }).click();
    await page.getByRole('link', { name: 'sleeper' }).waitFor();
    // One that is gone is named, and can be taken away.
    await call(client, 'deleteBlueprintFilter', { filter_id: 'greeting' });
    await go('/blueprints?_filter_id=greeting');
    await page.getByText('There is no such thing here').waitFor();
    await choice.selectOption('No stored filter');
    await page.getByRole('link', { name: 'sleeper' }).waitFor();
  });

  test('a site is made, found, moved, and counts its deployments', async () => {
    await go('/sites');
    await page.getByText('No sites in this tenant').waitFor();
    await page.getByRole('button', { name: 'New site' }).first().click();
    await dialog().getByLabel('Name').fill('berlin');
    await dialog().getByLabel('Latitude').fill('952');
    await dialog().getByLabel('Longitude').fill('13.4');
    await send('Create the site');
    await dialog().getByText('This is no number from -90 to 90.').waitFor();
    await judge(page, 'site-form');
    await dialog().getByLabel('Latitude').fill('52.5');
    await send('Create the site');
    await page.getByRole('cell', { name: '52.5° N, 13.4° E', exact: true }).waitFor();
    await call(client, 'setDeploymentSite', { id: 'web-shop' }, { site_name: 'berlin' });
    await page.reload();
    await page.getByRole('link', { name: '1 deployment' }).first().waitFor();
    await judge(page, 'sites');
    await press('Edit berlin');
    await dialog().getByLabel('Longitude').fill('');
    await dialog().getByLabel('Latitude').fill('');
    await send('Save');
    await page.getByRole('cell', { name: 'no location', exact: true }).waitFor();
    await page.getByRole('link', { name: '1 deployment' }).first().click();
    await page.waitForURL(/site_name=berlin/);
    await page.getByRole('link', { name: 'web-shop' }).waitFor();
    expect(await page.getByRole('link', { name: 'intranet' }).count()).toBe(0);
    await go('/sites');
    await press('Delete berlin');
    await dialog().getByText('One deployment is there. It stays, without a site.').waitFor();
    await send('Delete the site');
    await page.getByText('No sites in this tenant').waitFor();
  });

  test('a plugin is uploaded as a wagon with its yaml file, opened to all tenants, and deleted', async () => {
    await go('/plugins');
    await page.getByText('No plugins in this tenant').waitFor();
    await page.getByRole('button', { name: 'Upload a plugin' }).first().click();
    const yaml = `plugins:
  cloud:
    executor: central_deployment_agent
    package_name: cloud-plugin
    package_version: "1.0"
`;
    const yamlFile = { name: 'plugin.yaml', mimeType: 'text/yaml', buffer: Buffer.from(yaml) };
    const wagonFile = {
      name: 'cloud.wgn',
      mimeType: 'application/octet-stream',
      buffer: wagon('cloud-plugin'),
    };
    await dialog().getByLabel('Files').setInputFiles([yamlFile]);
    await dialog().getByText('These files make no plugin').waitFor();
    await dialog().getByLabel('Files').setInputFiles([wagonFile, yamlFile]);
    await dialog().getByLabel('Title').fill(TITLE);
    await judge(page, 'plugin-upload');
    await send('Upload');
    await isClosed();
    await page.getByRole('link', { name: TITLE }).waitFor();
    await judge(page, 'plugins');
    await page.getByRole('link', { name: TITLE }).click();
    await page.getByText('plugin:cloud-plugin?version=1.0').waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    await page.getByText('No blueprint that you see needs it.').waitFor();
    await press('Open to more people');
    await dialog().getByLabel('Who sees it').selectOption('global');
    await send('Save');
    await isClosed();
    await page.getByText('All tenants', { exact: true }).waitFor();
    await judge(page, 'plugin');
    await press('Delete');
    await send('Delete the plugin');
    await page.getByText('No plugins in this tenant').waitFor();
    // One that comes from elsewhere is told by the stream.
    await page.getByText('Live', { exact: true }).waitFor();
    const { id } = await client.upload('uploadPlugin', { content: wagon('told-plugin') });
    await page.getByRole('link', { name: 'told-plugin' }).waitFor();
    await call(client, 'deletePlugin', { plugin_id: id });
    await page.getByText('No plugins in this tenant').waitFor();
  });

  test('a signed plugin shows its key, and what the tenant thinks of it', async () => {
    const signer = makeSigner();
    await call(client, 'putPluginKey', { key_name: 'team-a' }, { public_key: signer.pem });
    const content = await tgzOf(signedEntries(moduleEntries(), signer));
    const { id } = await client.upload('uploadPlugin', { content });
    await go(`/plugins/${id}`);
    await page.getByText('team-a').waitFor();
    await page.getByText(signer.fingerprint).waitFor();
    await judge(page, 'plugin-signed');
    await call(client, 'patchPluginKey', { key_name: 'team-a' }, { state: 'revoked' });
    await page.reload();
    await page.getByText('Revoked', { exact: true }).waitFor();
    await call(client, 'deletePlugin', { plugin_id: id });
  });

  test('who may only look sees lists and no actions', async () => {
    await call(client, 'createSite', { name: 'oslo' }, {});
    const look = await stage.openAs(VIEWER, '/secrets');
    await look.getByRole('link', { name: 'database' }).waitFor();
    const ACTIONS = /^(New|Upload|Edit|Delete|Disable|Enable)/;
    const acts = async () => await look.locator('main').getByRole('button', { name: ACTIONS }).count();
    expect(await acts()).toBe(0);
    for (const [path, seen] of [
      ['/secrets/database', 'JSON schema'],
      ['/sites', 'oslo'],
      ['/schedules', 'No schedules in this tenant'],
      ['/plugins', 'No plugins in this tenant'],
      ['/filters/deployments', 'csys'],
    ] as const) {
      await look.goto(`${stage.fleet.baseUrl}${TENANT}${path}`);
      await look.locator('main').getByText(seen).first().waitFor();
      expect([path, await acts()]).toEqual([path, 0]);
    }
  });
}
