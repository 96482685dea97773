import { createHmac } from 'node:crypto';
import { isoInstant, systemClock } from '@baton/kernel';
import { setFakeNow } from '@baton/testkit';
import { Webhook } from 'standardwebhooks';
import { admin, bob, startCluster } from '../testing/cluster-setup';

let cluster: Awaited<ReturnType<typeof startCluster>>;
const rights = ['execution_start'];
beforeAll(async () => {
  cluster = await startCluster();
});
beforeEach(() => {
  cluster.carried.started.length = 0;
  cluster.carried.rights = { 'default_tenant/bob': rights };
});
afterEach(() => cluster.pool.query('delete from cluster_status.triggers'));
afterAll(() => cluster.close());

const asBob = { ...bob, tenant: 'default_tenant' };
const settings = {
  deployment_id: 'd1',
  workflow_id: 'scale',
  parameters: { commit: '/head/0/id' },
  fixed_parameters: { delta: 1 },
};
interface Made {
  path: string;
  secret: string;
}
const make = async (id: string, more: object = {}): Promise<Made> => {
  const made = await cluster.call('PUT', `/triggers/${id}`, { as: asBob, json: { ...settings, ...more } });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  return { ...made.body, path: made.body.path.replace('/api/v3.1', '') };
};
const BODY = JSON.stringify({ head: [{ id: 'abc' }], other: 'not for the workflow' });
const nowMs = () => systemClock.now();
function signed(secret: string, o: { id?: string; body?: string; atMs?: number } = {}) {
  const { id = 'msg_1', body = BODY, atMs = nowMs() } = o;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(atMs / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, new Date(atMs), body),
  };
}
const fire = (path: string, headers: Record<string, string>, text = BODY) =>
  cluster.call('POST', path, { text, headers });

it('starts the workflow once for a signed request, as the user who made the trigger', async () => {
  const { path, secret } = await make('t1');
  const answer = await fire(path, signed(secret));
  expect([answer.status, answer.body]).toEqual([201, { execution_id: expect.any(String) }]);
  expect(cluster.carried.started).toMatchObject([
    {
      tenant: 'default_tenant',
      createdBy: 'bob',
      deploymentId: 'd1',
      workflowId: 'scale',
      parametersJson: JSON.stringify({ delta: 1, commit: 'abc' }),
      hasRightsOfUser: true,
      isAdministrator: false,
      permissions: rights,
    },
  ]);
  const again = await fire(path, signed(secret));
  expect(again.body).toEqual(answer.body);
  const ids = cluster.carried.started.map(({ requestId }) => requestId);
  expect(new Set(ids).size).toBe(1);
  const other = await fire(path, signed(secret, { id: 'msg_2' }));
  expect(other.body.execution_id).not.toBe(answer.body.execution_id);
});

it('moves to a new master key', async () => {
  const { path, secret } = await make('t1');
  const { masterKeys } = cluster.carried;
  masterKeys.unshift('second');
  await cluster.tick('reseal-texts');
  await cluster.tick('reseal-texts');
  masterKeys.pop();
  expect((await fire(path, signed(secret))).status).toBe(201);
});

it('answers an unknown address, a wrong signature and an old request alike, and starts nothing', async () => {
  const { path, secret } = await make('t1');
  const foreign = await make('t2');
  const minutes = 60_000;
  const refused = await Promise.all([
    fire('/triggers/unknown', signed(secret)),
    fire('/triggers/t1', signed(secret)),
    fire(path, {}),
    fire(path, signed(foreign.secret)),
    fire(path, signed(secret), `${BODY} `),
    fire(path, { ...signed(secret), 'webhook-id': 'msg_9' }),
    fire(path, signed(secret, { atMs: nowMs() - 6 * minutes })),
    fire(path, signed(secret, { atMs: nowMs() + 6 * minutes })),
    fire(path, { ...signed(secret), 'webhook-signature': 'v1,' }),
    fire(path, {
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(BODY).digest('hex')}`,
    }),
  ]);
  expect(new Set(refused.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect([refused[0]!.status, refused[0]!.body.error_code]).toEqual([401, 'unauthorized_error']);
  expect(cluster.carried.started).toEqual([]);
});

it('takes requests of GitHub, where the same body starts once', async () => {
  const { path, secret } = await make('hub', {
    scheme: 'github',
    secret: 'a secret of at least 24 characters',
  });
  expect(secret).toBe('a secret of at least 24 characters');
  const headers = {
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(BODY).digest('hex')}`,
  };
  const first = await fire(path, { ...headers, 'x-github-delivery': '1' });
  const replay = await fire(path, { ...headers, 'x-github-delivery': '2' });
  expect([first.status, replay.body]).toEqual([201, first.body]);
});

it.each([
  ['who is no member any more', {}],
  ['who may not start executions any more', { 'default_tenant/bob': [] }],
  ['who may do so in another tenant', { 'other/bob': rights }],
])('does nothing for a user %s', async (_who, now) => {
  const { path, secret } = await make('t1');
  cluster.carried.rights = now as never;
  const refused = await fire(path, signed(secret));
  expect([refused.status, refused.body.error_code]).toEqual([403, 'forbidden_error']);
  expect(cluster.carried.started).toEqual([]);
});

it('bounds size and rate, and says what the body lacks', async () => {
  const { path, secret } = await make('t1');
  const big = 'x'.repeat(256 * 1024 + 1);
  expect((await fire(path, signed(secret, { body: big }), big)).status).toBe(413);
  const empty = await fire(path, signed(secret, { id: 'msg_2', body: '{}' }), '{}');
  expect([empty.status, empty.body.field]).toEqual([400, 'body/head/0/id']);
  const proto = await fire(
    path,
    signed(secret, { id: 'msg_3', body: '{"__proto__":{"a":1}}' }),
    '{"__proto__":{"a":1}}',
  );
  expect(proto.status).toBe(400);
  await cluster.pool.query(`insert into cluster_status.trigger_calls (address, message_id, tenant, request_id)
    select address, 'n' || n, tenant, gen_random_uuid() from cluster_status.triggers, generate_series(1, 60) n`);
  const busy = await fire(path, signed(secret, { id: 'msg_4' }));
  expect([busy.status, busy.body.error_code]).toEqual([429, 'too_many_requests_error']);
  await setFakeNow(cluster.pool, isoInstant(nowMs() + 61_000));
  expect((await fire(path, signed(secret, { id: 'msg_4' }))).status).toBe(201);
  await setFakeNow(cluster.pool, null);
});

it('is seen by its creator and administrators of the tenant only, and never shows its secret again', async () => {
  const { secret } = await make('t1');
  const alice = { as: { ...asBob, username: 'alice' } };
  expect((await cluster.call('GET', '/triggers/t1', alice)).status).toBe(404);
  expect((await cluster.call('DELETE', '/triggers/t1', alice)).status).toBe(404);
  expect((await cluster.call('GET', '/triggers', alice)).body.items).toEqual([]);
  const seen = await cluster.call('GET', '/triggers/t1', { as: { ...admin, tenant: 'default_tenant' } });
  expect(seen.body).toMatchObject({ id: 't1', created_by: 'bob' });
  const { rows } = await cluster.pool.query('select t::text from cluster_status.triggers t');
  expect(seen.text + JSON.stringify(rows)).not.toContain(secret.slice(6));
  expect((await cluster.call('PUT', '/triggers/t1', { as: asBob, json: settings })).status).toBe(409);
  expect((await cluster.call('DELETE', '/triggers/t1', { as: asBob })).status).toBe(204);
});

it.each([
  [{ secret: 'whsec_tooshort_but_long_enough' }, 'secret'],
  [{ parameters: { a: 'head' } }, 'parameters'],
  [{ parameters: { delta: '/a' } }, 'fixed_parameters.delta'],
])('refuses %j', async (change, field) => {
  const refused = await cluster.call('PUT', '/triggers/bad', { as: asBob, json: { ...settings, ...change } });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(field)]);
});

it('is changed by no execution, whose token ends before the change', async () => {
  const token = { ...asBob, executionId: 'e1', authMethod: 'execution_token' as const };
  const refused = await cluster.call('PUT', '/triggers/t9', { as: token, json: settings });
  expect([refused.status, refused.body.error_code]).toEqual([403, 'forbidden_error']);
});
