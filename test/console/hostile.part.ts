/** The console against hostile texts, a user with few rights, a foreign tenant, a used sign-in link and a broken connection. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import type { Browser, Page } from 'playwright-core';
import type { Fleet } from '../harness/fleet';
import { call } from '../harness/session';
import { openPage, signIn, type WatchedPage } from './browser';
import { type Stage, TENANT, VIEWER } from './stage';

const MARKUP = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

export function hostilePart(shared: () => Stage): void {
  let fleet: Fleet;
  let client: Client;
  let browser: Browser;
  const opened: WatchedPage[] = [];

  beforeAll(async () => {
    ({ fleet, client, browser } = shared());
    await call(
      client,
      'createDeployment',
      { id: 'web' },
      {
        blueprint_id: 'hello',
        display_name: MARKUP,
        inputs: { audience: MARKUP.slice(0, 60) },
        labels: [{ note: 'javascript:alert(1)' }],
      },
    );
    await call(client, 'createTenant', { name: 'other' }, {});
  });
  afterEach(async () => {
    for (const { page, offences } of opened.splice(0)) {
      await page.context().close();
      expect(offences).toEqual([]);
    }
  });

  async function open(path: string): Promise<Page> {
    const watched = await openPage(browser, fleet.baseUrl);
    opened.push(watched);
    await watched.page.goto(fleet.baseUrl + path);
    return watched.page;
  }

  async function openAs(username: string, password: string, path: string): Promise<Page> {
    const page = await open(path);
    await signIn(page, username, password);
    return page;
  }

  test('markup in names, inputs and labels is text', async () => {
    const page = await openAs('admin', fleet.adminPassword, `${TENANT}/deployments`);
    await page.getByRole('link', { name: MARKUP }).click();
    await page.getByText('javascript:alert(1)').waitFor();
    await page.getByRole('link', { name: 'Inputs' }).click();
    await page.getByText(MARKUP.slice(0, 60), { exact: true }).waitFor();
    expect(await page.title()).toContain(MARKUP);
    expect(await page.locator('main img, main script, a[href^="javascript:"]').count()).toBe(0);
  });

  test('who may only look sees no buttons that change something, and the API refuses them besides', async () => {
    const page = await openAs(VIEWER.username, VIEWER.password, `${TENANT}/deployments/web/nodes`);
    await page.getByRole('button', { name: /server/ }).waitFor();
    expect(await page.getByRole('button', { name: /Run a workflow|Delete/ }).count()).toBe(0);
    const status = await page.evaluate(async () => {
      const answer = await fetch('/api/v3.1/executions', {
        method: 'POST',
        headers: { tenant: 'default_tenant', 'content-type': 'application/json', 'x-baton-request': '1' },
        body: JSON.stringify({ deployment_id: 'web', workflow_id: 'install' }),
      });
      return answer.status;
    });
    expect(status).toBe(403);
  });

  test('the cookie alone changes nothing: the header of the own page is missing', async () => {
    const page = await openAs('admin', fleet.adminPassword, `${TENANT}/deployments`);
    await page.getByRole('link', { name: MARKUP }).waitFor();
    const status = await page.evaluate(async () => {
      const answer = await fetch('/api/v3.1/deployments/web', {
        method: 'DELETE',
        headers: { tenant: 'default_tenant' },
      });
      return answer.status;
    });
    expect(status).toBe(403);
    // As text: the tests know no names of browsers.
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(await page.evaluate('Object.keys({ ...localStorage, ...sessionStorage })')).toEqual([
      'baton.settings',
    ]);
  });

  test('a tenant that is not the user’s is refused in words', async () => {
    const page = await openAs(VIEWER.username, VIEWER.password, '/ui/other/deployments');
    await page.getByText('You may not see this').waitFor();
    expect(await page.getByText('web').count()).toBe(0);
  });

  test('a session that ended elsewhere brings the sign-in, and then the same place', async () => {
    const page = await openAs('admin', fleet.adminPassword, `${TENANT}/deployments/web/inputs`);
    await page.getByText('audience').waitFor();
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Load again' }).click();
    await page.getByText('Your session has ended').waitFor();
    expect(await page.getByText('audience').count()).toBe(0);
    await signIn(page, 'admin', fleet.adminPassword);
    await page.getByText('audience').waitFor();
  });

  test('a sign-in link works once, and its code leaves the address', async () => {
    const log = readFileSync(join(fleet.dir, 'logs/standalone.log'), 'utf8');
    const link = /\/ui\/#code=\S+/.exec(log)![0];
    const page = await open(link);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).not.toContain('code=');
    const again = await open(link);
    await again.getByText('This sign-in link was used already').waitFor();
    expect(again.url()).not.toContain('code=');
  });

  test('a broken connection is said, and what happened meanwhile appears afterwards', async () => {
    const page = await openAs('admin', fleet.adminPassword, `${TENANT}/deployments`);
    await page.getByText('Live', { exact: true }).waitFor();
    // A request that hangs would hide the break: the browser goes offline, as with a cable that is pulled.
    await page.context().setOffline(true);
    await page.getByText('The manager cannot be reached.').first().waitFor();
    await call(client, 'createDeployment', { id: 'meanwhile' }, { blueprint_id: 'hello' });
    await page.context().setOffline(false);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'meanwhile' }).waitFor();
  });

  test('paused changes are counted, and shown when somebody goes on', async () => {
    const page = await openAs('admin', fleet.adminPassword, `${TENANT}/deployments`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause live changes' }).click();
    await call(client, 'createDeployment', { id: 'paused-one' }, { blueprint_id: 'hello' });
    await page.getByText(/^\d+ new$/).waitFor();
    expect(await page.getByRole('link', { name: 'paused-one' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show changes and go on' }).click();
    await page.getByRole('link', { name: 'paused-one' }).waitFor();
  });
}
