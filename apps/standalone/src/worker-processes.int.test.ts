import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort, type TestDatabase, testDatabase } from '@baton/testkit';

const START = { deadlineMs: 60_000 };
let database: TestDatabase;
let manager: ChildProcess;
let home: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'baton-workers-'));
  database = await testDatabase({ migrations: [] });
}, 60_000);
afterAll(async () => {
  manager?.kill('SIGKILL');
  await database?.drop();
  rmSync(home, { recursive: true, force: true });
});

const isRunning = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

test('a worker does not outlive the manager that it asks', async () => {
  const port = await freePort();
  manager = spawn(process.execPath, ['--import', 'tsx', join(__dirname, 'main.ts')], {
    env: {
      ...process.env,
      BATON_HOME: home,
      BATON_PORT: String(port),
      BATON_WORKERS: '1',
      BATON_ADMIN_PASSWORD: 'a long enough password',
      BATON_LOG_LEVEL: 'warn',
      DATABASE_URL: database.url,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  manager.stdout!.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const worker = await eventually(async () => {
    const { status } = await fetch(`http://127.0.0.1:${port}/readyz`);
    const [pid] = childrenOf(manager.pid!).filter((one) =>
      readFileSync(`/proc/${one}/cmdline`, 'utf8').includes('worker'),
    );
    if (status !== 200 || pid === undefined) throw new Error('no worker yet');
    return pid;
  }, START);
  manager.kill('SIGKILL');
  await eventually(() => expect(isRunning(worker)).toBe(false), { deadlineMs: 10_000 });
  // The worker got all variables that it reads, and none that it takes for a misspelling.
  expect(said).not.toContain('misspelling');
}, 90_000);
