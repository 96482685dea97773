// Real programs: the shell and Node.js of this machine.
import { eventually } from '@baton/testkit';
import { exec, isMarkedError, operationErrorMark } from '../index';

const failureOf = async (work: Promise<unknown>): Promise<[string, string]> => {
  const thrown = await work.then(
    () => new Error('it did not fail'),
    (error: Error) => error,
  );
  return [isMarkedError(thrown) ? thrown[operationErrorMark] : 'unmarked', thrown.message];
};
const node = (code: string, ...args: string[]) => [process.execPath, ['-e', code, ...args]] as const;

it('returns the output, and hands out its lines', async () => {
  const lines: string[] = [];
  const result = await exec('sh', ['-c', 'echo one; echo two >&2; printf three'], {
    onLine: (line, stream) => void lines.push(`${stream}: ${line}`),
  });
  expect(result).toEqual({ exitCode: 0, stdout: 'one\nthree', stderr: 'two\n' });
  expect(lines.sort()).toEqual(['stderr: two', 'stdout: one', 'stdout: three']);
});

it('takes arguments as they are: no shell reads them', async () => {
  const { stdout } = await exec('printf', ['%s|', '$HOME', '; touch /tmp/x', '`id`', 'a b']);
  expect(stdout).toBe('$HOME|; touch /tmp/x|`id`|a b|');
  expect(await failureOf(Promise.resolve().then(() => exec('echo a; id')))).toEqual([
    'fatal',
    expect.stringMatching(/^echo a; id cannot be run: .*ENOENT/),
  ]);
  await expect(exec('echo', ['a\0b'])).rejects.toThrow('without the character 0');
});

it('passes environment, folder and input', async () => {
  const { stdout } = await exec('sh', ['-c', 'echo $KEY; pwd; cat'], {
    env: { KEY: 'v' },
    cwd: '/',
    input: 'in',
  });
  expect(stdout).toBe('v\n/\nin');
});

it('gives exit codes their meaning, and never shows arguments', async () => {
  const ending = (code: number) => ['sh', ['-c', `echo why >&2; exit ${code}`, 'secret-argument']] as const;
  expect(await failureOf(exec(...ending(3)))).toEqual(['retryable', 'sh ended with 3: why']);
  expect(await failureOf(exec(...ending(2), { exitCodes: { 2: 'fatal' } }))).toEqual([
    'fatal',
    'sh ended with 2: why',
  ]);
  expect((await exec(...ending(4), { exitCodes: { 4: 'ok' } })).exitCode).toBe(4);
  expect(await failureOf(exec('/nowhere/tool', ['secret-argument']))).toEqual([
    'fatal',
    expect.not.stringContaining('secret-argument'),
  ]);
});

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Starts a child in the background that ignores the request to end, and prints its id. */
const WITH_CHILD = `
  const { spawn } = require('node:child_process');
  const child = spawn(process.execPath, ['-e', "process.on('SIGTERM', () => 0); console.log(process.pid); setInterval(() => 0, 1e6)"],
    { stdio: 'inherit' });
  process.on('SIGTERM', () => 0);
  setInterval(() => 0, 1e6);
`;

it('ends the whole group of processes on abort, also those that ignore the request', async () => {
  const abort = new AbortController();
  let pid = 0;
  const onLine = (line: string): void => {
    pid = Number(line);
    abort.abort();
  };
  expect(await failureOf(exec(...node(WITH_CHILD), { signal: abort.signal, onLine }))).toEqual([
    'retryable',
    'node was ended: the operation is stopped',
  ]);
  await eventually(async () => expect(isAlive(pid)).toBe(false));
  expect(await failureOf(Promise.resolve().then(() => exec('true', [], { signal: abort.signal })))).toEqual([
    'retryable',
    'true was not started: the operation is stopped',
  ]);
});

it('asks a program to end with the signal that it knows, and waits for what it still does', async () => {
  const abort = new AbortController();
  const said: string[] = [];
  const code = 'trap "sleep 0.2; echo stored; exit 0" INT; echo ready; while :; do sleep 0.05; done';
  const onLine = (line: string): void => {
    said.push(line);
    if (line === 'ready') abort.abort();
  };
  const options = { signal: abort.signal, onLine, endSignal: 'SIGINT' as const, graceMs: 4_000 };
  expect(await failureOf(exec('bash', ['-c', code], options))).toEqual([
    'retryable',
    'bash was ended: the operation is stopped',
  ]);
  expect(said).toEqual(['ready', 'stored']);
});

it('ends what a program leaves behind: its open output would hold the operation', async () => {
  const { stdout } = await exec('sh', ['-c', 'sleep 1000 & echo $!']);
  await eventually(async () => expect(isAlive(Number(stdout))).toBe(false));
});

it('ends its programs when the process of the plugin exits', async () => {
  const before = process.listeners('exit');
  let pid = 0;
  const onLine = (line: string): void => {
    pid = Number(line);
    for (const listener of process.listeners('exit')) if (!before.includes(listener)) listener(0);
  };
  expect(await failureOf(exec('sh', ['-c', 'echo $$; sleep 1000'], { onLine }))).toEqual([
    'retryable',
    'sh was ended by SIGKILL',
  ]);
  expect(isAlive(pid)).toBe(false);
  expect(process.listeners('exit')).toEqual(before);
});

it('ends a program that is silent for too long', async () => {
  const silent = exec('sh', ['-c', 'sleep 1000'], { silenceLimitMs: 50 });
  expect(await failureOf(silent)).toEqual(['retryable', 'sh was ended: it wrote nothing for 0.05 s']);
});

it('keeps the end of a long output, and cuts lines that never end', async () => {
  let longest = 0;
  const code = "process.stdout.write('a'.repeat(3e6) + 'end')";
  const { stdout } = await exec(...node(code), {
    onLine: (line) => void (longest = Math.max(longest, line.length)),
  });
  expect([stdout.length, stdout.endsWith('end')]).toEqual([1_000_000, true]);
  expect(longest).toBeLessThan(300_000);
});
