/** The addresses that an operation reaches on the network. Each test has a control: an open policy does reach the address. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@baton/testkit';
import { type Choice, chooseIsolation } from '../choose-isolation';
import type { EgressSettings, IsolationSettings } from '../port';
import { findProgram, runInside } from '../probe';
import { parseEndpoint } from './endpoints';
import { deadTables, ownTable, runNft } from './tables';

const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';
const NFT = findProgram('nft', PATH) ?? 'nft';
/** First uid of a range that no worker on this machine uses. */
const FIRST = 300_000 + (process.pid % 10_000) * 100;
const LINK_LOCAL = '169.254.231.7';

const roots: string[] = [];
const children: ChildProcess[] = [];
const servers: (Server | Socket)[] = [];
const chosen: Choice[] = [];

function settingsFor(mode: EgressSettings['mode'], lists: { allow?: string[]; deny?: string[] } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'baton-egress-'));
  roots.push(root);
  chmodSync(root, 0o711);
  mkdirSync(join(root, 'assets/bin'), { recursive: true });
  writeFileSync(join(root, 'assets/bin/ctx'), '');
  const endpoints = (texts: string[] = []) => texts.map((text) => parseEndpoint(text)!);
  return {
    mode: 'bubblewrap',
    workRoot: join(root, 'work'),
    assetsDir: join(root, 'assets'),
    uids: { first: FIRST, last: FIRST + 99 },
    account: null,
    limits: { processes: 50, openFiles: 64, fileBytes: 1e7, memoryBytes: null },
    shared: [],
    hidden: [],
    path: PATH,
    egress: { mode, allow: endpoints(lists.allow), deny: endpoints(lists.deny) },
  } satisfies IsolationSettings;
}

/** Starts a worker with this policy and returns its operations. One worker at a time: all share the table of this process. */
async function worker(mode: EgressSettings['mode'], lists?: { allow?: string[]; deny?: string[] }) {
  await closed();
  const settings = settingsFor(mode, lists);
  const choice = chooseIsolation(settings);
  chosen.push(choice);
  const run = (script: string, tenant = 'own') =>
    runInside(choice.isolation, settings, () => ({ program: '/bin/bash', args: ['-c', script] }), tenant)
      .stdout;
  return {
    choice,
    run,
    connects: (host: string, port: number) => run(`${CONNECT} c ${host} ${port}`).trim(),
    uidOf: (tenant: string) => choice.isolation.accountOf(tenant)!.uid,
  };
}

/** Waits until the table is gone: processes of the previous operation may take a moment to end. */
async function closed(): Promise<void> {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await eventually(async () => {
    for (const one of chosen) await one.egress.close();
    expect(hasTable()).toBe(false);
  });
  chosen.length = 0;
}

const hasTable = (): boolean => runNft(NFT, `list table inet ${ownTable()}`) === null;

/** Shell function that prints `open`, or `refused` after at most 4 s. */
const CONNECT = `c() { timeout 4 bash -c "exec 3<>/dev/tcp/$1/$2" 2>/dev/null && echo open || echo refused; };`;

function listener(host: string): Promise<number> {
  const server = createServer((socket) => socket.end('hello'));
  servers.push(server);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, () => resolve((server.address() as AddressInfo).port));
  });
}

const SERVE = `import socket
f = socket.AF_INET6 if ':' in 'HOST' else socket.AF_INET
s = socket.create_server(('HOST', 0), family=f); print(s.getsockname()[1], flush=True)
while True: s.accept()[0].close()`;

/** Starts a server as this uid, outside of any isolation. */
async function listenerOf(uid: number): Promise<number> {
  const code = SERVE.replaceAll('HOST', '127.0.0.1');
  const child = spawn('/usr/bin/python3', ['-c', code], {
    uid,
    gid: uid,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return new Promise((resolve) => child.stdout!.once('data', (text) => resolve(Number(text))));
}

/** Serves and connects within one operation. */
const serveAndAsk = (host: string): string =>
  `${CONNECT} exec 4< <(/usr/bin/python3 -c "${SERVE.replaceAll('HOST', host)}"); read -r port <&4; c ${host} $port; kill $!`;

beforeAll(() => {
  if (process.getuid?.() !== 0) throw new Error('the rules are made by root: run this suite as root');
  spawnSync('ip', ['address', 'add', `${LINK_LOCAL}/32`, 'dev', 'lo']);
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
afterAll(async () => {
  spawnSync('ip', ['address', 'del', `${LINK_LOCAL}/32`, 'dev', 'lo']);
  for (const root of roots) rmSync(root, { recursive: true, force: true });
  await closed();
});

it('says what it holds', async () => {
  expect((await worker('open')).choice.isolation).toMatchObject({
    notEnforced: expect.arrayContaining([
      expect.stringContaining('operations reach what the worker reaches'),
    ]),
  });
  const { isolation } = (await worker('restricted')).choice;
  expect(isolation.description).toMatch(/, restricted network$/);
  expect(isolation.notEnforced.join()).not.toContain('what the worker reaches');
  expect((await worker('none')).choice.isolation.description).toMatch(/, no network$/);
});

it.each([
  ['the loopback', '127.0.0.1'],
  ['the loopback of IP 6', '::1'],
  [
    'an address of the machine',
    Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal)?.address ?? '127.0.0.2',
  ],
  ['a link-local address', LINK_LOCAL],
])(
  'refuses services of the machine at %s',
  async (_, host) => {
    const port = await listener(host);
    expect((await worker('open')).connects(host, port)).toBe('open');
    expect((await worker('restricted')).connects(host, port)).toBe('refused');
    expect((await worker('none')).connects(host, port)).toBe('refused');
  },
  60_000,
);

it('refuses metadata addresses at once, by rules that count', async () => {
  const { connects } = await worker('restricted');
  const packets = (): number =>
    [
      ...spawnSync(NFT, ['list', 'chain', 'inet', ownTable(), 'refuse'], {
        encoding: 'utf8',
      }).stdout.matchAll(/packets (\d+)/g),
    ].reduce((sum, [, count]) => sum + Number(count), 0);
  for (const host of ['169.254.169.254', '100.100.100.200', 'fd00:ec2::254']) {
    const before = packets();
    expect(connects(host, 80)).toBe('refused');
    expect(packets()).toBeGreaterThan(before);
  }
});

it('lets operations of a tenant reach each other, and not those of another tenant', async () => {
  const open = await worker('open');
  const others = await listenerOf(open.uidOf('another'));
  expect(open.connects('127.0.0.1', others)).toBe('open');
  const { run, connects, uidOf } = await worker('restricted');
  const [own, foreign] = [await listenerOf(uidOf('own')), await listenerOf(uidOf('another'))];
  expect(connects('127.0.0.1', own)).toBe('open');
  expect(connects('127.0.0.1', foreign)).toBe('refused');
  expect(run(serveAndAsk('127.0.0.1'))).toBe('open\n');
  expect(run(serveAndAsk('::1'))).toBe('open\n');
  // Its own service at a link-local address is refused by the link-local rule.
  expect(run(serveAndAsk(LINK_LOCAL))).toBe('refused\n');
  expect((await worker('none')).run(serveAndAsk('127.0.0.1'))).toBe('refused\n');
}, 60_000);

it('never completes a refused connection, however often the service answers', async () => {
  const server = createServer();
  servers.push(server);
  let taken = 0;
  server.on('connection', () => taken++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const tries = async (mode: EgressSettings['mode']): Promise<string> =>
    (await worker(mode)).run(`${CONNECT} c 127.0.0.1 ${port}; c 127.0.0.1 ${port}`);
  expect(await tries('restricted')).toBe('refused\nrefused\n');
  await new Promise((resolve) => setImmediate(resolve));
  expect(taken).toBe(0);
  expect(await tries('open')).toBe('open\nopen\n');
  await eventually(() => expect(taken).toBe(2));
}, 60_000);

it('refuses datagrams to services of the machine', async () => {
  const socket = createSocket('udp4');
  servers.push(socket);
  const got: string[] = [];
  socket.on('message', (text) => got.push(text.toString()));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const send = async (mode: EgressSettings['mode']) =>
    (await worker(mode)).run(`echo ${mode} > /dev/udp/127.0.0.1/${socket.address().port}`);
  await send('restricted');
  await send('none');
  await send('open');
  await eventually(() => expect(got).toEqual(['open\n']));
});

it('lets through what is allowed and refuses what is denied', async () => {
  const [first, second] = [await listener('127.0.0.1'), await listener('127.0.0.1')];
  for (const mode of ['restricted', 'none'] as const) {
    const { connects, choice } = await worker(mode, { allow: [`127.0.0.1:${first}`], deny: ['127.0.0.0/8'] });
    expect(connects('127.0.0.1', first)).toBe('open');
    expect(connects('127.0.0.1', second)).toBe('refused');
    choice.egress.admit(second);
    expect(connects('127.0.0.1', second)).toBe('open');
  }
  expect((await worker('restricted', { deny: ['127.0.0.0/8'] })).run(serveAndAsk('127.0.0.1'))).toBe(
    'refused\n',
  );
}, 60_000);

it('leaves everybody else alone', async () => {
  const port = await listener('127.0.0.1');
  await worker('none');
  const other = ['-c', `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`];
  for (const uid of [0, FIRST - 1, FIRST + 100]) {
    // A separate process: this process must answer meanwhile.
    const child = spawn('/bin/bash', other, { uid, gid: uid, stdio: ['ignore', 'pipe', 'inherit'] });
    const said = await new Promise((resolve) => child.stdout.once('data', (text) => resolve(String(text))));
    expect(said).toBe('hello');
  }
});

it('removes its table, but not from processes that operations have left', async () => {
  const { choice, uidOf } = await worker('restricted');
  await listenerOf(uidOf('own'));
  await choice.egress.close();
  expect(hasTable()).toBe(true);
  children[0]!.kill('SIGKILL');
  await eventually(async () => {
    await choice.egress.close();
    expect(hasTable()).toBe(false);
  });
});

it('removes tables of workers that were killed, and of no others', async () => {
  const [prefix, space] = /^(\w+?_\w+?)_(\d+)/.exec(ownTable())!.slice(1);
  const child = spawnSync('true');
  const dead = `${prefix}_${space}_${child.pid}_1`;
  const start = readFileSync('/proc/1/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')[19];
  const living = `${prefix}_${space}_1_${start}`;
  const elsewhere = `${prefix}_${Number(space) + 1}_${child.pid}_1`;
  for (const name of [dead, living, elsewhere]) expect(runNft(NFT, `add table inet ${name}`)).toBeNull();
  try {
    expect(deadTables(NFT)).toContain(dead);
    await worker('restricted');
    expect(deadTables(NFT)).not.toContain(dead);
    for (const name of [living, elsewhere]) expect(runNft(NFT, `list table inet ${name}`)).toBeNull();
  } finally {
    for (const name of [living, elsewhere]) runNft(NFT, `delete table inet ${name}`);
  }
});

it('says so where nothing can hold the network, and refuses to start where none was asked for', () => {
  const settings = settingsFor('restricted');
  const { isolation } = chooseIsolation({
    ...settings,
    mode: 'none',
    egress: { mode: 'restricted', allow: [], deny: [] },
  });
  expect(isolation.description).toBe('none; operations run as the worker itself');
  expect(() =>
    chooseIsolation({ ...settings, mode: 'none', egress: { mode: 'none', allow: [], deny: [] } }),
  ).toThrow(/BATON_WORKER_EGRESS=none/);
});
