/**
 * A manager with three deployments of one blueprint, a user with read permissions only, and an administrator on the secrets
 * screen.
 */
import { join } from 'node:path';
import type { Client } from '@baton/client';
import type { Browser, Page } from 'playwright-core';
import { type Fleet, startFleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, upload } from '../harness/session';
import { launch, openPage, signIn, type WatchedPage } from './browser';
import { type Hands, handsOn } from './hands';

export const TENANT = '/ui/default_tenant';
export const VIEWER = { username: 'vera', password: 'a long enough password' };

export interface Stage extends Hands {
  fleet: Fleet;
  client: Client;
  browser: Browser;
  page: Page;
  /** Opens an address below the tenant. */
  go(path: string): Promise<void>;
  /** Opens a page as another user, in a separate browser context. */
  openAs(user: { username: string; password: string }, path: string): Promise<Page>;
  /** Returns forbidden behaviour of pages since the last call. Pages of other users are closed. */
  offences(): Promise<string[]>;
  close(): Promise<void>;
}

async function fill(client: Client): Promise<void> {
  await call(client, 'putSecret', { secret_key: 'hello_signature' }, { value: 'x' });
  await upload(client, 'hello', archiveOf(join(root, 'examples/hello')));
  for (const [id, env] of [
    ['web-shop', 'prod'],
    ['web-blog', 'prod'],
    ['intranet', 'test'],
  ] as const)
    await call(client, 'createDeployment', { id }, { blueprint_id: 'hello', labels: [{ env }] });
  await call(client, 'createUser', {}, { ...VIEWER, role: 'default' });
  const membership = { tenant_name: 'default_tenant', username: VIEWER.username, role: 'viewer' };
  await call(client, 'addTenantUser', {}, membership);
}

export async function openStage(): Promise<Stage> {
  // Receivers of webhooks, and an identity provider that does not answer, are on this machine.
  const env = { BATON_WEBHOOKS_ALLOW: '127.0.0.1', BATON_LOGIN_PROVIDER_ALLOW: '127.0.0.0/8' };
  const fleet = await startFleet({ mode: 'standalone', workers: 1, env });
  const client = adminClient(fleet);
  const browser: Browser = await launch();
  const opened: WatchedPage[] = [];
  const openAs: Stage['openAs'] = async ({ username, password }, path) => {
    const watched = await openPage(browser, fleet.baseUrl);
    opened.push(watched);
    await watched.page.goto(`${fleet.baseUrl}${TENANT}${path}`);
    await signIn(watched.page, username, password);
    await watched.page.getByRole('navigation', { name: 'Main' }).waitFor();
    return watched.page;
  };
  await fill(client);
  const page = await openAs({ username: 'admin', password: fleet.adminPassword }, '/secrets');
  return {
    ...handsOn(page),
    fleet,
    client,
    browser,
    page,
    openAs,
    async go(path) {
      await page.goto(`${fleet.baseUrl}${TENANT}${path}`);
    },
    async offences() {
      for (const { page: other } of opened) if (other !== page) await other.context().close();
      const found = opened.flatMap(({ offences }) => offences.splice(0));
      opened.splice(1);
      return found;
    },
    async close() {
      await browser.close();
      await fleet.stop();
    },
  };
}
