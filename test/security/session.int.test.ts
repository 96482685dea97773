import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { eventually } from '@baton/testkit';
import { type Called, type CallOptions, startWorld, type World } from '../gateway/world';

/**
 * S30: sessions of browsers. Attacks by a page of another site, a neighbour of the host, a thief of a code and a user without a
 * session, over HTTP between the processes and within one process.
 */

const T = 'default_tenant';
const MARKER = { 'x-baton-request': '1' };
/** Headers of a trusted proxy: the gateways of this test are plain HTTP. */
const TLS = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'manager.example' };
const OWN = 'https://manager.example';

interface Browser {
  /** The complete pair for the Cookie header. */
  cookie: string;
  setCookie: string;
  answer: Called;
}

describe.each(['services', 'one process'])('%s', (kind) => {
  let world: World;
  const call = (...args: Parameters<World['call']>) => world.call(...args);
  beforeAll(async () => {
    world = await startWorld({
      gateways: 2,
      isLocal: kind === 'one process',
      env: {
        BATON_CREDENTIAL_CACHE_MS: '60000',
        BATON_TRUSTED_PROXIES: '127.0.0.1',
        BATON_BODY_IDLE: '500ms',
      },
    });
    const admin = { as: 'admin:admin' };
    await call('POST', '/tenants/t2', admin);
    for (const [username, role] of [
      ['bob', 'user'],
      ['carol', 'user'],
      ['dave', 'viewer'],
      ['erin', 'user'],
    ] as const) {
      await call('PUT', '/users', { ...admin, body: { username, password: `${username}_pw` } });
      await call('PUT', '/tenants/users', { ...admin, body: { tenant_name: T, username, role } });
    }
  });
  afterAll(() => world.stop());

  async function signIn(body: object, headers: Record<string, string> = {}): Promise<Browser> {
    const answer = await call('POST', '/session', { body, headers });
    const setCookie = answer.headers.get('set-cookie') ?? '';
    return { answer, setCookie, cookie: setCookie.split(';', 1)[0]! };
  }
  const bob = (headers: Record<string, string> = {}) =>
    signIn({ username: 'bob', password: 'bob_pw' }, headers);
  const by = (cookie: string, headers: Record<string, string> = {}, at = 0): CallOptions => ({
    tenant: T,
    headers: { cookie, ...headers },
    at,
  });
  const write = (cookie: string, headers: Record<string, string> = {}) =>
    call('PUT', '/things/x', { ...by(cookie, headers), body: {} });
  const overOn = (cookie: string) =>
    Promise.all(
      [0, 1].map((at) =>
        eventually(async () => (await call('GET', '/who', by(cookie, {}, at))).status === 401, {
          deadlineMs: 1_000,
        }),
      ),
    );

  /** Returns the answer to these bytes, after which nothing more is sent while the connection stays open. */
  function answerTo(bytes: string): Promise<string> {
    const { hostname, port } = new URL(world.gateways[0]!);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(bytes));
      let answer = '';
      socket.on('data', (piece) => {
        answer += piece;
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });
  }

  test('a session reads and writes as its user, and no service and no answer sees its secret', async () => {
    const { answer, cookie, setCookie } = await bob();
    expect(answer.status).toBe(200);
    expect(setCookie).toMatch(
      /^baton_session=bses-[A-Za-z0-9]{10}-[A-Za-z0-9]{40}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(answer.body).toMatchObject({ username: 'bob', is_admin: false, tenants: [{ name: T }] });
    expect(answer.text).not.toContain('bses-');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const who = await call('GET', '/who', by(`a=b; ${cookie}; c=d`));
    expect(who.body.principal).toMatchObject({ username: 'bob', tenant: T, authMethod: 'session' });
    expect(who.body.headers.cookie).toBe('a=b; c=d');
    expect(who.text).not.toContain(cookie.slice(-40));
    expect(who.headers.get('x-cloudify-audit-auth-method')).toBe('session');
    expect((await write(cookie, MARKER)).status).toBe(200);
    expect((await call('GET', '/session', { headers: { cookie } })).body).toEqual(answer.body);
    // The permissions are those of each tenant.
    expect((await call('GET', '/things', { ...by(cookie), tenant: 't2' })).status).toBe(403);
    expect((await call('GET', '/user/permissions', by(cookie))).body.permissions).toContain('site_create');
  });

  test('CSRF: a change without the header, or of another origin or site, is refused before any service sees it', async () => {
    const { cookie } = await bob();
    const own = new URL(world.gateways[0]!).origin;
    const seen = world.seen.requests;
    const refused: [Record<string, string>, string][] = [
      [{}, 'x-baton-request'],
      [{ origin: own }, 'x-baton-request'],
      [{ 'x-baton-request': '0', origin: own }, 'x-baton-request'],
      [{ ...MARKER, origin: 'https://evil.example' }, 'Origin'],
      [{ ...MARKER, origin: 'null' }, 'Origin'],
      [{ ...MARKER, origin: own.replace('http:', 'https:') }, 'Origin'],
      [{ ...MARKER, origin: own, 'sec-fetch-site': 'cross-site' }, 'Sec-Fetch-Site'],
      [{ ...MARKER, 'sec-fetch-site': 'same-site' }, 'Sec-Fetch-Site'],
    ];
    for (const [headers, field] of refused) {
      const answer = await write(cookie, headers);
      expect([headers, answer.status, answer.body.error_code, answer.body.field]).toEqual([
        headers,
        403,
        'cross_site_request_error',
        field,
      ]);
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
    const reads: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example' },
    ];
    for (const headers of reads)
      expect((await call('GET', '/things', by(cookie, headers))).body.error_code).toBe(
        'cross_site_request_error',
      );
    expect(world.seen.requests).toBe(seen);
    expect((await write(cookie, { ...MARKER, origin: own, 'sec-fetch-site': 'same-origin' })).status).toBe(
      200,
    );
    expect((await call('GET', '/things', by(cookie, { 'sec-fetch-site': 'same-origin' }))).status).toBe(200);
    // A session cannot be closed without the marker header, either.
    expect((await call('DELETE', '/session', { headers: { cookie } })).status).toBe(403);
    const preflight = await call('OPTIONS', '/things/x', {
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'x-baton-request',
      },
    });
    for (const name of [...preflight.headers.keys()]) expect(name).not.toMatch(/^access-control/);
  });

  test('nobody is signed in by a page of another site', async () => {
    const elsewhere: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of elsewhere) {
      const { answer, setCookie } = await bob(headers);
      expect([answer.body.error_code, setCookie]).toEqual(['cross_site_request_error', '']);
    }
    // A form of an old browser sends neither header; but it cannot send JSON with the JSON content type.
    const text = JSON.stringify({ username: 'bob', password: 'bob_pw' });
    const form = await answerTo(
      `POST /api/v3.1/session HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: text/plain\r\n` +
        `Content-Length: ${text.length}\r\n\r\n${text}`,
    );
    expect(form).toMatch(/^HTTP\/1.1 4\d\d /);
    expect(form).not.toMatch(/set-cookie/i);
  });

  test('over TLS only the __Host- cookie counts, which no neighbour of the host can set', async () => {
    const { cookie, setCookie } = await bob(TLS);
    expect(setCookie).toMatch(
      /^__Host-baton_session=bses-[A-Za-z0-9-]+; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
    // Only the edge proxy can declare TLS.
    const forged = { 'x-baton-https': 'yes', x_baton_https: 'yes', 'x-forwarded-proto': 'http' };
    expect((await bob(forged)).setCookie).toMatch(/^baton_session=/);
    const secret = cookie.split('=')[1]!;
    const status = async (text: string, headers: Record<string, string>) =>
      (await call('GET', '/who', by(text, headers))).status;
    expect(await status(cookie, TLS)).toBe(200);
    expect(await status(`baton_session=${secret}`, TLS)).toBe(401);
    expect(await status(cookie, {})).toBe(401);
    // A planted cookie of another name is ignored; a planted one of the same name invalidates both.
    expect(await status(`baton_session=planted; ${cookie}`, TLS)).toBe(200);
    expect(await status(`${cookie}; __Host-baton_session=planted`, TLS)).toBe(401);
    expect((await write(cookie, { ...TLS, ...MARKER, origin: OWN })).status).toBe(200);
    expect((await write(cookie, { ...TLS, ...MARKER, origin: 'http://manager.example' })).status).toBe(403);
    const closed = await call('DELETE', '/session', { headers: { cookie, ...TLS, ...MARKER, origin: OWN } });
    expect([closed.status, closed.headers.get('set-cookie')]).toEqual([
      204,
      '__Host-baton_session=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0',
    ]);
    await overOn(cookie);
  });

  test('fixation: a session that the browser brings along is not taken over', async () => {
    const thief = await signIn({ username: 'dave', password: 'dave_pw' });
    for (const planted of [thief.cookie, `baton_session=bses-${'a'.repeat(10)}-${'b'.repeat(40)}`]) {
      const victim = await bob({ cookie: planted });
      expect(victim.answer.status).toBe(200);
      expect(victim.cookie).not.toBe(planted);
      expect((await call('GET', '/who', by(victim.cookie))).body.principal.username).toBe('bob');
    }
    expect((await call('GET', '/who', by(thief.cookie))).body.principal.username).toBe('dave');
  });

  test('a code that was stolen after its use opens nothing, and of twenty thieves at once one', async () => {
    const code = await world.signInCode();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => call('POST', '/session', { body: { code }, at: i % 2 })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19);
    const late = await signIn({ code });
    expect([late.answer.status, late.setCookie]).toEqual([401, '']);
    // No other header accepts the code as a credential.
    const fresh = await world.signInCode();
    const placed: Record<string, string>[] = [
      { 'authentication-token': fresh },
      { cookie: `baton_session=${fresh}` },
      { 'execution-token': fresh },
    ];
    for (const headers of placed) expect((await call('GET', '/who', { headers })).status).toBe(401);
    expect((await signIn({ code: fresh })).answer.body.username).toBe('admin');
  });

  test('closed, expired and unused sessions end on every gateway', async () => {
    const closed = (await bob()).cookie;
    for (const at of [0, 1]) expect((await call('GET', '/who', by(closed, {}, at))).status).toBe(200);
    expect((await call('DELETE', '/session', { headers: { cookie: closed, ...MARKER }, at: 1 })).status).toBe(
      204,
    );
    await overOn(closed);
    for (const change of ['expires_at = app_now()', `last_used_at = app_now() - interval '3 h'`]) {
      const { cookie } = await bob();
      await world.sql(`update sessions set ${change} where id = $1`, [cookie.split('-')[1]]);
      for (const at of [0, 1]) expect((await call('GET', '/who', by(cookie, {}, at))).status).toBe(401);
    }
  });

  test('the session of a disabled user, and of one with a new password, ends within a second', async () => {
    const admin = { as: 'admin:admin' };
    const carol = { username: 'carol', password: 'carol_pw' };
    const first = (await signIn(carol)).cookie;
    for (const at of [0, 1]) expect((await call('GET', '/who', by(first, {}, at))).status).toBe(200);
    await call('POST', '/users/active/carol', { ...admin, body: { action: 'deactivate' } });
    await overOn(first);
    expect((await signIn(carol)).answer.status).toBe(401);
    await call('POST', '/users/active/carol', { ...admin, body: { action: 'activate' } });
    expect((await call('GET', '/who', by(first))).status).toBe(401);
    const second = (await signIn(carol)).cookie;
    await call('POST', '/users/carol', { ...admin, body: { password: 'carol_pw2' } });
    await overOn(second);
    // The old password in a gateway's cache opens no session.
    expect((await signIn(carol)).answer.status).toBe(401);
  });

  test('an event stream ends with the session or token that opened it, on every gateway, and no other stream', async () => {
    const { value, id } = (await call('POST', '/tokens', { as: 'bob:bob_pw', body: {} })).body;
    const [mine, other] = [await bob(TLS), await bob()];
    const streams = await Promise.all([
      streamOf({ cookie: mine.cookie, ...TLS }, 0),
      streamOf({ cookie: mine.cookie, ...TLS }, 1),
      streamOf({ cookie: other.cookie }, 1),
      streamOf({ 'authentication-token': value }, 0),
      streamOf({ authorization: `Basic ${Buffer.from('bob:bob_pw').toString('base64')}` }, 0),
    ]);
    const open = () => streams.map(({ isOpen }) => isOpen());
    expect(open()).toEqual([true, true, true, true, true]);
    const headers = { cookie: mine.cookie, ...TLS, ...MARKER, origin: OWN };
    expect((await call('DELETE', '/session', { headers })).status).toBe(204);
    await eventually(() => expect(open()).toEqual([false, false, true, true, true]), { deadlineMs: 2_000 });
    expect((await call('DELETE', `/tokens/${id}`, { as: 'bob:bob_pw' })).status).toBe(204);
    await eventually(() => expect(open()).toEqual([false, false, true, false, true]), { deadlineMs: 2_000 });
    // A removed permission ends the stream, too. It is given back for the following tests.
    await call('DELETE', '/permissions/user/site_list', { as: 'admin:admin' });
    await eventually(() => expect(open()[2]).toBe(false), { deadlineMs: 2_000 });
    await call('PUT', '/permissions/user/site_list', { as: 'admin:admin' });
    for (const { leave } of streams) leave();
  });

  test('an event stream ends when the time of its session is over, and keeps no session from being unused', async () => {
    const [late, idle, other] = [await bob(), await bob(), await bob()];
    const set = async ({ cookie }: Browser, column: string, to: string) =>
      await world.sql(`update sessions set ${column} = app_now() ${to} where id = $1`, [
        cookie.split('-')[1]!,
      ]);
    await set(late, 'expires_at', `+ interval '2 seconds'`);
    // Two hours without use end a session.
    await set(idle, 'last_used_at', `- interval '2 hours' + interval '2 seconds'`);
    const streams = await Promise.all([late, idle, other].map(({ cookie }) => streamOf({ cookie }, 0)));
    const open = () => streams.map(({ isOpen }) => isOpen());
    expect(open()).toEqual([true, true, true]);
    await eventually(() => expect(open()).toEqual([false, false, true]), { deadlineMs: 8_000 });
    for (const { leave } of streams) leave();
    expect((await call('GET', '/watch', by(idle.cookie))).status).toBe(401);
  });

  async function streamOf(headers: Record<string, string>, at: number) {
    const leaving = new AbortController();
    const answer = await fetch(`${world.gateways[at]}/api/v3.1/watch`, {
      headers: { tenant: T, ...headers },
      signal: leaving.signal,
    });
    expect(answer.status).toBe(200);
    let isOpen = true;
    void (async () => {
      for await (const _piece of answer.body as unknown as AsyncIterable<Uint8Array>);
    })()
      .catch(() => undefined)
      .finally(() => {
        isOpen = false;
      });
    return { isOpen: () => isOpen, leave: () => leaving.abort() };
  }

  test('another credential beside the cookie counts alone', async () => {
    const { cookie } = await bob();
    const who = async (o: CallOptions) => {
      const { status, body } = await call('GET', '/who', { ...by(cookie), ...o });
      return status === 200 ? body.principal.username : status;
    };
    const { value } = (await call('POST', '/tokens', { as: 'dave:dave_pw', body: {} })).body;
    expect(await who({ as: 'dave:dave_pw' })).toBe('dave');
    expect(await who({ as: 'dave:wrong' })).toBe(401);
    expect(await who({ headers: { cookie, 'authentication-token': value } })).toBe('dave');
    expect(await who({ headers: { cookie, 'authentication-token': 'rubbish' } })).toBe(401);
    expect(await who({ headers: { cookie, authorization: 'Bearer x' } })).toBe(401);
    expect(await who({ headers: { cookie, 'execution-token': 'x' } })).toBe(401);
    // With a credential in the header the console's marker header is not needed: a victim's browser does not send credentials by
    // itself.
    expect((await call('PUT', '/things/x', { ...by(cookie), as: 'erin:erin_pw', body: {} })).status).toBe(
      200,
    );
    // A caller without a cookie has no session.
    for (const method of ['GET', 'DELETE'])
      expect((await call(method, '/session', { as: 'dave:dave_pw' })).status).toBe(401);
    expect((await call('GET', '/session')).status).toBe(401);
  });

  test('secrets of one kind are no credential of another, and v2.1 knows no cookies', async () => {
    const { cookie } = await bob();
    const secret = cookie.split('=')[1]!;
    const { value } = (await call('POST', '/tokens', { as: 'bob:bob_pw', body: {} })).body;
    expect((await call('GET', '/who', { headers: { 'authentication-token': secret } })).status).toBe(401);
    expect((await call('GET', '/who', by(`baton_session=${value}`))).status).toBe(401);
    expect((await call('GET', '/things', { ...by(cookie), api: '/api/v2.1' })).status).toBe(401);
    expect((await call('POST', '/session', { body: {}, api: '/api/v2.1' })).status).toBe(404);
    expect((await call('GET', '/tokens', { as: 'bob:bob_pw' })).text).not.toContain(secret.slice(5, 15));
  });

  test('a body that is none, is too long or does not come', async () => {
    const post = async (body: unknown) => {
      const answer = await call('POST', '/session', { body });
      return [answer.status, answer.body.error_code];
    };
    for (const body of [{}, [], 'x', { username: 'bob' }, { username: 'bob', password: 'bob_pw', code: 'x' }])
      expect(await post(body)).toEqual([400, 'bad_parameters_error']);
    expect((await call('POST', '/session')).status).toBe(400);
    expect(await post({ username: 'bob', password: 'x'.repeat(9_000) })).toEqual([
      413,
      'payload_too_large_error',
    ]);
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
    const head = 'POST /api/v3.1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const long = await world.send(
      `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(4)}0\r\n\r\n`,
    );
    expect(long).toMatch(/^HTTP\/1.1 413 /);
    const text = JSON.stringify({ username: 'bob', password: 'bob_pw' });
    const inPieces = await answerTo(
      `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n${text.slice(0, 5)}\r\n` +
        `${(text.length - 5).toString(16)}\r\n${text.slice(5)}\r\n0\r\n\r\n`,
    );
    expect(inPieces).toMatch(/^HTTP\/1.1 200 [\s\S]*baton_session=bses-/i);
    // Many requests with a missing body block neither others of their address nor requests whose body arrives with the head.
    const slow = `${head}Content-Length: 40\r\n\r\n{"username":`;
    const answers = Promise.all(
      Array.from({ length: 20 }, () => answerTo(slow.replace('Host: x', 'Host: x\r\nConnection: close'))),
    );
    expect((await bob()).answer.status).toBe(200);
    const statuses = (await answers).map((answer) => answer.split(' ', 2)[1]);
    expect([...new Set(statuses)].sort()).toEqual(['408', '429']);
    expect(statuses.filter((status) => status === '429').length).toBeGreaterThanOrEqual(4);
    // The slow requests have given up their places.
    await eventually(async () => /^HTTP\/1.1 408 /.test(await answerTo(slow)));
  });

  /** Signs in from another source address: all of 127.0.0.0/8 is this machine. */
  function signInFrom(localAddress: string, body: object): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const url = new URL(`${world.gateways[0]!}/api/v3.1/session`);
      const sent = httpRequest(url, { method: 'POST', localAddress, headers, agent: false }, (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode!));
      });
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
  }

  test('a flood of guesses is slowed as one of Basic logins is, and counts with it', async () => {
    const askedAt = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        call('POST', '/session', { body: { username: 'erin', password: `guess${i}` }, at: 0 }),
      ),
    );
    // As in login-flood.int.test.ts: ten failures are free; delays of 1, 2, 4 s may be over meanwhile.
    const delaysOver = Math.floor(Math.log2(1 + (performance.now() - askedAt) / 1000));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect(count(401)).toBeLessThanOrEqual(10 + 1 + delaysOver);
    expect(count(401) + count(429)).toBe(60);
    const refused = answers.find((answer) => answer.status === 429)!;
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.body.error_code).toBe('too_many_requests_error');
    // Many of them were refused because of too many parallel ones; sequential requests use up the remaining free failures.
    const guess = async (i: number) =>
      (await call('POST', '/session', { body: { username: 'erin', password: `late${i}` } })).body;
    let last = await guess(0);
    for (let i = 1; i < 15 && last.error_code === 'unauthorized_error'; i++) last = await guess(i);
    expect(last).toMatchObject({ error_code: 'too_many_requests_error', what: 'failed logins in a row' });
    // Neither way bypasses the other, and the owner can sign in from another address.
    expect((await call('GET', '/who', { as: 'erin:guess', tenant: T })).status).toBe(429);
    expect(await signInFrom('127.0.0.78', { username: 'erin', password: 'erin_pw' })).toBe(200);
    expect((await bob()).answer.status).toBe(200);
  });

  test('a flood of sessions of one user leaves the newest hundred', async () => {
    for (let round = 0; round < 6; round++) await Promise.all(Array.from({ length: 20 }, () => bob()));
    const [{ count }] = (await world.sql(
      `select count(*)::text as count from sessions s join users u on u.id = s.user_id where username = 'bob'`,
    )) as [{ count: string }];
    expect(Number(count)).toBeLessThanOrEqual(100);
    expect((await bob()).answer.status).toBe(200);
  });
});
