// Logins, host keys, forwarded ports and lost connections, at a real sshd and at hostile servers.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server as NetServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually, type SshHost, sshHost } from '@baton/testkit';
import { Server } from 'ssh2';
import { connect, type SshConnection } from '.';

let host: SshHost;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  host = await sshHost();
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
afterAll(async () => await host?.stop());

const login = () => ({ host: host.host, port: host.port, user: host.user, key: host.key });

async function opened(options: Parameters<typeof connect>[0]): Promise<SshConnection> {
  const connection = await connect(options);
  closing.push(() => connection.close());
  return connection;
}

async function listening(server: NetServer | Server): Promise<number> {
  closing.push(() => server.close());
  await new Promise<void>((resolve) => (server as NetServer).listen(0, '127.0.0.1', () => resolve()));
  return (server.address() as { port: number }).port;
}

test('a private key with a passphrase', async () => {
  const file = join(host.folder, 'sealed');
  execFileSync('cp', [join(host.folder, 'login'), file]);
  execFileSync('ssh-keygen', ['-p', '-q', '-P', '', '-N', 'sesame-word', '-f', file]);
  const key = readFileSync(file, 'utf8');
  const connection = await opened({ ...login(), key, passphrase: 'sesame-word' });
  expect((await connection.run('id -un')).stdout).toBe('guest\n');
  const wrong = connect({ ...login(), key, passphrase: 'other-word' });
  await expect(wrong).rejects.toThrow('the private key of guest at 127.0.0.1 cannot be read');
  await expect(wrong).rejects.not.toThrow(/other-word|PRIVATE/);
});

test('a login that the host refuses may be allowed later', async () => {
  const refused = connect({ ...login(), key: undefined, password: 'wrong-password' });
  await expect(refused).rejects.toMatchObject({ exceptionType: 'RecoverableError' });
  await expect(refused).rejects.toThrow('127.0.0.1 refuses the login of guest');
  await expect(refused).rejects.not.toThrow(/wrong-password/);
});

test('any key with a warning, or the known one by key and by fingerprint, or no other than the first', async () => {
  const warnings: string[] = [];
  const log = { debug: () => undefined, warning: (line: string) => void warnings.push(line) };
  await opened({ ...login(), log });
  expect(warnings).toEqual([expect.stringMatching(/^the key of 127.0.0.1:\d+ is not checked \(SHA256:/)]);
  await opened({ ...login(), log, knownHosts: [host.hostKey] });
  const fingerprint = /SHA256:\S+/.exec(warnings[0]!)![0].replace(/\).*/, '');
  await opened({ ...login(), log, knownHosts: [fingerprint] });
  let remembered = '';
  await opened({
    ...login(),
    log,
    knownHosts: { remembered: undefined, remember: (key) => (remembered = key) },
  });
  expect(remembered).toBe(`ssh-ed25519 ${fingerprint}`);
  expect(warnings).toHaveLength(1);
  const other = { remembered: `ssh-ed25519 SHA256:${'A'.repeat(43)}`, remember: () => undefined };
  await expect(connect({ ...login(), log, knownHosts: other })).rejects.toMatchObject({
    exceptionType: 'NonRecoverableError',
    message: expect.stringContaining('another machine may have answered'),
  });
});

test('a server with another key sees no login', async () => {
  const logins: string[] = [];
  const { private: key } = (await import('ssh2')).utils.generateKeyPairSync('ed25519');
  const server = new Server({ hostKeys: [key] }, (client) => {
    client.on('authentication', ({ method }) => void logins.push(method));
    client.on('error', () => undefined);
  });
  const port = await listening(server);
  const refused = connect({ ...login(), port, password: 'never-told', knownHosts: [host.hostKey] });
  await expect(refused).rejects.toThrow('is not the known one');
  expect(logins).toEqual([]);
});

test('servers that never speak, speak nonsense or hang up fail in time', async () => {
  const silent = await listening(createServer(() => undefined));
  const at = (port: number) => connect({ ...login(), port, connectTimeoutMs: 500 });
  await expect(at(silent)).rejects.toThrow('did not answer within 0.5 s');
  const nonsense = await listening(createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  await expect(at(nonsense)).rejects.toMatchObject({ exceptionType: 'RecoverableError' });
  const flood = await listening(
    createServer((socket) => {
      const more = (): boolean => socket.write('x'.repeat(64 * 1024)) && more();
      socket.on('drain', more).on('error', () => undefined);
      more();
    }),
  );
  await expect(at(flood)).rejects.toMatchObject({ exceptionType: 'RecoverableError' });
});

test('a cancel during the login ends it', async () => {
  const stop = new AbortController();
  const port = await listening(createServer(() => stop.abort()));
  await expect(connect({ ...login(), port, signal: stop.signal })).rejects.toThrow(
    'the operation is stopped',
  );
});

test('through another host', async () => {
  const outer = await sshHost();
  closing.push(() => outer.stop());
  const jump = { host: outer.host, port: outer.port, user: outer.user, password: outer.password };
  const connection = await opened({ ...login(), jump });
  const { stdout } = await connection.run('echo $SSH_CONNECTION');
  expect(stdout.trim()).toMatch(new RegExp(` 127.0.0.1 ${host.port}$`));
  const nowhere = connect({ ...login(), port: 1, jump });
  await expect(nowhere).rejects.toThrow('guest@127.0.0.1 does not reach 127.0.0.1:1');
});

test('an agent only when it is asked for: it signs, and the key stays here', async () => {
  const command = 'ssh-add -l 2>&1; echo "[$SSH_AUTH_SOCK]"';
  const without = await opened(login());
  expect((await without.run(command)).stdout).toContain('[]');
  const connection = await opened({ ...login(), forwardAgent: true });
  expect((await connection.run(command)).stdout).toMatch(/256 SHA256:\S+ .*\(ED25519\)\n\[\/tmp/);
  const options =
    '-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes -o LogLevel=ERROR';
  const further = await connection.run(`ssh ${options} -p ${host.port} root@127.0.0.1 id -un`);
  expect(further.stdout).toBe('root\n');
  await expect(
    connect({ ...login(), key: undefined, password: host.password, forwardAgent: true }),
  ).rejects.toThrow('needs a key');
});

test('ports lead back from the host and on from the host', async () => {
  const connection = await opened(login());
  const forward = await connection.forwardBack((stream) => stream.end('from here'));
  const read = `exec 3<>/dev/tcp/127.0.0.1/${forward.port} && cat <&3`;
  expect((await connection.run(read)).stdout).toBe('from here');
  const port = await listening(createServer((socket) => socket.end('from there')));
  expect(await text(await connection.forwardTo('127.0.0.1', port))).toBe('from there');
  await expect(connection.forwardTo('127.0.0.1', 1)).rejects.toThrow('does not reach 127.0.0.1:1');
  await forward.close();
  await expect(connection.run(read)).rejects.toThrow(/refused/);
});

test('a connection that breaks in the middle of a command is told as that', async () => {
  const connection = await opened({ ...login(), user: 'root' });
  const running = connection.run('echo $PPID; sleep 60', {
    onLine: (pid) => process.kill(Number(pid), 'SIGKILL'),
  });
  await expect(running).rejects.toMatchObject({
    exceptionType: 'RecoverableError',
    message: 'the connection to root@127.0.0.1 was lost: whether the command has ended is not known',
  });
  await eventually(async () => {
    const failure: unknown = await connection.run('true').catch((error: unknown) => error);
    expect((failure as Error).message).toBe('the connection to root@127.0.0.1 was lost');
  });
});

test('a host that stops in the middle is given up after four missing signs of life', async () => {
  const connection = await opened({ ...login(), user: 'root', keepaliveMs: 100 });
  let pid = 0;
  const running = connection.run('echo $PPID; sleep 60', {
    onLine: (line) => {
      pid = Number(line);
      process.kill(pid, 'SIGSTOP');
    },
  });
  await expect(running).rejects.toThrow('was lost');
  process.kill(pid, 'SIGKILL');
});

test('a host whose shell writes without end instead of a command', async () => {
  const { private: key } = (await import('ssh2')).utils.generateKeyPairSync('ed25519');
  const server = new Server({ hostKeys: [key] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (one) => one.accept());
    client.on('session', (accept) =>
      accept().on('exec', (yes) => {
        const channel = yes();
        channel.on('error', () => undefined);
        channel.write('x'.repeat(200_000));
      }),
    );
  });
  const connection = await opened({ ...login(), port: await listening(server) });
  await expect(connection.run('id')).rejects.toThrow('answers without end, and starts no command');
});
