import { createHmac } from 'node:crypto';
import { isoInstant, systemClock } from '@baton/kernel';
import { setFakeNow } from '@baton/testkit';
import { Webhook } from 'standardwebhooks';
import { sealedKinds } from '../store/sealed-texts.sql';
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

it('moves to a new master key, with the secret before the last rotation', async () => {
  const { path, secret } = await make('t1');
  const rotated = await cluster.call('POST', '/triggers/t1/rotate', { as: asBob, json: { overlap_s: 60 } });
  const { masterKeys } = cluster.carried;
  masterKeys.unshift('second');
  for (const _kind of sealedKinds) await cluster.tick('reseal-texts');
  masterKeys.pop();
  expect((await fire(path, signed(secret))).status).toBe(201);
  expect((await fire(path, signed(rotated.body.secret, { id: 'msg_2' }))).status).toBe(201);
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

it('is changed by its creator: what is absent stays, address and secret as well', async () => {
  const { path, secret } = await make('t1');
  const change = (json: object) => cluster.call('PATCH', '/triggers/t1', { as: asBob, json });
  const changed = await change({ workflow_id: 'heal', parameters: { node: '/node' } });
  expect([changed.status, changed.body]).toEqual([
    200,
    expect.objectContaining({
      deployment_id: 'd1',
      workflow_id: 'heal',
      parameters: { node: '/node' },
      fixed_parameters: { delta: 1 },
      path: `/api/v3.1${path}`,
    }),
  ]);
  expect(changed.text).not.toContain(secret.slice(6));
  const body = '{"node":"web"}';
  const fired = await fire(path, signed(secret, { body }), body);
  expect(fired.status).toBe(201);
  expect(cluster.carried.started).toMatchObject([
    { workflowId: 'heal', parametersJson: JSON.stringify({ delta: 1, node: 'web' }) },
  ]);
  expect((await cluster.call('GET', '/triggers/t1', { as: asBob })).body).toMatchObject({
    last_call_at: expect.any(String),
    last_execution_id: fired.body.execution_id,
  });
  expect((await change({ is_enabled: false })).body).toMatchObject({
    is_enabled: false,
    workflow_id: 'heal',
  });
  expect((await fire(path, signed(secret, { id: 'msg_2', body }), body)).status).toBe(401);
  expect((await change({ is_enabled: true })).status).toBe(200);
  expect((await fire(path, signed(secret, { id: 'msg_2', body }), body)).status).toBe(201);
});

it.each([
  [{ parameters: { delta: '/a' } }, 'fixed_parameters.delta'],
  [{ parameters: { a: 'head' } }, 'parameters'],
  [{ scheme: 'github' }, 'scheme'],
  [{ secret: 'a secret of at least 24 characters' }, 'secret'],
  [{ created_by: 'admin' }, 'created_by'],
])('refuses the change %j', async (change, field) => {
  await make('t1');
  const refused = await cluster.call('PATCH', '/triggers/t1', { as: asBob, json: change });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(field)]);
});

it('takes both secrets after a rotation, and the new one alone when the overlap has ended', async () => {
  const { path, secret } = await make('t1');
  const rotated = await cluster.call('POST', '/triggers/t1/rotate', { as: asBob, json: { overlap_s: 60 } });
  expect([rotated.status, rotated.body]).toEqual([
    200,
    expect.objectContaining({ id: 't1', former_secret_until: expect.any(String) }),
  ]);
  const next = rotated.body.secret;
  expect(next).toMatch(/^whsec_/);
  expect(next).not.toBe(secret);
  expect((await fire(path, signed(secret, { id: 'old' }))).status).toBe(201);
  expect((await fire(path, signed(next, { id: 'new' }))).status).toBe(201);
  await setFakeNow(cluster.pool, isoInstant(nowMs() + 61_000));
  expect((await fire(path, signed(secret, { id: 'late' }))).status).toBe(401);
  expect((await fire(path, signed(next, { id: 'later' }))).status).toBe(201);
  await setFakeNow(cluster.pool, null);
  const shown = await cluster.call('GET', '/triggers/t1', { as: asBob });
  expect(shown.text).not.toContain(next.slice(6));
});

it('ends the former secret at once without an overlap, and takes a given secret of the right form', async () => {
  const { path, secret } = await make('t1');
  const rotate = (json: object) => cluster.call('POST', '/triggers/t1/rotate', { as: asBob, json });
  expect((await rotate({ secret: 'of no form, but long enough', overlap_s: 0 })).status).toBe(400);
  expect((await rotate({ overlap_s: 7 * 86_400 + 1 })).status).toBe(400);
  const given = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const { body } = await rotate({ secret: given, overlap_s: 0 });
  expect([body.secret, body.former_secret_until]).toEqual([given, null]);
  expect((await fire(path, signed(secret))).status).toBe(401);
  expect((await fire(path, signed(given))).status).toBe(201);
});

it('gives nobody else a way to start executions in the name of its creator', async () => {
  const { path, secret } = await make('t1');
  const manager = { ...admin, tenant: 'default_tenant' };
  const alice = { ...asBob, username: 'alice' };
  for (const [method, place, json] of [
    ['PATCH', '/triggers/t1', { workflow_id: 'uninstall' }],
    ['PATCH', '/triggers/t1', { is_enabled: true, fixed_parameters: { delta: 9 } }],
    ['POST', '/triggers/t1/rotate', {}],
  ] as const) {
    const refused = await cluster.call(method, place, { as: manager, json });
    expect([refused.status, refused.body.error_code]).toEqual([403, 'forbidden_error']);
    expect((await cluster.call(method, place, { as: alice, json })).status).toBe(404);
  }
  const stopped = await cluster.call('PATCH', '/triggers/t1', { as: manager, json: { is_enabled: false } });
  expect([stopped.status, stopped.body]).toEqual([
    200,
    expect.objectContaining({ is_enabled: false, workflow_id: 'scale', created_by: 'bob' }),
  ]);
  expect((await fire(path, signed(secret))).status).toBe(401);
});

it('has one of two secrets that are made at the same time', async () => {
  const { path } = await make('t1');
  const rotate = () => cluster.call('POST', '/triggers/t1/rotate', { as: asBob, json: { overlap_s: 0 } });
  const answers = await Promise.all([rotate(), rotate(), rotate()]);
  const made = answers.filter(({ status }) => status === 200);
  expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
  const works = await Promise.all(made.map(({ body }) => fire(path, signed(body.secret))));
  expect(works.filter(({ status }) => status === 201)).toHaveLength(1);
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
  await make('t1');
  for (const [method, path, json] of [
    ['PUT', '/triggers/t9', settings],
    ['PATCH', '/triggers/t1', { workflow_id: 'heal' }],
    ['POST', '/triggers/t1/rotate', {}],
  ] as const) {
    const refused = await cluster.call(method, path, { as: token, json });
    expect([refused.status, refused.body.error_code]).toEqual([403, 'forbidden_error']);
  }
});
