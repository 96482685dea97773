// `baton login`, `baton whoami` and `baton logout` against a manager: by a password, and by a person with a browser.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { eventually } from '@baton/testkit';
import { runCli } from '../../apps/cli/src/run';
import { type QuietIo, quietIo } from '../../apps/cli/src/testing-io';
import { type Fleet, startFleet } from '../harness/fleet';

let fleet: Fleet;
let folder: string;
beforeAll(async () => {
  fleet = await startFleet({ mode: 'standalone' });
  folder = mkdtempSync(join(tmpdir(), 'baton-cli-login-'));
}, 120_000);
afterAll(async () => {
  await fleet?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

let profiles: string;
beforeEach(() => {
  profiles = join(mkdtempSync(join(folder, 'home-')), 'profiles.json');
});

interface Running extends QuietIo {
  code: Promise<number>;
}

function start(line: string[], input?: PassThrough, env: Record<string, string> = {}): Running {
  const terminal = input && Object.assign(input, { isTTY: true, setRawMode: () => undefined });
  const quiet = quietIo({ BATON_PROFILES: profiles, ...env }, '', terminal ? { input: terminal } : {});
  return { ...quiet, code: runCli(['node', 'baton', ...line], quiet.io) };
}

async function run(...line: string[]): Promise<{ code: number; out: string; err: string }> {
  const running = start(line);
  return { code: await running.code, out: running.out(), err: running.err() };
}
// biome-ignore lint/suspicious/noExplicitAny: documents of many kinds; the tests say what they expect.
const json = async (...line: string[]): Promise<any> => JSON.parse((await run(...line, '--json')).out);
const stored = () => JSON.parse(readFileSync(profiles, 'utf8'));
const host = () => new URL(fleet.baseUrl).host;
const password = (): string[] => ['-U', 'admin', '-P', fleet.adminPassword];

/** A person with a browser: signs in, and sends what the page of the console sends. */
async function decide(what: 'approve' | 'deny', code: string): Promise<void> {
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${fleet.baseUrl}/api/v3.1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-baton-request': '1', ...headers },
      body: JSON.stringify(body),
    });
  const signedIn = await post('/session', { username: 'admin', password: fleet.adminPassword });
  const cookie = signedIn.headers.get('set-cookie')!.split(';', 1)[0]!;
  const answer = await post(`/login/device/${what}`, { user_code: code, is_confirmed: true }, { cookie });
  expect(answer.status).toBe(200);
}
/** Returns the code that the program shows. */
async function codeOf(running: QuietIo): Promise<string> {
  const shape = /shows the code ([A-Z]{4}-[A-Z]{4})\./;
  await eventually(() => shape.test(running.err()), { deadlineMs: 20_000 });
  return shape.exec(running.err())![1]!;
}

test('a login by a password keeps a token, with its end, that whoami shows and logout revokes', async () => {
  const login = await run('login', fleet.baseUrl, ...password());
  expect([login.code, login.out]).toEqual([
    0,
    expect.stringMatching(
      /^Logged in to .* as admin, by profile .*\. The token ends \d{4}-\d\d-\d\d \d\d:\d\d UTC\.\n$/,
    ),
  ]);
  expect(statSync(profiles).mode & 0o777).toBe(0o600);
  expect(readFileSync(profiles, 'utf8')).not.toContain(fleet.adminPassword);
  const { current, profiles: kept } = stored();
  expect([current, kept[host()]]).toEqual([
    host(),
    {
      url: fleet.baseUrl,
      username: 'admin',
      token: expect.stringMatching(/^ctok-/),
      token_expires: expect.stringMatching(/Z$/),
      tenant: 'default_tenant',
    },
  ]);
  const { token } = kept[host()];
  const who = await json('whoami');
  expect(who).toMatchObject({
    username: 'admin',
    kind: 'local',
    manager: fleet.baseUrl,
    profile: host(),
    tenant: 'default_tenant',
    system_roles: ['sys_admin'],
    token_expires: kept[host()].token_expires,
  });
  expect((await run('whoami')).out).toMatch(/^username +admin$/m);
  const logout = await run('logout');
  expect([logout.code, logout.out]).toEqual([0, expect.stringContaining('Its token is revoked.')]);
  expect(stored().profiles[host()]).toEqual({
    url: fleet.baseUrl,
    username: 'admin',
    tenant: 'default_tenant',
  });
  const after = await run('whoami', '--token', token);
  expect([after.code, after.err]).toEqual([
    4,
    expect.stringContaining(`log in: baton login ${fleet.baseUrl}`),
  ]);
  expect([(await run('logout')).code, (await run('logout', '--profile', 'nosuch')).code]).toEqual([3, 3]);
}, 60_000);

test('a terminal is asked for manager, user and password, and shows nothing of the password', async () => {
  const input = new PassThrough();
  const running = start(['login', '--name', 'lab'], input);
  const asked = (text: string) => eventually(() => running.err().includes(text), { deadlineMs: 20_000 });
  await asked('Manager [http://127.0.0.1:8080]: ');
  input.write(`${fleet.baseUrl}\n`);
  await asked('User name (empty: log in with a browser): ');
  input.write('admin\n');
  await asked(`Password of admin at ${fleet.baseUrl}: `);
  input.write(`${fleet.adminPassword}\r`);
  expect(await running.code).toBe(0);
  expect(`${running.out()}${running.err()}`).not.toContain(fleet.adminPassword);
  expect(stored().current).toBe('lab');
}, 60_000);

test('without a terminal a login says what it needs; a wrong password is refused, and keeps nothing', async () => {
  const needy = await run('login', fleet.baseUrl);
  expect([needy.code, needy.err]).toEqual([2, expect.stringContaining('--device')]);
  const refused = await run('login', fleet.baseUrl, '-U', 'admin', '-P', 'wrong password');
  expect([refused.code, refused.err]).toEqual([4, expect.stringContaining('unauthorized_error')]);
  expect(() => stored()).toThrow('ENOENT');
  const address = await run('login', 'https://admin:secret@lab');
  expect([address.code, address.err]).toEqual([2, expect.not.stringContaining('secret')]);
}, 60_000);

test('a person with a browser approves a login, and the program gets a token of that person', async () => {
  const running = start(['login', fleet.baseUrl, '--device', '--json']);
  const code = await codeOf(running);
  expect(running.err()).toContain(`${fleet.baseUrl}/device#user_code=${code}`);
  await decide('approve', code);
  expect(await running.code).toBe(0);
  // Programs get one document, and no token.
  const document = JSON.parse(running.out());
  expect(document).toMatchObject({ name: host(), username: 'admin', url: fleet.baseUrl });
  const { token } = stored().profiles[host()];
  expect(`${running.out()}${running.err()}`).not.toContain(token);
  expect((await run('sites', 'list')).code).toBe(0);
  const listed = await json('tokens', 'list');
  expect(listed.map(({ description }: { description: string }) => description)).toContainEqual(
    expect.stringMatching(/^device login: baton on /),
  );
  expect((await json('logout')).is_revoked).toBe(true);
}, 60_000);

test('a denied login keeps nothing, and Ctrl-C says what became of the code', async () => {
  const denied = start(['login', fleet.baseUrl, '--device']);
  await decide('deny', await codeOf(denied));
  expect([await denied.code, denied.err()]).toEqual([4, expect.stringContaining('the login was denied')]);
  const stopped = start(['login', fleet.baseUrl, '--device']);
  const code = await codeOf(stopped);
  stopped.interrupt();
  expect([await stopped.code, stopped.err()]).toEqual([
    130,
    expect.stringContaining(`The code ${code} is of no use any more`),
  ]);
  expect(() => stored()).toThrow('ENOENT');
}, 60_000);

test('logging out works while the manager is away, and says how long the token lives', async () => {
  await run('login', fleet.baseUrl, ...password(), '--name', 'lab');
  const all = stored();
  const end = all.profiles.lab.token_expires.slice(0, 16).replace('T', ' ');
  const lab = { ...all.profiles.lab, url: 'http://127.0.0.1:9' };
  writeFileSync(profiles, JSON.stringify({ current: 'lab', profiles: { lab } }));
  const logout = await run('logout');
  expect([logout.code, logout.out]).toEqual([
    0,
    expect.stringContaining(`not revoked: the manager is not reached. The token ends ${end} UTC.`),
  ]);
  expect(stored().profiles.lab.token).toBeUndefined();
}, 60_000);

test('a directory is stored with the password of a file, which no command shows', async () => {
  expect((await run('login', fleet.baseUrl, ...password())).code).toBe(0);
  const file = join(folder, 'reader.txt');
  writeFileSync(file, 'the password of the reader\n');
  const texts = ['type=ldap', 'urls=[ldaps://ldap.example]', 'bind_dn=cn=reader', 'user_base=ou=people'];
  const settings = texts.flatMap((text) => ['-s', text]);
  const put = await run('identity-providers', 'put', 'corp', ...settings, '--bind-password-file', file);
  expect([put.err, put.code]).toEqual(['', 0]);
  const shown = await json('identity-providers', 'get', 'corp');
  expect(shown).toMatchObject({ type: 'ldap', has_bind_password: true });
  expect(JSON.stringify(shown)).not.toContain('the password of the reader');
  expect((await run('identity-providers', 'delete', 'corp')).code).toBe(0);
});
