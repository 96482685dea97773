import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Fleet, startFleet } from '../../harness/fleet';
import { root } from '../../harness/processes';

/**
 * Sends the recorded requests to an empty manager (BATON_WIRE=cloudify) and holds its answers against the recorded ones.
 * Arguments: `--expected FILE` (default: the one of BATON_SHARED), `--base-url URL` (a manager that runs already, its
 * administrator's password is `admin` or BATON_ADMIN_PASSWORD), `--only scenario,scenario`, `--out FILE` (keeps the
 * answers), `--show` (every difference of a case). Lists what fails and closes with `N passed, M failed`; exit status 1
 * where any failed. Deviations and their reasons: test/conformance/rest-deviations.json.
 */
const ADMIN_PASSWORD = 'admin';
/** What the recorded manager was called. */
const MANAGER_NAME = 'peer-manager';
const deviations = join(root, 'test/conformance/rest-deviations.json');

const options = {
  expected: { type: 'string' },
  'base-url': { type: 'string' },
  only: { type: 'string' },
  out: { type: 'string' },
  show: { type: 'boolean' },
} as const;

/** Exit status of a Python script; its output is ours. */
async function python(args: string[]): Promise<number> {
  return await new Promise((done, failed) => {
    const child = spawn('python3', args, { stdio: 'inherit' });
    child.once('error', failed);
    child.once('exit', (code) => done(code ?? 1));
  });
}

async function emptyManager(): Promise<Fleet> {
  return await startFleet({
    mode: 'standalone',
    env: {
      BATON_WIRE: 'cloudify',
      BATON_ADMIN_PASSWORD: ADMIN_PASSWORD,
      BATON_MANAGER_NAME: MANAGER_NAME,
    },
  });
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  const data = resolve(process.env.BATON_SHARED ?? join(root, '../shared'), 'conformance/rest');
  const expected = resolve(values.expected ?? join(data, 'expected.jsonl'));
  for (const file of [expected, join(data, 'drive.py'), join(data, 'compare.py')])
    if (!existsSync(file)) throw new Error(`no such file: ${file}`);
  const dir = mkdtempSync(join(tmpdir(), 'baton-rest-'));
  const answers = values.out ? resolve(values.out) : join(dir, 'answers.jsonl');
  const fleet = values['base-url'] ? null : await emptyManager();
  try {
    const baseUrl = fleet?.baseUrl ?? (values['base-url'] as string);
    const password = fleet ? ADMIN_PASSWORD : (process.env.BATON_ADMIN_PASSWORD ?? ADMIN_PASSWORD);
    const drive = ['--base-url', baseUrl, '--admin-password', password, '--out', answers];
    const driven = await python([
      join(data, 'drive.py'),
      ...drive,
      ...(values.only ? ['--only', values.only] : []),
    ]);
    if (driven !== 0) throw new Error(`the driver ended with status ${driven}`);
    const show = values.show ? ['--show'] : [];
    return await python([
      join(data, 'compare.py'),
      expected,
      answers,
      ...(existsSync(deviations) ? ['--deviations', deviations] : []),
      ...show,
    ]);
  } finally {
    await fleet?.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

main().then(
  (status) => {
    process.exitCode = status;
  },
  (error: unknown) => {
    process.stdout.write(`${(error as Error).message}\n0 passed, 1 failed\n`);
    process.exitCode = 1;
  },
);
