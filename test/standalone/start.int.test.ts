/** The real program (dist/): ownership of a home folder, messages about common first mistakes, and no processes left running. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@baton/testkit';
import { letTimePass } from '@baton/testkit/let-time-pass';
import { freePorts, root } from '../harness/processes';

jest.setTimeout(240_000);
const MAIN = join(root, 'dist/apps/standalone/main.js');
const START = { deadlineMs: 90_000 };

interface Program {
  child: ChildProcess;
  said(): string;
  /** Exit code, or the signal. */
  ended: Promise<number | string>;
}

let dir: string;
let home: string;
let port: number;
const started: Program[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'baton-start-'));
  home = join(dir, 'home');
  [port] = (await freePorts(1)) as [number];
});
afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  await eventually(() => expect(postgresesIn(dir)).toEqual([]), { deadlineMs: 20_000 });
  rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

function run(env: Record<string, string> = {}): Program {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^BATON_|^(DATABASE|AMQP|REDIS)_URL$/.test(name),
  );
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...Object.fromEntries(kept),
      BATON_HOME: home,
      BATON_PORT: String(port),
      BATON_WORKERS: '0',
      BATON_ADMIN_PASSWORD: 'a long enough password',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (text) => (said += text));
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal!)),
  );
  const program = { child, said: () => said, ended };
  started.push(program);
  return program;
}

/** Returns PostgreSQL processes whose data lie below the folder. */
function postgresesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const isPostgres = readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres';
        return isPostgres && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
      } catch {
        return false;
      }
    });
}

/** Requests the readiness. The public port returns only the status; the port for operators returns the reason. */
const readyz = async (at = port): Promise<{ status: number; text: string }> => {
  const answer = await fetch(`http://127.0.0.1:${at}/readyz`);
  return { status: answer.status, text: await answer.text() };
};
const untilReady = () => eventually(async () => expect((await readyz()).status).toBe(200), START);
const serverPid = (): number =>
  Number(readFileSync(join(home, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);

test('a second start says who runs there and touches nothing; neither does one refused for its port', async () => {
  const first = run();
  await untilReady();
  const server = serverPid();
  const second = run({ BATON_PORT: '0' });
  expect(await second.ended).toBe(1);
  expect(second.said()).toMatch(
    new RegExp(`already runs on ${home}: process ${first.child.pid} since 20\\S+Z, http://127.0.0.1:${port}`),
  );
  const other = join(dir, 'other');
  const third = run({ BATON_HOME: other });
  expect(await third.ended).toBe(1);
  expect(third.said()).toBe(
    `Port ${port} of 127.0.0.1 is in use by another program: stop it, or set BATON_PORT to a free one.\n`,
  );
  expect(existsSync(other)).toBe(false);
  expect(serverPid()).toBe(server);
  expect((await readyz()).status).toBe(200);
});

test('the link of the greeting signs admin in once, and its code is nowhere in the home', async () => {
  const program = run();
  await untilReady();
  const link = /^ {2}console {2}(\S+)\/ui\/#code=(bcode-[A-Za-z0-9]{10}-[A-Za-z0-9]{40})$/m;
  await eventually(() => expect(program.said()).toMatch(link), START);
  const [, origin, code] = link.exec(program.said())!;
  const signIn = () =>
    fetch(`${origin}/api/v3.1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-baton-request': '1', origin: origin! },
      body: JSON.stringify({ code }),
    });
  const first = await signIn();
  expect(await first.json()).toMatchObject({ username: 'admin', is_admin: true });
  const cookie = first.headers.get('set-cookie')!.split(';', 1)[0]!;
  expect((await fetch(`${origin}/api/v3.1/session`, { headers: { cookie } })).status).toBe(200);
  expect((await signIn()).status).toBe(401);
  // The code is shown once, on the terminal: it is in no log line, and in the database only as a hash.
  expect(program.said().split(code!)).toHaveLength(2);
  const found = spawnSync('grep', ['-rlaF', code!.slice(-40), home]);
  expect([found.status, found.stdout.toString()]).toEqual([1, '']);
});

test('of several starts at the same moment one has the home', async () => {
  const all = [run({ BATON_PORT: '0' }), run({ BATON_PORT: '0' }), run({ BATON_PORT: '0' })];
  await eventually(() => expect(all.filter((one) => one.said().includes('is ready'))).toHaveLength(1), START);
  await eventually(
    () => expect(all.filter((one) => one.said().includes('already runs on'))).toHaveLength(2),
    START,
  );
});

test('a server that is killed is started again, meanwhile /readyz says so; a killed manager leaves none', async () => {
  const [ops] = (await freePorts(1)) as [number];
  const manager = run({ BATON_OPS_PORT: String(ops) });
  await untilReady();
  const server = serverPid();
  // PostgreSQL cannot start without this file, so the outage lasts until the test has seen it.
  const needed = join(home, 'postgres/PG_VERSION');
  renameSync(needed, `${needed}.aside`);
  process.kill(server, 'SIGKILL');
  await eventually(async () => {
    const { status, text } = await readyz(ops);
    expect(status).toBe(503);
    expect((await readyz()).status).toBe(503);
    expect(text).toMatch(/PostgreSQL|database/);
  }, START);
  renameSync(`${needed}.aside`, needed);
  await untilReady();
  expect(serverPid()).not.toBe(server);
  const write = await fetch(`http://127.0.0.1:${port}/api/v3.1/secrets/after`, {
    method: 'PUT',
    headers: {
      authorization: `Basic ${Buffer.from('admin:a long enough password').toString('base64')}`,
      tenant: 'default_tenant',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ value: 'it serves' }),
  });
  expect(write.status).toBe(200);
  manager.child.kill('SIGKILL');
  await manager.ended;
  await eventually(() => expect(postgresesIn(dir)).toEqual([]), { deadlineMs: 20_000 });
  // The program recognizes that the claim and the pid file belong to no running process.
  run();
  await untilReady();
});

test('it stops in 10 s although its server is dead and cannot be started again', async () => {
  const manager = run();
  await untilReady();
  rmSync(join(home, 'postgres/PG_VERSION'));
  process.kill(serverPid(), 'SIGKILL');
  await eventually(async () => expect((await readyz()).status).toBe(503), START);
  const askedAt = Date.now();
  manager.child.kill('SIGTERM');
  expect(await manager.ended).toBe(0);
  expect(Date.now() - askedAt).toBeLessThan(10_000);
});

test('a first start killed at any moment leaves a home that starts', async () => {
  for (const afterMs of [150, 400, 700, 1_000, 1_500, 2_500]) {
    const { child, ended } = run();
    await letTimePass(afterMs, 'the moment of the kill is what is varied');
    child.kill('SIGKILL');
    await ended;
  }
  run();
  await untilReady();
  expect(readdirSync(home).filter((name) => name.includes('.new'))).toEqual([]);
});

test('a postmaster.pid that names a foreign process does not block the start', async () => {
  const first = run();
  await untilReady();
  first.child.kill('SIGTERM');
  await first.ended;
  writeFileSync(
    join(home, 'postgres/postmaster.pid'),
    `${process.pid}\n${home}/postgres\n1\n5432\n\n127.0.0.1\n`,
  );
  run();
  await untilReady();
});

test('SIGTERM while it starts, and a second Ctrl-C, end it with nothing left', async () => {
  const starting = run();
  await eventually(() => expect(existsSync(join(home, 'owner'))).toBe(true), START);
  starting.child.kill('SIGTERM');
  expect(await starting.ended).toBe(0);
  expect(postgresesIn(dir)).toEqual([]);
  expect(readdirSync(join(home, 'owner'))).toEqual([]);
  const ready = run();
  await untilReady();
  ready.child.kill('SIGINT');
  ready.child.kill('SIGINT');
  expect([0, 130]).toContain(await ready.ended);
});

const mistakes: [string, Record<string, string>, number, RegExp][] = [
  [
    'password too short',
    { BATON_ADMIN_PASSWORD: 'abc' },
    78,
    /BATON_ADMIN_PASSWORD: must have at least 5 characters\.$/,
  ],
  [
    'wrong value',
    { BATON_WORKERS: 'many' },
    78,
    /^The configuration is wrong: BATON_WORKERS: must be a whole number\.$/,
  ],
  ['misspelt', { BATON_LOG_LEVLE: 'info' }, 78, /BATON_LOG_LEVLE is no variable .*BATON_LOG_LEVEL/],
  ['a value of a worker', { BATON_WORKER_SLOTS: 'x' }, 78, /BATON_WORKER_SLOTS: must be a whole number/],
  [
    'no database',
    { DATABASE_URL: 'postgres://u:geheim@127.0.0.1:1/b' },
    1,
    /^The database at 127\.0\.0\.1:1 .*nothing listens there\.$/,
  ],
  [
    'no such database',
    { DATABASE_URL: 'postgres://postgres@127.0.0.1:5432/no_such_one' },
    78,
    /it has no database no_such_one/,
  ],
];
test.each(mistakes)('%s: one sentence and the code', async (_, env, code, sentence) => {
  const { ended, said } = run(env);
  expect(await ended).toBe(code);
  expect(said().trim().split('\n')).toEqual([expect.stringMatching(sentence)]);
  expect(said()).not.toContain('geheim');
});

test('a home that cannot be a folder: one sentence and the code', async () => {
  mkdirSync(dir, { recursive: true });
  writeFileSync(home, 'a file');
  const { ended, said } = run();
  expect(await ended).toBe(78);
  expect(said()).toMatch(/^\S+home\S* cannot be used: .*\(BATON_HOME\)\.\n$/);
});
