import { blueprintDeleted, executionStatusChanged } from '@baton/contracts';
import { isoInstant, newId } from '@baton/kernel';
import { eventually, setFakeNow } from '@baton/testkit';
import { Webhook } from 'standardwebhooks';
import { admin, bob, startCluster } from '../testing/cluster-setup';
import { startReceiver, status } from '../testing/receiver';

let cluster: Awaited<ReturnType<typeof startCluster>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver();
  cluster = await startCluster({ BATON_WEBHOOKS_ALLOW: '127.0.0.0/8, inside.test' });
});
afterEach(async () => {
  await setFakeNow(cluster.pool, null);
  await cluster.pool.query('delete from cluster_status.webhooks; delete from cluster_status.webhook_hosts');
});
afterAll(async () => {
  await receiver.close();
  await cluster.close();
});

const as = { ...admin, tenant: 'default_tenant' };
const call = (method: string, path: string, json?: unknown) => cluster.call(method, path, { as, json });
const make = async (id: string, more: Record<string, unknown> = {}) => {
  const made = await call('PUT', `/webhooks/${id}`, { url: receiver.url(`/${id}`), events: ['*'], ...more });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  return made.body as { secret: string };
};
const finished = (more: object = {}) => ({
  executionId: newId(),
  deploymentId: 'd1',
  blueprintId: 'b1',
  workflowId: 'install',
  status: 'terminated' as const,
  createdBy: 'bob',
  changedAt: '2026-01-01T00:00:00.000Z',
  ...more,
});
const deliveries = async (id: string) => (await call('GET', `/webhooks/${id}/deliveries`)).body.items;
const delivered = (id: string, state = 'delivered') =>
  eventually(async () => {
    await cluster.tick('deliver-webhooks');
    const items = await deliveries(id);
    expect(items.map((one: { state: string }) => one.state)).toContain(state);
    return items[0];
  });
/** Waits until the attempt is recorded, without another one. */
const attempted = (id: string, attempts: number) =>
  eventually(async () => {
    const leased = await cluster.pool.query(
      'select from cluster_status.webhook_deliveries where lease_owner is not null',
    );
    expect(leased.rowCount).toBe(0);
    const [first] = await deliveries(id);
    expect(first).toMatchObject({ attempts });
    return first;
  });
/** Moves the time of the database on, and looks for due deliveries. */
const later = async (ms: number) => {
  const { rows } = await cluster.pool.query('select app_now() as now');
  await setFakeNow(cluster.pool, isoInstant(Date.parse(rows[0].now) + ms));
  await cluster.tick('deliver-webhooks');
};

it('tells a fact once, signed so that the library of Standard Webhooks accepts it', async () => {
  const { secret } = await make('w1');
  const payload = finished();
  const message = await cluster.tell(executionStatusChanged, payload);
  await cluster.tell(executionStatusChanged, payload, message);
  await delivered('w1');
  const [first, ...others] = receiver.at('/w1');
  expect(others).toEqual([]);
  expect(new Webhook(secret).verify(first!.body, first!.headers)).toEqual({
    type: 'execution.finished',
    timestamp: '2026-01-01T00:00:00.000Z',
    data: {
      execution_id: payload.executionId,
      deployment_id: 'd1',
      blueprint_id: 'b1',
      workflow_id: 'install',
      status: 'terminated',
      created_by: 'bob',
      link: `/api/v3.1/executions/${payload.executionId}`,
    },
  });
  expect(() => new Webhook(secret).verify(first!.body.replace('d1', 'd2'), first!.headers)).toThrow();
  const [one] = await deliveries('w1');
  expect(first!.headers['webhook-id']).toBe(one.id);
  expect((await call('GET', `/webhooks/w1/deliveries/${one.id}`)).body.payload).toBe(first!.body);
});

it('tries again under the same id with fresh signatures, and loses nothing until the endpoint is back', async () => {
  const { secret } = await make('flaky');
  receiver.answer('/flaky', status(500));
  await cluster.tell(executionStatusChanged, finished());
  await cluster.tick('deliver-webhooks');
  expect(await attempted('flaky', 1)).toMatchObject({
    state: 'pending',
    last_status: 500,
    error: 'the endpoint answered 500',
  });
  await later(5_000);
  expect(receiver.at('/flaky')).toHaveLength(1);
  await later(20_000);
  await attempted('flaky', 2);
  receiver.answer('/flaky', status(204));
  await later(120_000);
  expect(await delivered('flaky')).toMatchObject({ attempts: 3, last_status: 204, error: null });
  const sent = receiver.at('/flaky');
  expect(new Set(sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  for (const { body, headers } of sent) new Webhook(secret).verify(body, headers);
});

const ENDS: [string, Parameters<typeof receiver.answer>[1], string][] = [
  ['redirect', status(302, { location: 'http://169.254.169.254/latest' }), 'the endpoint answered 302'],
  [
    'broken',
    (response) =>
      void response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy()),
    'the server closed the connection',
  ],
  ['reset', (response) => void response.socket?.destroy(), 'the server closed the connection'],
];
it.each(ENDS)('an endpoint that answers with a %s gets it again', async (id, how, error) => {
  await make(id);
  receiver.answer(`/${id}`, how);
  await cluster.tell(executionStatusChanged, finished());
  await cluster.tick('deliver-webhooks');
  expect(await attempted(id, 1)).toMatchObject({ state: 'pending', error });
});

it('reads only the beginning of an endless answer', async () => {
  await make('endless');
  let written = 0;
  receiver.answer('/endless', (response) => {
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(16_384))) written += 16_384;
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  await cluster.tell(executionStatusChanged, finished());
  const one = await delivered('endless');
  expect(one.answer).toBe('x'.repeat(1024));
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

it('a process that died between request and record sends the delivery again, under its id', async () => {
  await make('died');
  receiver.answer('/died', () => undefined);
  await cluster.tell(executionStatusChanged, finished());
  await cluster.tick('deliver-webhooks');
  await eventually(() => expect(receiver.at('/died')).toHaveLength(1));
  // As if another process had held the lease and was killed: nobody records this attempt.
  await cluster.pool.query(`update cluster_status.webhook_deliveries set lease_owner = 'a dead process'`);
  receiver.answer('/died', status(200));
  await later(59_000);
  expect(receiver.at('/died')).toHaveLength(1);
  await later(2_000);
  expect(await delivered('died')).toMatchObject({ attempts: 2 });
  expect(new Set(receiver.at('/died').map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

it('an endpoint that hangs does not delay another one', async () => {
  await make('hangs');
  await make('quick');
  receiver.answer('/hangs', () => undefined);
  for (let i = 0; i < 10; i++) await cluster.tell(executionStatusChanged, finished());
  await eventually(() => expect(receiver.at('/quick')).toHaveLength(10));
  expect(receiver.at('/hangs')).toHaveLength(2);
});

it('keeps the order of each deployment where that is asked', async () => {
  await make('ordered', { order_by: 'deployment' });
  receiver.answer('/ordered', status(500));
  const first = finished({ deploymentId: 'slow' });
  await cluster.tell(executionStatusChanged, first);
  await cluster.tell(executionStatusChanged, finished({ deploymentId: 'slow' }));
  await eventually(() => expect(receiver.at('/ordered')).toHaveLength(1));
  await cluster.tell(executionStatusChanged, finished({ deploymentId: 'other' }));
  await eventually(() => expect(receiver.at('/ordered')).toHaveLength(2));
  const seen = receiver.at('/ordered').map(({ body }) => JSON.parse(body).data);
  expect(seen.map((data) => data.deployment_id)).toEqual(['slow', 'other']);
  expect(seen[0].execution_id).toBe(first.executionId);
});

it('gives up, disables the webhook with the reason, tells the others, and starts anew when it is enabled', async () => {
  await make('hopeless', { max_attempts: 1, events: ['execution.finished'] });
  await make('watcher', { events: ['webhook.disabled'] });
  receiver.answer('/hopeless', status(400));
  await cluster.tell(executionStatusChanged, finished());
  expect(await delivered('hopeless', 'failed')).toMatchObject({
    error: 'given up after 1 attempt: the endpoint answered 400',
  });
  const reason = 'given up after 1 attempt: the endpoint answered 400';
  expect((await call('GET', '/webhooks/hopeless')).body).toMatchObject({
    is_enabled: false,
    disabled_reason: reason,
  });
  await eventually(() => expect(receiver.at('/watcher')).toHaveLength(1));
  expect(JSON.parse(receiver.at('/watcher')[0]!.body)).toMatchObject({
    type: 'webhook.disabled',
    data: { webhook_id: 'hopeless', reason },
  });
  const [failed] = await deliveries('hopeless');
  const refused = await call('POST', `/webhooks/hopeless/deliveries/${failed.id}/redeliver`);
  expect([refused.status, refused.body.error_code]).toEqual([409, 'conflict_error']);
  receiver.answer('/hopeless', status(200));
  expect((await call('PATCH', '/webhooks/hopeless', { is_enabled: true })).body).toMatchObject({
    is_enabled: true,
    disabled_reason: null,
  });
  expect((await call('POST', `/webhooks/hopeless/deliveries/${failed.id}/redeliver`)).status).toBe(200);
  expect(await delivered('hopeless')).toMatchObject({ id: failed.id, attempts: 1 });
});

it('believes 410 at once, and waits as long as 429 and 503 say, within bounds', async () => {
  await make('gone');
  receiver.answer('/gone', status(410));
  await make('busy');
  receiver.answer('/busy', status(429, { 'retry-after': '999999999' }));
  await cluster.tell(executionStatusChanged, finished());
  await delivered('gone', 'failed');
  expect((await call('GET', '/webhooks/gone')).body.is_enabled).toBe(false);
  const busy = (await attempted('busy', 1)) as { next_attempt_at: string; created_at: string };
  const waitMs = Date.parse(busy.next_attempt_at) - Date.parse(busy.created_at);
  expect(Math.round(waitMs / 3_600_000)).toBe(6);
});

it('leaves a host that fails alone for a time, without counting attempts', async () => {
  await make('down', { order_by: 'deployment' });
  receiver.answer('/down', status(503));
  for (let i = 0; i < 6; i++) await cluster.tell(executionStatusChanged, finished({ deploymentId: `d${i}` }));
  await eventually(async () => {
    await cluster.tick('deliver-webhooks');
    const { rows } = await cluster.pool.query(
      'select failures, open_until from cluster_status.webhook_hosts',
    );
    expect(rows[0]).toMatchObject({ failures: expect.any(Number), open_until: expect.anything() });
  });
  await eventually(async () => {
    const { rowCount } = await cluster.pool.query(
      'select from cluster_status.webhook_deliveries where lease_owner is not null',
    );
    expect(rowCount).toBe(0);
  });
  const before = receiver.at('/down').length;
  expect(before).toBeLessThanOrEqual(6);
  await later(20_000);
  expect(receiver.at('/down')).toHaveLength(before);
  receiver.answer('/down', status(200));
  await later(120_000);
  await eventually(async () => {
    await cluster.tick('deliver-webhooks');
    expect((await deliveries('down')).map((one: { state: string }) => one.state)).toEqual(
      Array(6).fill('delivered'),
    );
  });
});

it('rotates: both keys sign for a time, then only the new one', async () => {
  const { secret: former } = await make('rotated', { headers: { Authorization: 'Bearer canary-header' } });
  const { secret } = (await call('POST', '/webhooks/rotated/rotate', { overlap_s: 3600 })).body;
  expect(secret).not.toBe(former);
  expect((await call('POST', '/webhooks/rotated/ping')).body).toMatchObject({
    event: 'ping',
    state: 'pending',
  });
  await delivered('rotated');
  const [ping] = receiver.at('/rotated');
  for (const key of [former, secret]) new Webhook(key).verify(ping!.body, ping!.headers);
  expect(ping!.headers.authorization).toBe('Bearer canary-header');
  await call('POST', '/webhooks/rotated/rotate', { overlap_s: 0 });
  await call('POST', '/webhooks/rotated/ping');
  await eventually(() => expect(receiver.at('/rotated')).toHaveLength(2));
  const last = receiver.at('/rotated')[1]!;
  for (const key of [former, secret])
    expect(() => new Webhook(key).verify(last.body, last.headers)).toThrow();
});

it('shows secrets once, and keeps none of them readable', async () => {
  const { secret } = await make('w1', { headers: { 'x-token': 'canary-header' } });
  const shown = await Promise.all(
    ['/webhooks', '/webhooks/w1', '/webhooks/w1/deliveries'].map(
      async (path) => (await call('GET', path)).text,
    ),
  );
  await call('PATCH', '/webhooks/w1', { max_attempts: 3 });
  const tables = ['webhooks', 'webhook_deliveries', 'outbox', 'audit_log'];
  const rows = await Promise.all(
    tables.map(
      async (name) => (await cluster.pool.query(`select t::text from cluster_status.${name} t`)).rows,
    ),
  );
  const text = JSON.stringify([shown, rows]);
  for (const canary of [
    secret,
    secret.slice(6),
    'canary-header',
    Buffer.from('canary-header').toString('hex'),
  ])
    expect(text).not.toContain(canary);
  expect(JSON.parse(shown[1]!)).toMatchObject({ header_names: ['x-token'] });
});

it.each([
  [{ url: 'http://10.0.0.1/' }, 'url'],
  [{ url: 'http://167772161/', headers: {} }, 'url'],
  [{ format: 'template' }, 'template'],
  [{ url: 'http://[::ffff:169.254.169.254]/' }, 'url'],
  [{ url: 'ftp://example.com/' }, 'url'],
  [{ url: 'https://user:password@example.com/' }, 'url'],
  [{ events: ['execution.finnished'] }, 'events[0]'],
  [{ events: [] }, 'events'],
  [{ filter: { deployment: 'x' } }, 'filter'],
  [{ headers: { 'webhook-id': 'x' } }, 'headers.webhook-id'],
  [{ headers: { 'x-a': 'b\r\nx-c: d' } }, 'headers.x-a'],
  [{ format: 'template', template: '{"a": {{data.x}}}' }, 'template'],
  [{ format: 'template', template: '{"a": "{{tipe}}"}' }, 'template'],
  [{ max_attempts: 0 }, 'max_attempts'],
])('refuses %j and names the field', async (change, field) => {
  const refused = await call('PUT', '/webhooks/bad', {
    url: 'https://example.com/',
    events: ['*'],
    ...change,
  });
  expect([refused.status, refused.body.error_code]).toEqual([400, 'bad_parameters_error']);
  expect(refused.text).toContain(field);
});

it('an address that a name hides is refused when it is called, and never connected to', async () => {
  await call('PUT', '/webhooks/hidden', {
    url: `http://localhost.:${receiver.port}/hidden`,
    events: ['*'],
    max_attempts: 1,
  });
  await cluster.pool.query(
    `update cluster_status.webhooks set url = 'http://169.254.169.254/latest' where id = 'hidden'`,
  );
  await cluster.tell(blueprintDeleted, { blueprintId: 'b', executionId: 'e' });
  expect((await delivered('hidden', 'failed')).error).toContain('public http or https address');
});

it('belongs to its tenant', async () => {
  await make('ours');
  const other = { as: { ...bob, tenant: 'other', permissions: ['administrators'] } };
  for (const [method, path] of [
    ['GET', '/webhooks/ours'],
    ['DELETE', '/webhooks/ours'],
    ['GET', '/webhooks/ours/deliveries'],
    ['POST', '/webhooks/ours/ping'],
    ['POST', '/webhooks/ours/rotate'],
  ] as const)
    expect((await cluster.call(method, path, other)).status).toBe(404);
  expect((await cluster.call('GET', '/webhooks', other)).body.items).toEqual([]);
  expect((await call('PUT', '/webhooks/ours', { url: receiver.url('/'), events: ['*'] })).status).toBe(409);
  expect((await call('DELETE', '/webhooks/ours')).status).toBe(204);
});

it('is changed by no execution, whose token ends before the change', async () => {
  const token = { ...as, executionId: 'e1', authMethod: 'execution_token' as const };
  const refused = await cluster.call('PUT', '/webhooks/ours', {
    as: token,
    json: { url: receiver.url('/'), events: ['*'] },
  });
  expect([refused.status, refused.body.error_code]).toEqual([403, 'forbidden_error']);
});
