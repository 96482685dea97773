// Commands on a real sshd.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, type SshHost, sshHost } from '@baton/testkit';
import { type ConnectOptions, connect, type RunOptions, type RunResult, type SshConnection } from '.';

let host: SshHost;
const open: SshConnection[] = [];

beforeAll(async () => {
  host = await sshHost();
});
afterEach(() => {
  for (const connection of open.splice(0)) connection.close();
});
afterAll(async () => await host?.stop());

const login = () => ({ host: host.host, port: host.port, user: host.user, key: host.key });

async function opened(more: Partial<ConnectOptions> = {}): Promise<SshConnection> {
  const connection = await connect({ ...login(), ...more });
  open.push(connection);
  return connection;
}

const run = async (command: string, options: RunOptions = {}): Promise<RunResult> =>
  await (await opened()).run(command, options);

test('runs a command of the login shell, and gives both outputs and lines', async () => {
  const lines: string[] = [];
  const result = await run('words=(one two); echo "${words[1]}"; echo no >&2; printf last', {
    onLine: (line, stream) => lines.push(`${stream}: ${line}`),
  });
  expect(result).toEqual({ exitCode: 0, stdout: 'two\nlast', stderr: 'no\n' });
  expect(lines.sort()).toEqual(['stderr: no', 'stdout: last', 'stdout: two']);
});

test('variables and input arrive as they are, and stand in no list of processes', async () => {
  const value = `hidden: it's "two"\nlines $HOME \\ \`id\` ü`;
  const { stdout } = await run('printf %s "$VALUE"; printf "|"; cat; printf "|"; ps -eo args', {
    env: { VALUE: value },
    stdin: 'in\nput',
  });
  expect(stdout.startsWith(`${value}|in\nput|`)).toBe(true);
  expect(stdout.split('|in\nput|')[1]).not.toContain('hidden');
});

test('a login by password, also when the host asks for it as a question', async () => {
  const { stdout } = await (await opened({ key: undefined, password: host.password })).run(
    'id -un; cd /; pwd',
  );
  expect(stdout).toBe('guest\n/\n');
});

test('sudo gets its password on the standard input, and keeps the variables and the input', async () => {
  const sudo = { password: host.password };
  const options = { sudo, env: { A: 'x y' }, stdin: 'data', cwd: '/var' };
  const { stdout } = await run('id -un; pwd; echo "$A"; cat', options);
  expect(stdout).toBe('root\n/var\nx y\ndata');
  const asNobody = await run('id -un', { sudo: { password: host.password, user: 'nobody' } });
  expect(asNobody.stdout).toBe('nobody\n');
});

test('a password that sudo refuses fails for good, and is not told', async () => {
  const failed = run('id', { sudo: { password: 'wrong-password' } });
  await expect(failed).rejects.toMatchObject({ exceptionType: 'NonRecoverableError' });
  await expect(failed).rejects.toThrow('sudo at guest@127.0.0.1 refuses the password');
  await expect(failed).rejects.not.toThrow(/wrong-password/);
  await expect(run('id', { sudo: true })).rejects.toThrow(/a password is required/);
});

test('a root that needs no password does not get one as input', async () => {
  const connection = await opened({ user: 'root' });
  const { stdout } = await connection.run('cat', { sudo: { password: 'never-read' }, stdin: 'own' });
  expect(stdout).toBe('own');
});

test('exit codes have the meaning that the caller gives them', async () => {
  await expect(run('echo "no space" >&2; exit 3')).rejects.toMatchObject({
    message: 'the command at guest@127.0.0.1 ended with 3: no space',
    exceptionType: 'RecoverableError',
  });
  await expect(run('exit 4', { exitCodes: { 4: 'fatal' } })).rejects.toMatchObject({
    exceptionType: 'NonRecoverableError',
  });
  expect((await run('exit 4', { exitCodes: { 4: 'ok' } })).exitCode).toBe(4);
  await expect(run('kill -9 $$')).rejects.toThrow('was ended by SIGKILL');
});

test('a program at a terminal, without the echo of what it is told', async () => {
  const { stdout } = await run('test -t 0 && test -t 1 && echo "$A"', {
    pty: true,
    env: { A: 'z'.repeat(5000) },
  });
  expect(stdout.trim()).toBe('z'.repeat(5000));
  const asRoot = await run('id -un; tty >/dev/null && echo tty', {
    pty: true,
    sudo: { password: host.password },
  });
  expect(asRoot.stdout).toMatch(/^root\r\ntty\r\n$/);
});

test('what a command leaves behind does not hold it up', async () => {
  const { stdout } = await run('sleep 60 & echo $!');
  process.kill(Number(stdout), 'SIGKILL');
});

/** Whether a process of the host runs. */
const isRunning = (word: string): boolean =>
  execFileSync('ps', ['-eo', 'stat,args'], { encoding: 'utf8' })
    .split('\n')
    .some((line) => line.includes(word) && !line.startsWith('Z'));

test.each([
  ['of the user', false],
  ['of root', true],
])('a cancel ends the command %s and what it has started', async (_, isRoot) => {
  const stop = new AbortController();
  const seconds = isRoot ? '7771' : '7772';
  const connection = await opened();
  const running = connection.run(`trap "" TERM; sh -c "trap '' TERM; sleep ${seconds}"; sleep ${seconds}`, {
    signal: stop.signal,
    ...(isRoot && { sudo: { password: host.password } }),
  });
  running.catch(() => undefined);
  await eventually(() => isRunning(`sleep ${seconds}`));
  stop.abort();
  await expect(running).rejects.toThrow('was ended: the operation is stopped');
  expect(isRunning(`sleep ${seconds}`)).toBe(false);
  expect((await connection.run('echo still')).stdout).toBe('still\n');
});

test('the time limit ends a command', async () => {
  await expect(run('sleep 7773', { timeoutMs: 300 })).rejects.toThrow('it ran longer than 0.3 s');
  expect(isRunning('sleep 7773')).toBe(false);
});

test('an output without end takes no more memory than its last part', async () => {
  let lines = 0;
  const { stdout } = await run('yes 0123456789 | head -c 30000000', { onLine: () => void lines++ });
  expect(lines).toBe(Math.ceil(30_000_000 / 11));
  expect(stdout.length).toBe(1024 * 1024);
});

test('lines hold no escape codes', async () => {
  const lines: string[] = [];
  const title = "printf '\\033]0;title\\007\\033[31mred\\033[0m\\r\\033[2Jclear\\033[?25l\\n'";
  await run(title, { onLine: (line) => void lines.push(line) });
  expect(lines).toEqual(['clear']);
});

test('files: put with its mode, get, names with odd characters', async () => {
  const connection = await opened();
  const remote = join(host.home, `it's a $(touch evil) file`);
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 256));
  await connection.put(bytes, remote, { mode: 0o750 });
  expect(statSync(remote).mode & 0o777).toBe(0o750);
  expect((await connection.get(remote)).equals(bytes)).toBe(true);
  const local = join(host.folder, 'local');
  writeFileSync(local, 'from a file');
  await connection.put({ path: local }, join(host.home, 'copied'), { sudo: { password: host.password } });
  expect(readFileSync(join(host.home, 'copied'), 'utf8')).toBe('from a file');
  expect(statSync(join(host.home, 'copied')).uid).toBe(0);
  expect(existsSync(join(host.home, 'evil'))).toBe(false);
  await expect(connection.get('/none')).rejects.toThrow('No such file');
});
