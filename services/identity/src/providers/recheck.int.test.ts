/** Roles and sessions of users follow their provider, and survive its absence. */
import { systemClock } from '@baton/kernel';
import { setFakeNow } from '@baton/testkit';
import { type LoginRig, startLoginRig } from './testing/login-rig';

let rig: LoginRig;
beforeAll(async () => {
  rig = await startLoginRig();
  await rig.put('corp');
});
afterEach(async () => {
  rig.op.broken.clear();
  rig.op.replaced.clear();
  rig.op.falsify.clear();
  rig.op.people.set('u-1', { preferred_username: 'alice', groups: ['dev'] });
  await setFakeNow(rig.identity.db.pool, null);
});
afterAll(() => rig.stop());

const MINUTE_MS = 60_000;
const later = (ms: number) =>
  setFakeNow(rig.identity.db.pool, new Date(systemClock.now() + ms).toISOString());
const rolesOf = async (session: string): Promise<string[]> =>
  (await rig.whoIs(session, 'default_tenant')).roles.sort();
const tokenOf = async (session: string): Promise<string> =>
  (await rig.identity.call('POST', '/tokens', {}, await rig.whoIs(session, 'default_tenant'))).body.value;
const asked = (path: string): number => rig.op.asked.filter((one) => one === path).length;

test('a group that was taken at the provider takes its role at the first use after four minutes', async () => {
  const { session } = await rig.signIn('u-1');
  rig.op.people.get('u-1')!.groups = ['admins'];
  expect(await rolesOf(session)).toEqual(['default', 'operations']);
  await later(4 * MINUTE_MS + 1_000);
  expect(await rolesOf(session)).toEqual(['default', 'sys_admin']);
});

test('tokens of the user lose the role with it, and gateways hear that their answer is old', async () => {
  const { session } = await rig.signIn('u-1');
  const token = await tokenOf(session);
  rig.op.people.get('u-1')!.groups = [];
  await later(4 * MINUTE_MS + 1_000);
  const { principal, endsInMs } = await rig.identity.rpc.authenticate({ token, tenant: 'default_tenant' });
  expect(principal!.roles).toEqual(['default']);
  expect(endsInMs).toBeLessThanOrEqual(4 * MINUTE_MS);
  const { rows } = await rig.identity.db.pool.query(
    `select count(*)::integer as n from outbox where envelope->>'type' = 'identity.credentials-changed.v1'
       and envelope->'payload'->>'username' = 'alice'`,
  );
  expect(rows[0].n).toBeGreaterThan(0);
});

test('an answer is trusted at most until the next check, also by event streams', async () => {
  const { session } = await rig.signIn('u-1');
  const { endsInMs } = await rig.identity.rpc.authenticate({ session });
  expect(endsInMs).toBeGreaterThan(3 * MINUTE_MS);
  expect(endsInMs).toBeLessThanOrEqual(4 * MINUTE_MS);
});

test('many requests at the moment of the check ask the provider once', async () => {
  const { session } = await rig.signIn('u-1');
  await later(4 * MINUTE_MS + 1_000);
  const before = asked('/token');
  await Promise.all(Array.from({ length: 8 }, () => rig.whoIs(session)));
  expect(asked('/token') - before).toBe(1);
});

test('while the provider is away, sessions keep their roles and live to their end', async () => {
  const { session } = await rig.signIn('u-1');
  rig.op.people.get('u-1')!.groups = [];
  rig.op.broken.set('*', null);
  await later(60 * MINUTE_MS);
  expect(await rolesOf(session)).toEqual(['default', 'operations']);
  rig.op.broken.set('*', 503);
  await later(61 * MINUTE_MS);
  expect(await rolesOf(session)).toEqual(['default', 'operations']);
  rig.op.broken.clear();
  // Asked again half a minute after the last try.
  await later(61 * MINUTE_MS + 31_000);
  expect(await rolesOf(session)).toEqual(['default']);
  await later(13 * 60 * MINUTE_MS);
  await expect(rig.whoIs(session)).rejects.toMatchObject({ code: 'unauthorized_error' });
});

test('a user whom the provider knows no more loses sessions and roles, and its tokens are worth nothing', async () => {
  const { session } = await rig.signIn('u-1');
  const token = await tokenOf(session);
  rig.op.people.delete('u-1');
  await later(4 * MINUTE_MS + 1_000);
  await expect(rig.whoIs(session)).rejects.toMatchObject({ code: 'unauthorized_error' });
  const { principal } = await rig.identity.rpc.authenticate({ token, tenant: 'default_tenant' });
  expect(principal!.roles).toEqual(['default']);
});

test('without a refresh token a session ends within five minutes', async () => {
  rig.op.falsify.set('/token', ({ refresh_token: _token, ...body }) => body);
  const { session } = await rig.signIn('u-1');
  expect((await rig.whoIs(session)).username).toBe('alice');
  await later(4 * MINUTE_MS + 1_000);
  await expect(rig.whoIs(session)).rejects.toMatchObject({ code: 'unauthorized_error' });
});

test('an answer about another person changes no roles of this one to theirs', async () => {
  const { session } = await rig.signIn('u-1');
  rig.op.replaced.set('/me', { sub: 'u-2', preferred_username: 'bob', groups: ['admins'] });
  await later(4 * MINUTE_MS + 1_000);
  await expect(rig.whoIs(session)).rejects.toMatchObject({ code: 'unauthorized_error' });
  const { rows } = await rig.identity.db.pool.query('select count(*)::integer as n from provider_roles');
  expect(rows[0].n).toBe(0);
});

test('a disabled provider ends the sessions of its users at their next use, a changed mapping counts at once', async () => {
  const { session } = await rig.signIn('u-1');
  await rig.identity.call('PATCH', '/identity-providers/corp', {
    mapping: [{ group: 'dev', tenants: [{ name: 'default_tenant', role: 'manager' }] }],
  });
  expect(await rolesOf(session)).toEqual(['default', 'manager']);
  await rig.identity.call('PATCH', '/identity-providers/corp', { is_enabled: false });
  await expect(rig.whoIs(session)).rejects.toMatchObject({ code: 'unauthorized_error' });
  expect((await rig.identity.principal('admin', 'admin')).username).toBe('admin');
  await rig.put('corp', { is_enabled: true });
});

test('a sign-in during a check that is denied keeps its session', async () => {
  const { session } = await rig.signIn('u-1');
  const denied = { error: 'invalid_grant' };
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  rig.op.holds.set('/token', { until: held, status: 400, body: denied });
  await later(4 * MINUTE_MS + 1_000);
  const checking = rig.whoIs(session).catch(() => null);
  await rig.op.holds.get('/token')!.reached;
  rig.op.holds.delete('/token');
  const { session: fresh } = await rig.signIn('u-1');
  release();
  await checking;
  expect(await rolesOf(fresh)).toEqual(['default', 'operations']);
});
