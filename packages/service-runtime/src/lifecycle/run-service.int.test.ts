import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { eventually, testNamespace, testUrls } from '@baton/testkit';

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

function start(env: Record<string, string>, preload: string[] = []) {
  const child = spawn(process.execPath, ['--import', 'tsx', ...preload, join(__dirname, 'testing-main.ts')], {
    env: { PATH: process.env.PATH, ...env },
  });
  children.push(child);
  const seen = { out: '', err: '' };
  child.stdout.on('data', (text) => {
    seen.out += text;
  });
  child.stderr.on('data', (text) => {
    seen.err += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, seen, ended };
}
const lines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
const env = {
  BATON_WORKER_JOIN_TOKEN: 'sixteen characters',
  BATON_HTTP_PORT: '0',
  BATON_RPC_PORT: '0',
  AMQP_URL: testUrls.amqp(),
  // Queues of other processes at the same broker, e.g. of `npm run dev`, have other arguments.
  BATON_NAMESPACE: testNamespace(),
};

test('a wrong configuration ends with 78 and names every problem', async () => {
  const { ended, seen } = start({ BATON_WIRE: 'both', BATON_HTTP_PORT: 'x' });
  expect(await ended).toBe(78);
  expect(seen.err).toMatch(/BATON_WORKER_JOIN_TOKEN is missing/);
  expect(seen.err).toMatch(/BATON_WIRE/);
  expect(seen.err).toMatch(/BATON_HTTP_PORT/);
}, 20_000);

test('BATON_TLS=required ends with 78 at a plain address or an absent file, and names it', async () => {
  const secured = {
    ...env,
    BATON_TLS: 'required',
    BATON_TLS_CA_FILE: '/absent/ca.crt',
    BATON_TLS_CERT_FILE: '/absent/tls.crt',
    BATON_TLS_KEY_FILE: '/absent/tls.key',
  };
  const plain = start({ ...secured, AMQP_URL: 'amqp://u:pw@127.0.0.1', REDIS_URL: 'redis://u:pw@127.0.0.1' });
  expect(await plain.ended).toBe(78);
  expect(plain.seen.err).toMatch(/AMQP_URL: must begin with amqps/);
  expect(plain.seen.err).toMatch(/REDIS_URL: must begin with rediss/);
  expect(plain.seen.err + plain.seen.out).not.toContain('pw');
  const absent = start({ ...secured, AMQP_URL: 'amqps://u:pw@127.0.0.1' });
  expect(await absent.ended).toBe(78);
  expect(absent.seen.err).toMatch(/BATON_TLS_CA_FILE: .*cannot be read \(ENOENT\)/);
}, 30_000);

test('a port in use ends with one sentence and no stack', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  try {
    const { ended, seen } = start({ ...env, BATON_HOST: '127.0.0.1', BATON_HTTP_PORT: String(port) });
    expect(await ended).toBe(1);
    const [line] = lines(seen.out).filter(({ message }) => message === 'could not start');
    const reason = expect.stringContaining(`Port ${port} of 127.0.0.1 is in use by another program`);
    expect(line).toMatchObject({ level: 'error', reason });
    expect(line).not.toHaveProperty('err');
  } finally {
    await new Promise((resolve) => taken.close(resolve));
  }
}, 40_000);

test('a promise that nobody waits for is logged once a minute, and the process goes on', async () => {
  const { child, seen, ended } = start({ ...env, TESTING_REJECTIONS: '3' });
  const started = await eventually(() => lines(seen.out).find((l) => l.message === 'started') ?? false, {
    deadlineMs: 15_000,
  });
  const told = () => lines(seen.out).filter(({ message }) => message === 'unhandled rejection');
  await eventually(() => expect(told()).toHaveLength(1));
  expect(told()[0].err).toMatchObject({ message: 'forgotten' });
  await eventually(async () => (await fetch(`http://127.0.0.1:${started.httpPort}/readyz`)).status === 200);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  // The two others are summed up in one further line.
  expect(told().length).toBeLessThanOrEqual(2);
}, 30_000);

test('a worker that is given a key of the services ends with 78, names it and does not repeat it', async () => {
  const keys = {
    BATON_INTERNAL_KEY: 'key-of-the-services',
    DATABASE_URL: 'postgres://u:key-of-the-services@db/baton',
  };
  const { ended, seen } = start({ ...env, ...keys });
  expect(await ended).toBe(78);
  for (const name of Object.keys(keys)) expect(seen.err).toMatch(`${name}: not for workers`);
  expect(seen.err + seen.out).not.toContain('key-of-the-services');
}, 20_000);

test('a service starts, warns of a misspelt variable, stops on SIGTERM with 0', async () => {
  const { child, seen, ended } = start({ ...env, BATON_LOGLEVEL: 'debug' });
  const started = await eventually(() => lines(seen.out).find((l) => l.message === 'started') ?? false, {
    deadlineMs: 15_000,
  });
  expect(lines(seen.out).find((l) => l.level === 'warn')).toMatchObject({
    variable: 'BATON_LOGLEVEL',
    nearest: 'BATON_LOG_LEVEL',
  });
  // The service is ready a moment after it logs that it has started.
  await eventually(async () => (await fetch(`http://127.0.0.1:${started.httpPort}/readyz`)).status === 200);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
}, 30_000);

// The same as the first line of a bundle.
const preload = ['--import', join(__dirname, '../telemetry/telemetry-preload.ts')];

test('with an OTLP endpoint requests become traces', async () => {
  const posted: string[] = [];
  const collector: Server = createServer((request, response) => {
    posted.push(request.url ?? '');
    request.resume();
    response.end('{}');
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as { port: number };
  const { child, seen, ended } = start(
    {
      ...env,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
    preload,
  );
  const started = await eventually(() => lines(seen.out).find((l) => l.message === 'started') ?? false, {
    deadlineMs: 15_000,
  });
  await fetch(`http://127.0.0.1:${started.httpPort}/api/v3.1/nothing`);
  await eventually(() => expect(posted).toContain('/v1/traces'), { deadlineMs: 10_000 });
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  await new Promise((resolve) => collector.close(resolve));
}, 40_000);
