import type { Principal } from '@baton/contracts';
import { isAppError } from '@baton/kernel';
import { openSession } from './commands/sessions';
import { createSignInCode } from './service';
import { startTestIdentity, type TestIdentity } from './testing-identity';

const PASSWORD = 'bob_pw';
let identity: TestIdentity;
beforeAll(async () => {
  identity = await startTestIdentity({ BATON_SESSION_LIFE: '12h', BATON_SESSION_IDLE: '2h' });
  for (const username of ['bob', 'carol', 'dave'])
    await identity.call('PUT', '/users', { username, password: `${username}_pw` });
  await identity.call('PUT', '/tenants/users', {
    tenant_name: 'default_tenant',
    username: 'bob',
    role: 'viewer',
  });
});
afterAll(() => identity.stop());

const sql = async (text: string, values: unknown[] = []) => (await identity.db.pool.query(text, values)).rows;
const tick = async (name: string) => identity.parts.loops.find((loop) => loop.name === name)!.tickOnce();
const secretIn = (cookie: string): string => /session=([^;]+)/.exec(cookie)![1]!;

async function signIn(username = 'bob', password = `${username}_pw`): Promise<string> {
  const as = await identity.principal(username, password);
  const answer = await identity.call('POST', '/session', { username, password }, as);
  expect(answer.status).toBe(200);
  return secretIn(answer.headers.get('set-cookie')!);
}
const whoIs = async (session: string, tenant = ''): Promise<Principal> =>
  (await identity.rpc.authenticate({ session, tenant })).principal as Principal;
const isOver = async (session: string): Promise<boolean> =>
  whoIs(session).then(
    () => false,
    (error) => isAppError(error, 'unauthorized_error'),
  );
const idOf = (session: string): string => session.split('-')[1]!;

test('a session is its user, in every tenant with the rights there, and only its hash is stored', async () => {
  const session = await signIn();
  expect(session).toMatch(/^bses-[A-Za-z0-9]{10}-[A-Za-z0-9]{40}$/);
  expect(await whoIs(session, 'default_tenant')).toMatchObject({
    username: 'bob',
    roles: ['default', 'viewer'],
    authMethod: 'session',
    sessionId: idOf(session),
  });
  const rows = await sql('select s::text as row from sessions s');
  expect(JSON.stringify(rows)).not.toContain(session.slice(-40));
  expect((await identity.call('GET', '/session', undefined, await whoIs(session))).body).toEqual({
    username: 'bob',
    role: 'default',
    is_admin: false,
    tenants: [{ name: 'default_tenant', roles: ['default', 'viewer'] }],
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect((await identity.call('GET', '/tokens')).body.items).toEqual([]);
});

test('a session says what its user may do in a tenant that is named, as /user/permissions does', async () => {
  const [bob, admin] = [await signIn(), await signIn('admin', 'admin')];
  const inSession = async (session: string, tenant: string) =>
    (await identity.call('GET', `/session?tenant_name=${tenant}`, undefined, await whoIs(session))).body
      .permissions;
  const alone = async (session: string) => {
    const as = await whoIs(session, 'default_tenant');
    return (await identity.call('GET', '/user/permissions', undefined, as)).body.permissions;
  };
  const held = await inSession(bob, 'default_tenant');
  expect(held).toContain('deployment_list');
  expect(held).toEqual(await alone(bob));
  expect(await inSession(admin, 'default_tenant')).toEqual(await alone(admin));
  // No permissions of a role in another tenant.
  expect(await inSession(bob, 'nosuch')).not.toContain('deployment_list');
});

test('who sees every tenant is told their names; who has no session is told nothing', async () => {
  const session = await signIn('admin', 'admin');
  const { body } = await identity.call('GET', '/session', undefined, await whoIs(session));
  expect(body).toMatchObject({ role: 'sys_admin', is_admin: true });
  expect(body.tenants.map(({ name }: { name: string }) => name)).toEqual(['default_tenant']);
  for (const method of ['GET', 'DELETE']) {
    const answer = await identity.call(method, '/session');
    expect([answer.status, answer.body.error_code]).toEqual([401, 'unauthorized_error']);
  }
});

test('a secret of one kind is none of another, and a wrong one is refused', async () => {
  const session = await signIn();
  const token = (await identity.call('POST', '/tokens', {})).body.value as string;
  expect(await isOver(token)).toBe(true);
  await expect(identity.rpc.authenticate({ token: session })).rejects.toMatchObject({
    code: 'unauthorized_error',
  });
  expect(await isOver(token.replace('ctok', 'bses'))).toBe(true);
  expect(await isOver(`${session.slice(0, -1)}${session.endsWith('x') ? 'y' : 'x'}`)).toBe(true);
  await expect(identity.rpc.authenticate({ session, token })).rejects.toMatchObject({
    code: 'bad_parameters_error',
  });
});

test('the body is one credential, and the password is that of the user whom the gateway has let through', async () => {
  const bob = await identity.principal('bob', PASSWORD);
  const ask = async (body: object, as: Principal) =>
    (await identity.call('POST', '/session', body, as)).status;
  for (const body of [
    {},
    { username: 'bob' },
    { password: PASSWORD },
    { username: 'bob', password: PASSWORD, code: 'x' },
    { username: 'bob', code: 'x' },
    { username: null, password: PASSWORD },
  ])
    expect(await ask(body, bob)).toBe(400);
  expect(await ask({ username: 'carol', password: 'carol_pw' }, bob)).toBe(401);
  expect(await ask({ username: 'BOB', password: PASSWORD }, bob)).toBe(200);
  // The gateway let the call through by a cached principal, while the password has changed.
  expect(await ask({ username: 'bob', password: 'wrong_pw' }, bob)).toBe(401);
});

test('a session ends at its latest end, when it was not used, and when it is closed', async () => {
  const [late, idle, used, closed] = [await signIn(), await signIn(), await signIn(), await signIn()];
  await sql('update sessions set expires_at = app_now() where id = $1', [idOf(late)]);
  for (const one of [idle, used])
    await sql(`update sessions set last_used_at = app_now() - interval '119 minutes' where id = $1`, [
      idOf(one),
    ]);
  // The check of a session counts as a use and keeps it alive.
  expect(await isOver(used)).toBe(false);
  await tick('write-activity');
  for (const one of [idle, used])
    await sql(`update sessions set last_used_at = last_used_at - interval '1 minute' where id = $1`, [
      idOf(one),
    ]);
  expect(await Promise.all([late, idle, used].map(isOver))).toEqual([true, true, false]);
  const before = await whoIs(closed);
  expect((await identity.call('DELETE', '/session', undefined, before)).status).toBe(204);
  expect(await isOver(closed)).toBe(true);
  const again = await identity.call('DELETE', '/session', undefined, before);
  expect(again.status).toBe(401);
  const messages = await sql(`select 1 from outbox where envelope->>'type' = 'identity.credentials-changed.v1'
    and envelope->>'key' = 'bob'`);
  expect(messages.length).toBeGreaterThan(0);
});

test('the cookie says what it must over plain HTTP, and closing takes it away', async () => {
  const bob = await identity.principal('bob', PASSWORD);
  const opened = await identity.call('POST', '/session', { username: 'bob', password: PASSWORD }, bob);
  expect(opened.headers.get('set-cookie')).toMatch(
    /^baton_session=bses-[A-Za-z0-9-]+; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  expect(JSON.stringify(opened.body)).not.toContain('bses-');
  const session = secretIn(opened.headers.get('set-cookie')!);
  const closed = await identity.call('DELETE', '/session', undefined, await whoIs(session));
  expect(closed.headers.get('set-cookie')).toBe(
    'baton_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
  );
});

test('a new password, a deactivation and a removal end every session of the user, and nobody else', async () => {
  const others = await signIn('bob');
  const first = [await signIn('carol'), await signIn('carol')];
  await identity.call('POST', '/users/carol', { password: 'carol_pw2' });
  expect(await Promise.all(first.map(isOver))).toEqual([true, true]);
  const second = await signIn('carol', 'carol_pw2');
  await identity.call('POST', '/users/active/carol', { action: 'deactivate' });
  expect(await isOver(second)).toBe(true);
  await identity.call('POST', '/users/active/carol', { action: 'activate' });
  // The ended session does not become valid again.
  expect(await isOver(second)).toBe(true);
  const third = await signIn('carol', 'carol_pw2');
  await identity.call('DELETE', '/users/carol');
  expect(await isOver(third)).toBe(true);
  expect(await isOver(others)).toBe(false);
});

test('a locked account has no use of its session', async () => {
  const strict = await startTestIdentity({ BATON_ACCOUNT_LOCK_PERIOD: '10' });
  try {
    const as = await strict.principal('admin', 'admin');
    const body = { username: 'admin', password: 'admin' };
    const session = secretIn((await strict.call('POST', '/session', body, as)).headers.get('set-cookie')!);
    for (let i = 0; i < 5; i++) await strict.principal('admin', 'bad').catch(() => undefined);
    await expect(strict.rpc.authenticate({ session })).rejects.toMatchObject({ code: 'unauthorized_error' });
  } finally {
    await strict.stop();
  }
});

test('a password that changes while a session is made leaves no session of the old one', async () => {
  const deps = { db: identity.db, sessionLifeMs: 60_000 };
  const [{ id, password_hash: passwordHash }] = await sql(
    `select id, password_hash from users where username = 'dave'`,
  );
  const client = await identity.db.pool.connect();
  try {
    await client.query('begin');
    await client.query('select from users where id = $1 for update', [id]);
    await client.query(`update users set password_hash = 'another' where id = $1`, [id]);
    const opening = openSession(deps, id, { passwordHash });
    const ended = expect(opening).rejects.toMatchObject({ code: 'unauthorized_error' });
    await client.query('delete from sessions where user_id = $1', [id]);
    await client.query('commit');
    await ended;
  } finally {
    client.release();
  }
  expect(await sql('select 1 from sessions where user_id = $1', [id])).toEqual([]);
  await sql('update users set password_hash = $2 where id = $1', [id, passwordHash]);
});

test('a user has at most 100 sessions: the oldest makes room', async () => {
  await sql(`delete from sessions`);
  const oldest = await signIn();
  const [{ id }] = await sql(`select id from users where username = 'bob'`);
  await sql(
    `insert into sessions (id, user_id, secret_hash, expires_at)
      select 'many' || i, $1, '', app_now() + interval '1 h' from generate_series(1, 99) i`,
    [id],
  );
  expect(await isOver(oldest)).toBe(false);
  const newest = await signIn();
  expect([await isOver(oldest), await isOver(newest)]).toEqual([true, false]);
  expect(await sql('select 1 from sessions where user_id = $1', [id])).toHaveLength(100);
});

test('two sweeps at once remove what is over, and only that', async () => {
  await sql('delete from sessions');
  const live = await signIn();
  const [{ id }] = await sql(`select id from users where username = 'bob'`);
  for (const [kind, end, use] of [
    ['late', '0 s', '0 s'],
    ['idle', '1 h', '2 h'],
  ])
    await sql(
      `insert into sessions (id, user_id, secret_hash, expires_at, last_used_at)
        select $2 || i, $1, '', app_now() + $3::interval, app_now() - $4::interval from generate_series(1, 700) i`,
      [id, kind, end, use],
    );
  await sql(
    `insert into sign_in_codes (id, user_id, secret_hash, expires_at) values ('old', $1, '', app_now()), ('new', $1, '', app_now() + interval '1 min')`,
    [id],
  );
  for (let more = true; more; ) {
    const both = await Promise.all([tick('purge-sessions'), tick('purge-sessions')]);
    more = both.some((one) => (one as { again: boolean }).again);
  }
  expect((await sql('select id from sessions')).map((row) => row.id)).toEqual([idOf(live)]);
  expect(await sql('select id from sign_in_codes')).toEqual([{ id: 'new' }]);
});

const byCode = (code: string) =>
  // Like a call from a gateway without a caller: the body holds the credential.
  identity.call('POST', '/session', { code }, { ...nobody });
const nobody: Principal = {
  userId: 0,
  username: '',
  tenant: '',
  role: '',
  roles: [],
  permissions: [],
  tenants: [],
  authMethod: 'external',
  executionId: '',
  isBootstrapAdmin: false,
};

test('a code signs the administrator in once, of ten requests at once one', async () => {
  const code = (await createSignInCode(identity.db))!;
  expect(String(code)).toBe('[redacted]');
  const rows = await sql('select c::text as row from sign_in_codes c');
  expect(JSON.stringify(rows)).not.toContain(code.expose().slice(-40));
  const answers = await Promise.all(Array.from({ length: 10 }, () => byCode(code.expose())));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(401)]);
  const good = answers.find(({ status }) => status === 200)!;
  expect(good.body).toMatchObject({ username: 'admin', is_admin: true });
  expect(await whoIs(secretIn(good.headers.get('set-cookie')!))).toMatchObject({ isBootstrapAdmin: true });
  const [entry] = await sql(
    `select envelope->'payload' as payload from outbox where envelope->>'type' = 'audit.change-made.v1'
      and envelope->'payload'->>'route' = 'openSession' order by id desc limit 1`,
  );
  expect(entry.payload).toMatchObject({ username: 'admin', operation: 'create', refTable: 'session' });
});

test('an old code, an earlier one, one of a changed password and one of nobody open nothing', async () => {
  const refused = async (code: string) => {
    const { status, body } = await byCode(code);
    return `${status} ${body.message}`;
  };
  const earlier = (await createSignInCode(identity.db))!.expose();
  const old = (await createSignInCode(identity.db))!.expose();
  await sql('update sign_in_codes set expires_at = app_now()');
  const reasons = [
    await refused(earlier),
    await refused(old),
    await refused(`bcode-${'a'.repeat(10)}-${'b'.repeat(40)}`),
    await refused('rubbish'),
    await refused(''),
    await refused(await signIn()),
  ];
  const changed = (await createSignInCode(identity.db))!.expose();
  await identity.call('POST', '/users/admin', { password: 'admin' });
  reasons.push(await refused(changed));
  // One text: it does not show whether a code was used or never existed.
  expect(new Set(reasons).size).toBe(1);
  expect(reasons[0]).toMatch(/^401 /);
});

test('there is no code for an administrator who is inactive, and none that still lives is good', async () => {
  const live = (await createSignInCode(identity.db))!.expose();
  await sql('update users set active = false where id = 0');
  expect(await createSignInCode(identity.db)).toBeNull();
  expect((await byCode(live)).status).toBe(401);
  await sql('update users set active = true where id = 0');
});
