// What keeps webhooks in order over time: the change of the master key, and the pruning of old deliveries.
import { eventually } from '@baton/testkit';
import { Webhook } from 'standardwebhooks';
import { admin, startCluster } from '../testing/cluster-setup';
import { startReceiver } from '../testing/receiver';

let cluster: Awaited<ReturnType<typeof startCluster>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver();
  cluster = await startCluster({ BATON_WEBHOOKS_ALLOW: '127.0.0.0/8' });
});
afterEach(() => cluster.pool.query('delete from cluster_status.webhooks'));
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
const delivered = (id: string, state = 'delivered') =>
  eventually(async () => {
    await cluster.tick('deliver-webhooks');
    const { items } = (await call('GET', `/webhooks/${id}/deliveries`)).body;
    expect(items.map((one: { state: string }) => one.state)).toContain(state);
    return items[0];
  });

it('moves to a new master key, so that the former one may be dropped', async () => {
  const { secret } = await make('moved', { headers: { 'x-token': 'canary-header' } });
  const { masterKeys } = cluster.carried;
  masterKeys.unshift('second');
  await cluster.tick('reseal-texts');
  await cluster.tick('reseal-texts');
  masterKeys.pop();
  await call('POST', '/webhooks/moved/ping');
  await delivered('moved');
  const [ping] = receiver.at('/moved');
  new Webhook(secret).verify(ping!.body, ping!.headers);
  expect(ping!.headers['x-token']).toBe('canary-header');
});

it('says when its master key is gone', async () => {
  await make('lost');
  const { masterKeys } = cluster.carried;
  const former = masterKeys.splice(0, 1, 'third');
  await cluster.tick('reseal-texts');
  await call('POST', '/webhooks/lost/ping');
  expect((await delivered('lost', 'failed')).error).toContain('the master key is missing');
  expect((await call('GET', '/webhooks/lost')).body.is_enabled).toBe(false);
  masterKeys.splice(0, 1, ...former);
});

it('prunes ended deliveries by age and by number, and never one that waits', async () => {
  await make('old', { order_by: 'deployment' });
  await make('many');
  const insert = (webhook: string, count: number, state: string, age: string) =>
    cluster.pool.query(
      `insert into cluster_status.webhook_deliveries (id, webhook, tenant, event_id, event, payload, content_type, state, created_at,
         ended_at, next_attempt_at, give_up_at)
       select gen_random_uuid(), uid, tenant, $3 || $4 || n, 'ping', '{}', 'application/json', $3, app_now() - $4::interval,
         case $3 when 'pending' then null else app_now() - $4::interval end, app_now() + interval '1 day', app_now() + interval '1 day'
       from cluster_status.webhooks, generate_series(1, $2::int) n where id = $1`,
      [webhook, count, state, age],
    );
  await insert('old', 1, 'delivered', '15 days');
  await insert('old', 1, 'failed', '15 days');
  await insert('old', 1, 'pending', '15 days');
  await insert('old', 1, 'delivered', '13 days');
  await insert('many', 1_005, 'delivered', '1 day');
  await insert('many', 1, 'delivered', '1 hour');
  await cluster.tick('prune-webhooks');
  const { rows } = await cluster.pool.query(
    `select w.id, d.state, count(*)::int, count(*) filter (where d.created_at > app_now() - interval '2 hours')::int as recent
     from cluster_status.webhook_deliveries d join cluster_status.webhooks w on w.uid = d.webhook group by 1, 2 order by 1, 2`,
  );
  expect(rows).toEqual([
    { id: 'many', state: 'delivered', count: 1_000, recent: 1 },
    { id: 'old', state: 'delivered', count: 1, recent: 0 },
    { id: 'old', state: 'pending', count: 1, recent: 0 },
  ]);
});
