import type { Principal } from '@baton/contracts';
import { systemClock } from '@baton/kernel';
import { setFakeNow } from '@baton/testkit';
import { startTestIdentity, type TestAnswer, type TestIdentity } from '../testing-identity';
import { MOST_OF_ADDRESS, MOST_OPEN, TRIES } from './domain/device-login';

let identity: TestIdentity;
/** People who are signed in with a browser; each test that enters wrong codes has one of its own. */
const PEOPLE = ['bob', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi'] as const;
type Person = (typeof PEOPLE)[number];

beforeAll(async () => {
  identity = await startTestIdentity({ BATON_DEVICE_TOKEN_LIFE: '7d' });
  for (const username of PEOPLE)
    await identity.call('PUT', '/users', { username, password: `${username}_pw` });
});
afterEach(async () => {
  await setFakeNow(identity.db.pool, null);
  await sql('delete from device_logins');
  await sql('delete from device_code_tries');
});
afterAll(() => identity.stop());

const sql = async (text: string, values: unknown[] = []) => (await identity.db.pool.query(text, values)).rows;
/** Stops the clock of the database `seconds` after now. */
const inSeconds = (seconds: number) =>
  setFakeNow(identity.db.pool, new Date(systemClock.now() + seconds * 1000).toISOString());

/** A request as the gateway forwards it: it knows the addresses, and no caller. */
async function open(path: string, body: object, address = '192.0.2.7'): Promise<TestAnswer> {
  const answer = await fetch(`${identity.origin}/api/v3.1/login/device${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-baton-origin': 'https://manager.example',
      'x-baton-address': address,
    },
    body: JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}
const begin = async (address?: string, name = 'baton on laptop') =>
  (await open('', { client_name: name }, address)).body as {
    device_code: string;
    user_code: string;
  };
const poll = (deviceCode: string) => open('/token', { device_code: deviceCode });
const codeOf = ({ status, body }: TestAnswer): [number, string] => [status, body.error_code];

async function signIn(username: string): Promise<Principal> {
  const password = username === 'admin' ? 'admin' : `${username}_pw`;
  const as = await identity.principal(username, password);
  const answer = await identity.call('POST', '/session', { username, password }, as);
  const session = /session=([^;]+)/.exec(answer.headers.get('set-cookie')!)![1]!;
  return (await identity.rpc.authenticate({ session })).principal as Principal;
}
const ask = (what: 'lookup' | 'approve' | 'deny', code: string, as: Principal, more: object = {}) =>
  identity.call('POST', `/login/device/${what}`, { user_code: code, ...more }, as);
const approve = (code: string, as: Principal) => ask('approve', code, as, { is_confirmed: true });
const whoIs = async (token: string): Promise<string> =>
  ((await identity.rpc.authenticate({ token, tenant: '' })).principal as Principal).username;
const tokensOf = async (person: Person) =>
  sql(
    'select description, expiration_date from tokens t join users u on u.id = t.user_id where username = $1',
    [person],
  );
/** A letter that a code has, but not this one at its end. */
const wrong = (code: string): string => `${code.slice(0, -1)}${code.endsWith('B') ? 'C' : 'B'}`;

test('a person approves the code of a program, which gets one token of that user, with an end', async () => {
  const answer = await open('', { client_name: 'baton on laptop' });
  expect([answer.status, answer.headers.get('cache-control'), answer.body]).toEqual([
    200,
    'no-store',
    {
      device_code: expect.stringMatching(/^bdev-\w{10}-\w{40}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: 'https://manager.example/device',
      verification_uri_complete: `https://manager.example/device#user_code=${answer.body.user_code}`,
      expires_in: 600,
      interval: 5,
    },
  ]);
  const { device_code: deviceCode, user_code: userCode } = answer.body;
  expect(codeOf(await poll(deviceCode))).toEqual([400, 'authorization_pending']);
  const bob = await signIn('bob');
  // As people type it.
  const seen = await ask('lookup', ` ${userCode.toLowerCase().replace('-', ' ')}`, bob);
  expect(seen.body).toEqual({
    user_code: userCode,
    client_name: 'baton on laptop',
    address: '192.0.2.7',
    is_same_address: false,
    created_at: expect.stringMatching(/Z$/),
    age_s: expect.any(Number),
    expires_at: expect.stringMatching(/Z$/),
    state: 'pending',
  });
  expect((await approve(userCode, bob)).body).toMatchObject({ state: 'approved' });
  await inSeconds(5);
  const redeemed = await poll(deviceCode);
  expect([redeemed.status, redeemed.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(redeemed.body).toMatchObject({ username: 'bob', token_type: 'N_A', expires_in: 7 * 86_400 });
  expect(await whoIs(redeemed.body.access_token)).toBe('bob');
  expect(await tokensOf('bob')).toEqual([
    {
      description: expect.stringMatching(
        /^device login: baton on laptop, from 192\.0\.2\.7, \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
      ),
      expiration_date: redeemed.body.expiration_date,
    },
  ]);
  await inSeconds(10);
  expect(codeOf(await poll(deviceCode))).toEqual([400, 'expired_token']);
  expect(codeOf(await ask('lookup', userCode, bob))).toEqual([404, 'not_found_error']);
  const revoked = await identity.call('DELETE', `/tokens/${redeemed.body.token_id}`, undefined, bob);
  expect(revoked.status).toBe(204);
});

test('the database has hashes of both codes, and no plain hash of the short one', async () => {
  const { device_code: deviceCode, user_code: userCode } = await begin();
  const rows = JSON.stringify(await sql('select l::text as row from device_logins l'));
  const plain = userCode.replace('-', '');
  for (const secret of [deviceCode.slice(-40), userCode, plain]) expect(rows).not.toContain(secret);
  const [{ guessed }] = await sql(
    'select count(*)::int as guessed from device_logins where user_code_hash in (sha256($1::bytea), sha256($2::bytea))',
    [Buffer.from(plain), Buffer.from(userCode)],
  );
  expect(guessed).toBe(0);
});

test('a program that asks too often has to wait longer each time', async () => {
  const { device_code: code } = await begin();
  expect(codeOf(await poll(code))).toEqual([400, 'authorization_pending']);
  for (const interval of [10, 15]) {
    const answer = await poll(code);
    expect([...codeOf(answer), answer.body.interval]).toEqual([400, 'slow_down', interval]);
  }
  await inSeconds(10);
  expect(codeOf(await poll(code))).toEqual([400, 'slow_down']);
  await inSeconds(40);
  expect((await poll(code)).body).toMatchObject({ error_code: 'authorization_pending', interval: 20 });
});

test('a denied login stays denied', async () => {
  const { device_code: deviceCode, user_code: userCode } = await begin();
  const bob = await signIn('bob');
  expect((await ask('deny', userCode, bob)).body).toMatchObject({ state: 'denied' });
  expect(codeOf(await approve(userCode, bob))).toEqual([409, 'conflict_error']);
  expect(codeOf(await poll(deviceCode))).toEqual([400, 'access_denied']);
});

test('after ten minutes a login is over for everybody, and is deleted', async () => {
  const [undecided, approved] = [await begin(), await begin()];
  const bob = await signIn('bob');
  await approve(approved.user_code, bob);
  await inSeconds(601);
  for (const { device_code: code } of [undecided, approved])
    expect(codeOf(await poll(code))).toEqual([400, 'expired_token']);
  for (const what of ['lookup', 'deny'] as const)
    expect(codeOf(await ask(what, undecided.user_code, bob))).toEqual([404, 'not_found_error']);
  expect(codeOf(await approve(undecided.user_code, bob))).toEqual([404, 'not_found_error']);
  await inSeconds(3_600);
  await identity.parts.loops.find(({ name }) => name === 'purge-device-logins')!.tickOnce();
  expect(await sql('select id from device_logins')).toEqual([]);
  expect(await sql('select user_id from device_code_tries')).toEqual([]);
});

test('a code of another kind, or an invented one, is as one that is over', async () => {
  const token = (await identity.call('POST', '/tokens', {})).body.value as string;
  const { device_code: code } = await begin();
  for (const bad of [token, token.replace('ctok', 'bdev'), `${code.slice(0, -1)}_`, wrong(code), 'x'])
    expect(codeOf(await poll(bad))).toEqual([400, 'expired_token']);
  await expect(identity.rpc.authenticate({ token: code })).rejects.toMatchObject({
    code: 'unauthorized_error',
  });
});

test('only a person with the session of a browser decides, and must confirm', async () => {
  const { user_code: code, device_code: deviceCode } = await begin();
  const token = (await identity.call('POST', '/tokens', {})).body.value as string;
  await identity.call('POST', '/service-accounts', { name: 'robot' });
  const ofRobot = await identity.call('POST', '/service-accounts/robot/tokens', {
    description: 'x',
    expiration_date: '+1h',
  });
  const callers = [
    await identity.principal('bob', 'bob_pw'),
    (await identity.rpc.authenticate({ token })).principal as Principal,
    (await identity.rpc.authenticate({ token: ofRobot.body.value })).principal as Principal,
  ];
  for (const caller of callers) {
    for (const what of ['lookup', 'deny'] as const)
      expect(codeOf(await ask(what, code, caller))).toEqual([403, 'forbidden_error']);
    expect(codeOf(await approve(code, caller))).toEqual([403, 'forbidden_error']);
  }
  const bob = await signIn('bob');
  for (const more of [{}, { is_confirmed: false }, { is_confirmed: 'true' }])
    expect(codeOf(await ask('approve', code, bob, more))).toEqual([400, 'bad_parameters_error']);
  await inSeconds(5);
  expect(codeOf(await poll(deviceCode))).toEqual([400, 'authorization_pending']);
});

test('a session that has ended meanwhile decides nothing, and a new password takes an approval', async () => {
  const [late, early] = [await begin(), await begin()];
  const carol = await signIn('carol');
  expect((await approve(early.user_code, carol)).status).toBe(200);
  await identity.call('POST', '/users/carol', { password: 'carol_pw' });
  // The gateway may still have the principal of the session.
  expect(codeOf(await approve(late.user_code, carol))).toEqual([401, 'unauthorized_error']);
  expect(codeOf(await poll(early.device_code))).toEqual([400, 'expired_token']);
  expect(await tokensOf('carol')).toEqual([]);
});

test('an approval of a user who is deactivated or deleted gives no token', async () => {
  const [one, two] = [await begin(), await begin()];
  const [frank, grace] = [await signIn('frank'), await signIn('grace')];
  await approve(one.user_code, frank);
  await approve(two.user_code, grace);
  expect((await identity.call('POST', '/users/active/frank', { action: 'deactivate' })).status).toBe(200);
  await identity.call('DELETE', '/users/grace');
  for (const { device_code: code } of [one, two])
    expect(codeOf(await poll(code))).toEqual([400, 'expired_token']);
});

test('of many requests at once one gets the token', async () => {
  const { device_code: deviceCode, user_code: userCode } = await begin();
  await approve(userCode, await signIn('dave'));
  const answers = await Promise.all(Array.from({ length: 10 }, () => poll(deviceCode)));
  const codes = answers.map(({ status, body }) => (status === 200 ? 'token' : body.error_code));
  expect(codes.filter((one) => one === 'token')).toHaveLength(1);
  for (const one of codes) expect(['token', 'slow_down', 'expired_token']).toContain(one);
  expect(await tokensOf('dave')).toHaveLength(1);
});

test('of two people at once one decides', async () => {
  const { user_code: code } = await begin();
  const [bob, admin] = [await signIn('bob'), await signIn('admin')];
  const answers = await Promise.all([approve(code, bob), approve(code, admin), ask('deny', code, bob)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
});

test('wrong codes of a user are slowed down, also when they are sent at once', async () => {
  const { user_code: code } = await begin();
  const erin = await signIn('erin');
  const bad = wrong(code);
  await inSeconds(0);
  const answers = await Promise.all(Array.from({ length: 30 }, () => ask('lookup', bad, erin)));
  // The first one that is over the free ones is still looked up; it begins the wait.
  expect(answers.filter(({ status }) => status === 404)).toHaveLength(TRIES.free + 1);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(30 - TRIES.free - 1);
  expect(refused[0]!.body).toMatchObject({ error_code: 'too_many_requests_error', scope: 'user' });
  expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(0);
  // Not even a good code is looked up; others are not concerned.
  expect((await approve(code, erin)).status).toBe(429);
  expect((await ask('lookup', code, await signIn('bob'))).status).toBe(200);
  await inSeconds(3);
  expect((await ask('lookup', code, erin)).status).toBe(200);
  // A good code in between does not give the wrong ones back.
  expect((await ask('lookup', bad, erin)).status).toBe(404);
  expect((await ask('lookup', bad, erin)).status).toBe(429);
  await inSeconds(960);
  for (let i = 0; i < TRIES.free; i++) expect((await ask('lookup', bad, erin)).status).toBe(404);
});

test('a text that is no code costs no try, and the answer does not repeat a code', async () => {
  const heidi = await signIn('heidi');
  for (let i = 0; i < 10; i++) expect((await ask('lookup', 'AEIO-AEIO', heidi)).status).toBe(400);
  const answer = await ask('lookup', 'BCDF-GHJK', heidi);
  expect(codeOf(answer)).toEqual([404, 'not_found_error']);
  expect(JSON.stringify(answer.body)).not.toMatch(/BCDF/);
});

test('one address has so many logins open, also when it begins them at once, and others go on', async () => {
  const many = Array.from({ length: 2 * MOST_OF_ADDRESS }, () => open('', { client_name: 'x' }, '192.0.2.8'));
  const statuses = (await Promise.all(many)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(MOST_OF_ADDRESS);
  expect(statuses.filter((status) => status === 429)).toHaveLength(MOST_OF_ADDRESS);
  expect((await open('', { client_name: 'x' }, '192.0.2.9')).status).toBe(200);
  await inSeconds(601);
  expect((await open('', { client_name: 'x' }, '192.0.2.8')).status).toBe(200);
});

test('all addresses together have a limit', async () => {
  await sql(
    `insert into device_logins (id, secret_hash, user_code_hash, client_name, address, interval_s, expires_at)
     select 'n' || n, '', int4send(n), 'x', 'a' || n, 5, app_now() + interval '1 minute' from generate_series(1, $1) n`,
    [MOST_OPEN],
  );
  const answer = await open('', { client_name: 'x' });
  expect([...codeOf(answer), answer.body.scope]).toEqual([429, 'too_many_requests_error', 'manager']);
});

test.each(['', 'x'.repeat(65), 'a\nb', '\u202egnp', 'Zo\u00eb', '\u0007'])(
  'a program cannot call itself %j',
  async (name) => {
    expect(codeOf(await open('', { client_name: name }))).toEqual([400, 'bad_parameters_error']);
  },
);

test('the audit log has who approved and whose token was made, and no code', async () => {
  await sql('delete from outbox');
  const { device_code: deviceCode, user_code: userCode } = await begin();
  await poll(deviceCode);
  await approve(userCode, await signIn('bob'));
  await inSeconds(6);
  await poll(deviceCode);
  const entries = await sql(
    "select envelope::text as text from outbox where envelope->>'type' = 'audit.change-made.v1' order by created_at",
  );
  const texts = entries
    .map(({ text }: { text: string }) => text)
    .filter((text) => text.includes('DeviceLogin'));
  expect(texts).toEqual([
    expect.stringMatching(/approveDeviceLogin/),
    expect.stringMatching(/redeemDeviceLogin/),
  ]);
  for (const text of texts) {
    expect(text).toContain('"bob"');
    expect(text).not.toContain(userCode);
    expect(text).not.toContain(deviceCode);
  }
});
