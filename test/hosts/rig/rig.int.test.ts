// The rig itself: what the suites of agents rely on when they say "on its host", "leaves nothing", "cut" and "half open".
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { eventually } from '@baton/testkit';
import { connectProxy, type Host, type Hosts, relay, startHosts } from '.';
import { mustRun } from './commands';

jest.setTimeout(120_000);

let rig: Hosts;
let one: Host;
let two: Host;
beforeAll(async () => {
  rig = await startHosts(2);
  [one, two] = rig.hosts as [Host, Host];
});
afterAll(() => rig?.stop());
afterEach(() => {
  for (const host of rig.hosts) host.heal();
});

/** A server at the manager's address that keeps its connections and what they say. */
async function listener(): Promise<{ port: number; sockets: Socket[]; said(): string; close(): void }> {
  const sockets: Socket[] = [];
  let said = '';
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      said += chunk.toString();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, rig.managerAddress, resolve));
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as { port: number }).port, sockets, said: () => said, close };
}

/** Starts a process on the host that says a line each 50 ms over one connection. */
const talk = (host: Host, port: number): Promise<string> =>
  host.must(
    `setsid bash -c 'exec 3<>/dev/tcp/manager/${port}; while echo on >&3; do sleep 0.05; done' >/dev/null 2>&1 & echo $!`,
  );

test('hosts are logged into by ssh, as a user with sudo, and have a name and an address of their own', async () => {
  const name = await one.ssh('hostname; id -un; sudo -n id -un; hostname -I 2>/dev/null || true');
  expect(name).toMatchObject({ status: 0, stderr: '' });
  expect(name.stdout.split('\n').slice(0, 3)).toEqual(['host-1', 'guest', 'root']);
  expect((await two.ssh('hostname')).stdout).toBe('host-2\n');
  expect(one.address).not.toBe(two.address);
  expect((await one.ssh('exit 3')).status).toBe(3);
  const address = await one.ssh('echo "$SSH_CONNECTION"');
  expect(address.stdout).toMatch(new RegExp(`^${rig.managerAddress} \\d+ ${one.address} 22\n$`));
});

test('files are private: neither another host nor this machine sees them, nor a host those of this machine', async () => {
  const before = one.paths();
  await one.must('mkdir /opt/thing && echo a >/opt/thing/a && echo b >/etc/thing && echo c >/var/log/thing');
  await one.must('echo d >/tmp/thing; echo e >/run/thing; echo f >/home/guest/thing');
  const made = ['/etc/thing', '/home/guest/thing', '/opt/thing', '/opt/thing/a', '/run/thing', '/tmp/thing'];
  expect(one.paths().filter((path) => !before.includes(path))).toEqual([...made, '/var/log/thing']);
  for (const path of made) {
    expect((await two.exec(`test -e ${path}`)).status).toBe(1);
    expect(existsSync(path)).toBe(false);
  }
  expect((await one.exec('echo x >/usr/bin/thing')).stderr).toContain('Read-only file system');
  for (const path of [__dirname, '/old', '/var/lib/postgresql'])
    expect((await one.exec(`test -e ${path}`)).status).toBe(1);
  await one.must('rm -r /opt/thing /etc/thing /var/log/thing /tmp/thing /run/thing /home/guest/thing');
  expect(one.paths()).toEqual(before);
});

test('processes are private, and node is not there', async () => {
  await one.must('setsid sleep 4711 >/dev/null 2>&1 &');
  await eventually(async () => expect(await one.processes()).toMatchObject([{ command: 'sleep 4711' }]));
  expect(await two.processes()).toEqual([]);
  expect((await two.exec('pgrep -x sleep')).status).not.toBe(0);
  expect(await one.signal('SIGKILL', /^sleep 4711/)).toBe(1);
  await eventually(async () => expect(await one.processes()).toEqual([]));
  expect((await one.exec('command -v node')).status).not.toBe(0);
});

test('a cut is seen by neither side at first; the stream goes on when the cable is back', async () => {
  const server = await listener();
  try {
    await talk(one, server.port);
    await eventually(() => expect(server.said()).toContain('on'));
    one.cut();
    const then = (await quiet(server.said)).length;
    expect(server.sockets.every((socket) => !socket.destroyed)).toBe(true);
    expect((await one.ssh('true')).status).toBe(255);
    one.heal();
    await eventually(() => expect(server.said().length).toBeGreaterThan(then));
    expect(server.sockets).toHaveLength(1);
  } finally {
    await one.signal('SIGKILL', /dev\/tcp/);
    server.close();
  }
});

/** Waits until nothing more arrives; returns what has. */
async function quiet(said: () => string): Promise<string> {
  let last = said();
  let since = Date.now();
  return await eventually(
    () => {
      if (said() !== last) {
        last = said();
        since = Date.now();
      }
      return Date.now() - since > 500 && last;
    },
    { everyMs: 20 },
  ).then(() => last);
}

test('half open: nothing arrives in one direction, and nothing is closed', async () => {
  const server = await listener();
  try {
    await talk(one, server.port);
    await eventually(() => expect(server.said()).toContain('on'));
    for (const direction of ['out', 'in', 'both'] as const) {
      one.halfOpen(direction);
      await quiet(server.said);
      expect(server.sockets.every((socket) => !socket.destroyed)).toBe(true);
      const then = server.said().length;
      one.heal();
      await eventually(() => expect(server.said().length).toBeGreaterThan(then));
    }
  } finally {
    await one.signal('SIGKILL', /dev\/tcp/);
    server.close();
  }
});

test('a slow network, and a network with delay and loss', async () => {
  const file = 'head -c 200000 /dev/zero';
  const seconds = async (command: string): Promise<number> => {
    const since = performance.now();
    expect((await one.ssh(command)).status).toBe(0);
    return (performance.now() - since) / 1000;
  };
  one.rate(800);
  // 200 KB at 100 KB a second, less the bucket.
  expect(await seconds(file)).toBeGreaterThan(1.2);
  one.heal();

  const server = await listener();
  const slow = await relay(rig.managerAddress, { host: rig.managerAddress, port: server.port });
  try {
    slow.delay(150);
    const say = (word: string): Promise<string> =>
      one.must(
        `setsid bash -c 'exec 3<>/dev/tcp/manager/${slow.port}; echo ${word} >&3; sleep 30' >/dev/null 2>&1 &`,
      );
    const since = performance.now();
    await say('late');
    await eventually(() => expect(server.said()).toBe('late\n'));
    expect(performance.now() - since).toBeGreaterThan(140);
    slow.heal();
    slow.lose(1);
    await say('lost');
    await eventually(() => expect(server.said()).toBe('late\nlost\n'));
  } finally {
    await one.signal('SIGKILL', /sleep 30/);
    await slow.close();
    server.close();
  }
});

test('a small disk gets full, for its host only', async () => {
  await one.smallDisk('/opt/small', 1 << 20);
  const filled = await one.exec('head -c 3000000 /dev/zero >/opt/small/file');
  expect(filled.stderr).toContain('No space left on device');
  await one.must(
    'head -c 3000000 /dev/zero >/opt/large && rm /opt/large && umount /opt/small && rmdir /opt/small',
  );
});

test('a port of the manager is left only through a proxy, which asks for credentials', async () => {
  const server = await listener();
  const proxy = await connectProxy(rig.managerAddress, 'some:body');
  const dial = (url: string): Promise<{ status: number }> =>
    one.exec(`curl -sS -m 1 -p -x ${url} telnet://manager:${server.port} </dev/null`);
  try {
    one.refusePort(server.port);
    expect((await one.exec(`bash -c 'exec 3<>/dev/tcp/manager/${server.port}'`)).status).not.toBe(0);
    await dial(proxy.url.replace('some:body@', ''));
    expect(proxy.tunnels).toEqual([]);
    await dial(proxy.url);
    expect(proxy.tunnels).toEqual([`manager:${server.port}`]);
    expect(proxy.refused).toEqual([`CONNECT manager:${server.port}`]);
    expect(server.sockets).toHaveLength(1);
  } finally {
    await proxy.close();
    server.close();
  }
});

test('a clock of its own, for what starts after the shift', async () => {
  const now = async (): Promise<number> => Number(await one.must('date +%s')) * 1000;
  try {
    await one.shiftClock(3_600_000);
    expect(Math.abs((await now()) - Date.now() - 3_600_000)).toBeLessThan(5_000);
    expect(Math.abs(Number(await two.must('date +%s')) * 1000 - Date.now())).toBeLessThan(5_000);
  } finally {
    await one.shiftClock(0);
  }
  expect(Math.abs((await now()) - Date.now())).toBeLessThan(5_000);
});

test('a reboot ends all processes and keeps the disk, but not /run', async () => {
  await two.must('echo kept >/opt/kept; echo gone >/run/gone; setsid sleep 4712 >/dev/null 2>&1 &');
  await two.reboot();
  expect(await two.must('cat /opt/kept; ls /run')).not.toContain('gone');
  expect(await two.processes()).toEqual([]);
  expect((await two.ssh('hostname')).stdout).toBe('host-2\n');
  await two.must('rm /opt/kept');
});

test('nothing is left of a run, also when its process was killed', async () => {
  const script = join(__dirname, 'one-host.main.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { namespace, folder, record } = JSON.parse(line.toString()) as Record<string, string>;
  const network = namespace!.split('-')[0]!;
  expect(existsSync(folder!)).toBe(true);
  expect(mustRun('ip', 'netns', 'list')).toContain(namespace);
  child.kill('SIGKILL');
  await eventually(() => {
    expect(existsSync(record!)).toBe(false);
    expect(existsSync(folder!)).toBe(false);
    expect(mustRun('ip', 'netns', 'list')).not.toContain(namespace);
    expect(mustRun('ip', '-br', 'link')).not.toContain(`${network} `);
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(folder);
  });
});
