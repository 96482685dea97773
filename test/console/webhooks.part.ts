/**
 * Webhooks and triggers in a real browser: both are made, changed, given a new secret and deleted; secrets are shown once; what was
 * sent is read and sent again; a signed request starts the workflow that the screen names.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { Webhook } from 'standardwebhooks';
import { call } from '../harness/session';
import { judge } from './judge';
import { type Stage, TENANT, VIEWER } from './stage';

const SECRET = /^whsec_\S+$/;
/** What a receiver answers is text of a stranger. */
const ANSWER = '<img src=x onerror="document.title=1">an answer of the receiver';
const HEADER_VALUE = 'Bearer a value that must not come back';

export function webhooksPart(shared: () => Stage): void {
  let stage: Stage;
  let { client, page, go, dialog, press, send, isClosed } = {} as Stage;
  let server: http.Server;
  let status = 200;
  const told: { headers: http.IncomingHttpHeaders; body: string }[] = [];

  beforeAll(async () => {
    stage = shared();
    ({ client, page, go, dialog, press, send, isClosed } = stage);
    server = http.createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      told.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(status).end(ANSWER);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  afterAll(() => void server?.close());
  afterEach(async () => expect(await stage.offences()).toEqual([]));

  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  /** Reads the secret of the dialog that shows it this once, and closes it. */
  const takeSecret = async (): Promise<string> => {
    const secret = (await dialog().locator('code').last().textContent())!;
    await send('I have copied it');
    await isClosed();
    return secret;
  };
  const has = async (text: string) => (await page.getByText(text).count()) > 0;

  test('a webhook is made, what is wrong stands at its field, and its secret is shown once', async () => {
    await go('/webhooks');
    await page.getByText('No webhooks in this tenant').waitFor();
    await judge(page, 'webhooks-empty');
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    await dialog().getByLabel('Name').fill('chat');
    await dialog().getByLabel('Address').fill('ftp://hooks.example.com/');
    await dialog().getByLabel('All events').uncheck();
    await dialog().getByLabel('Attempts at most').fill('51');
    await send('Create the webhook');
    await dialog().getByText('Choose an event.').waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Choose an event.');
    await dialog().getByText('This is no whole number from 1 to 50.').waitFor();
    await dialog().getByLabel('execution.finished').check();
    await dialog().getByLabel('Attempts at most').fill('1');
    await send('Create the webhook');
    // What the manager refuses.
    await dialog().locator('input[aria-invalid=true]').waitFor();
    expect(await dialog().locator('input[aria-invalid=true]').inputValue()).toContain('ftp:');
    await judge(page, 'webhook-form');
    await dialog().getByLabel('Address').fill(url());
    await dialog().getByLabel('Status').fill('failed, cancelled');
    await dialog().getByLabel('Format').selectOption('template');
    await dialog().getByLabel('Template (JSON)').fill('{"text": {{type}}}');
    await send('Create the webhook');
    await dialog()
      .getByText(/gives no JSON/)
      .waitFor();
    await dialog().getByLabel('Template (JSON)').fill('{"text": "{{type}} of {{tenant}}"}');
    await dialog().getByRole('button', { name: 'Add a header' }).click();
    await dialog().getByLabel('Header 1', { exact: true }).fill('authorization');
    await dialog().getByLabel('Value 1', { exact: true }).fill(HEADER_VALUE);
    await send('Create the webhook');
    await dialog().getByText('shown only this once').waitFor();
    await judge(page, 'webhook-secret');
    const secret = await takeSecret();
    expect(secret).toMatch(SECRET);
    await page.getByRole('heading', { level: 1, name: 'chat' }).waitFor();
    await page.getByText('Status is failed or cancelled').waitFor();
    await page.getByText('Nothing was sent yet').waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'chat' }).waitFor();
    expect([await has(secret), await has(HEADER_VALUE)]).toEqual([false, false]);
    expect(
      await client.call('getWebhook', { tenant: 'default_tenant', params: { webhook_id: 'chat' } }),
    ).toMatchObject({
      events: ['execution.finished'],
      filter: { status: ['failed', 'cancelled'] },
      header_names: ['authorization'],
      max_attempts: 1,
    });
  });

  test('a test is sent, and its delivery shows what went out and what came back', async () => {
    await press('Send a test');
    await page.getByRole('cell', { name: 'Delivered' }).waitFor();
    expect(told.at(-1)!.body).toBe('{"text": "ping of default_tenant"}');
    expect(told.at(-1)!.headers.authorization).toBe(HEADER_VALUE);
    await judge(page, 'webhook');
    await page.getByRole('button', { name: /^Open ping/ }).click();
    await dialog().getByText('ping of default_tenant').waitFor();
    await dialog().getByText(ANSWER).waitFor();
    expect(await dialog().locator('img').count()).toBe(0);
    expect(page.url()).toMatch(/delivery=/);
    await judge(page, 'webhook-delivery');
    const before = told.length;
    await send('Send again');
    await eventually(() => expect(told.length).toBe(before + 1));
    expect(told.at(-1)!.headers['webhook-id']).toBe(told.at(-2)!.headers['webhook-id']);
    // The address holds the delivery: a reload shows it again.
    await page.reload();
    await dialog().getByText('ping of default_tenant').waitFor();
    await page.keyboard.press('Escape');
    await isClosed();
    expect(page.url()).not.toMatch(/delivery=/);
  });

  test('one that the manager has disabled says why, and goes on when it is enabled', async () => {
    status = 500;
    await press('Send a test');
    await page.getByRole('heading', { level: 1 }).getByText('Disabled by the manager').waitFor();
    await page.getByText(/^The manager disabled it:/).waitFor();
    await page.getByRole('cell', { name: 'Failed' }).waitFor();
    expect(await page.getByRole('button', { name: 'Send a test' }).count()).toBe(0);
    await judge(page, 'webhook-disabled');
    await page.getByRole('link', { name: 'All deliveries' }).click();
    await page.getByRole('link', { name: 'ping' }).first().waitFor();
    await page.getByText('2 deliveries', { exact: true }).waitFor();
    await page.getByLabel('State').selectOption('failed');
    await page.waitForURL(/state=failed/);
    await page.getByText('1 delivery', { exact: true }).waitFor();
    await judge(page, 'webhook-deliveries');
    await page.getByRole('link', { name: 'ping' }).click();
    await dialog().getByText('Enable the webhook to send it again.').waitFor();
    expect(await dialog().getByRole('button', { name: 'Send again' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await go('/webhooks');
    await page.getByRole('cell', { name: /Disabled by the manager/ }).waitFor();
    await judge(page, 'webhooks');
    await page.getByRole('link', { name: 'chat' }).click();
    status = 200;
    await press('Enable');
    await page.getByRole('heading', { level: 1 }).getByText('Enabled').waitFor();
    await press('Send a test');
    await page.getByRole('cell', { name: 'Delivered' }).nth(1).waitFor();
  });

  test('settings are changed without losing the headers, which are written anew on request', async () => {
    await press('Edit');
    expect(await dialog().getByLabel('Template (JSON)').inputValue()).toContain('{{type}}');
    await dialog().getByLabel('Format').selectOption('standard');
    await dialog().getByLabel('Events of one deployment').check();
    await send('Save');
    await isClosed();
    await page.getByText('one after the other for each deployment').waitFor();
    await press('Send a test');
    await eventually(() => expect(JSON.parse(told.at(-1)!.body).type).toBe('ping'));
    expect(told.at(-1)!.headers.authorization).toBe(HEADER_VALUE);
    await press('Edit');
    await dialog()
      .getByLabel(/^Write all headers anew/)
      .check();
    expect(await dialog().getByLabel('Value 1', { exact: true }).inputValue()).toBe('');
    await send('Save');
    await dialog().getByText('Each header needs a name and a value.').waitFor();
    await judge(page, 'webhook-headers');
    await dialog().getByRole('button', { name: 'Remove: Header 1' }).click();
    await send('Save');
    await isClosed();
    await page.getByText('More headers').waitFor({ state: 'detached' });
  });

  test('a new secret is valid beside the old one, and is shown once', async () => {
    await press('New secret');
    await dialog().getByLabel('Both are valid for').selectOption('3600');
    await judge(page, 'webhook-rotate');
    await send('Make a new secret');
    const secret = await takeSecret();
    await page.getByText('Former secret valid until').waitFor();
    expect(await has(secret)).toBe(false);
    const before = told.length;
    await press('Send a test');
    await eventually(() => expect(told.length).toBe(before + 1));
    const { headers, body } = told.at(-1)!;
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2);
    new Webhook(secret).verify(body, headers as Record<string, string>);
    await press('Delete');
    await send('Delete the webhook');
    await page.getByText('No webhooks in this tenant').waitFor();
  });

  test('a trigger is made with its address and secret, and a signed request starts its workflow', async () => {
    await go('/triggers');
    await page.getByText('No triggers').waitFor();
    await judge(page, 'triggers-empty');
    await page.getByRole('button', { name: 'New trigger' }).first().click();
    await dialog().getByLabel('Name').fill('on-push');
    await dialog().getByLabel('Deployment', { exact: false }).first().fill('web-shop');
    await dialog().getByLabel('Workflow').selectOption('execute_operation');
    await dialog().getByRole('button', { name: 'Add a parameter' }).click();
    await dialog().getByLabel('Parameter 1', { exact: true }).fill('operation');
    await dialog().getByLabel('Place in the body 1', { exact: true }).fill('head/operation');
    await send('Create the trigger');
    await dialog().getByText('A pointer begins with /, such as /head_commit/id.').waitFor();
    await judge(page, 'trigger-form');
    await dialog().getByLabel('Place in the body 1', { exact: true }).fill('/head/operation');
    await dialog().getByLabel('Fixed parameters (JSON)').fill('{"operation": "x"}');
    await send('Create the trigger');
    await dialog().getByText('This parameter is fixed as well.').waitFor();
    await dialog().getByLabel('Fixed parameters (JSON)').fill('{"type_names": ["hello.nodes.Visitor"]}');
    await send('Create the trigger');
    await dialog().getByText('shown only this once').waitFor();
    await judge(page, 'trigger-secret');
    const address = (await dialog().locator('code').first().textContent())!;
    const secret = await takeSecret();
    expect(secret).toMatch(SECRET);
    await page.getByRole('heading', { level: 1, name: 'on-push' }).waitFor();
    expect(await has(secret)).toBe(false);
    await page.getByText(address, { exact: true }).waitFor();
    const { status: answered, text, id } = await fire(address, secret, 'msg_1');
    expect(`${answered} ${text}`).toMatch(/^201 /);
    await page.reload();
    await page.getByRole('link', { name: 'its execution' }).waitFor();
    await judge(page, 'trigger');
    await page.getByRole('link', { name: 'its execution' }).click();
    await page.waitForURL(new RegExp(`/executions/${id}`));
    await go('/triggers');
    await page.getByText('execute_operation on web-shop').waitFor();
    await judge(page, 'triggers');
  });

  /** Sends a request that the secret has signed. */
  async function fire(address: string, secret: string, id: string) {
    const now = new Date(systemClock.now());
    const body = JSON.stringify({ head: { operation: 'cloudify.interfaces.lifecycle.create' } });
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, now, body),
    };
    const answer = await fetch(address, { method: 'POST', headers, body });
    const text = await answer.text();
    return { status: answer.status, text, id: (JSON.parse(text) as { execution_id?: string }).execution_id };
  }

  test('a trigger is changed, gets a new secret, is disabled and deleted', async () => {
    await go('/triggers/on-push');
    const address = (await page.locator('main code').first().textContent())!;
    await press('Edit');
    expect(await dialog().getByLabel('Place in the body 1', { exact: true }).inputValue()).toBe(
      '/head/operation',
    );
    await dialog().getByLabel('Workflow').selectOption('install');
    await dialog().getByRole('button', { name: 'Remove: Parameter 1' }).click();
    await dialog().getByLabel('Fixed parameters (JSON)').fill('');
    await send('Save');
    await isClosed();
    await page.getByText('The request gives no parameters.').waitFor();
    await press('New secret');
    await dialog().getByLabel('Both are valid for').selectOption('0');
    await send('Make a new secret');
    const secret = await takeSecret();
    await press('Disable');
    await page.getByRole('heading', { level: 1 }).getByText('Disabled').waitFor();
    expect((await fire(address, secret, 'msg_2')).status).toBe(401);
    await press('Enable');
    await page.getByRole('heading', { level: 1 }).getByText('Enabled').waitFor();
    await press('Delete');
    await send('Delete the trigger');
    await page.getByText('No triggers').waitFor();
    expect((await fire(address, secret, 'msg_3')).status).toBe(401);
  });

  test('a trigger of somebody else is not changed in his name, and says when he is inactive', async () => {
    const user = { username: 'tess', password: 'a long enough password' };
    await call(client, 'createUser', {}, { ...user, role: 'default' });
    await call(
      client,
      'addTenantUser',
      {},
      { tenant_name: 'default_tenant', username: 'tess', role: 'user' },
    );
    const hers = await stage.openAs(user, '/triggers');
    await hers.getByRole('button', { name: 'New trigger' }).first().click();
    const form = hers.getByRole('dialog');
    await form.getByLabel('Name').fill('hers');
    await form.getByLabel('Deployment', { exact: false }).first().fill('web-shop');
    await form.getByLabel('Workflow').selectOption('install');
    await form.getByRole('button', { name: 'Create the trigger' }).click();
    await hers.getByRole('button', { name: 'I have copied it' }).click();
    await hers.getByRole('button', { name: 'Edit' }).waitFor();
    await call(client, 'activateUser', { username: 'tess' }, { action: 'deactivate' });
    await go('/triggers/hers');
    await page.getByText('The user tess is inactive or gone').waitFor();
    expect(await page.getByRole('button', { name: /^(Edit|New secret)$/ }).count()).toBe(0);
    await judge(page, 'trigger-of-another');
    await press('Disable');
    await page.getByRole('heading', { level: 1 }).getByText('Disabled').waitFor();
    await press('Delete');
    await send('Delete the trigger');
    await page.getByText('No triggers').waitFor();
    await call(client, 'deleteUser', { username: 'tess' });
  });

  test('who may only look sees no webhooks, and no actions on triggers', async () => {
    const look = await stage.openAs(VIEWER, '/triggers');
    await look.locator('main').getByText('No triggers').waitFor();
    expect(await look.getByRole('button', { name: 'New trigger' }).count()).toBe(0);
    expect(await look.getByRole('link', { name: 'Webhooks' }).count()).toBe(0);
    for (const path of ['/webhooks', '/webhooks/chat', '/webhooks/chat/deliveries']) {
      await look.goto(`${stage.fleet.baseUrl}${TENANT}${path}`);
      await look.getByText('administrators').waitFor();
      expect(await look.locator('main').getByRole('button').count()).toBe(0);
    }
  });
}
