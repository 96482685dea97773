import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '@baton/client';
import { type Fleet, startFleet } from '../../harness/fleet';
import { root } from '../../harness/processes';
import { type Plan, planScenarios, untilQuiet } from './scenarios';

/**
 * Sends the recorded requests to an empty manager (BATON_WIRE=cloudify) and compares its answers with the recorded ones.
 * Arguments: `--expected FILE` (default: the one of BATON_SHARED), `--base-url URL` (a running manager, whose administrator's
 * password is `admin` or BATON_ADMIN_PASSWORD), `--only scenario,scenario` (judges only those; scenarios recorded before them are
 * played too), `--out FILE` (keeps the answers), `--show` (prints every difference of a case). Lists failures and ends with `N
 * passed, M failed`; exit status 1 if any failed. Deviations and their reasons, also of requests whose recorded answers are not
 * available: test/conformance/rest-deviations.json.
 */
const ADMIN_PASSWORD = 'admin';
/** Name of the recorded manager. */
const MANAGER_NAME = 'peer-manager';
const deviations = join(root, 'test/conformance/rest-deviations.json');

const options = {
  expected: { type: 'string' },
  'base-url': { type: 'string' },
  only: { type: 'string' },
  out: { type: 'string' },
  show: { type: 'boolean' },
} as const;

interface Manager {
  baseUrl: string;
  password: string;
}

/** Runs a Python script with our output. Returns its exit status. */
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

/** Plays the plan and writes all answers to `out`. */
async function drive(data: string, plan: Plan, at: Manager, out: string): Promise<void> {
  const client = createClient({ ...at, username: 'admin', tenant: 'default_tenant' });
  writeFileSync(out, '');
  for (const [i, scenarios] of plan.passes.entries()) {
    await untilQuiet(client);
    const part = `${out}.part`;
    // Only the first call creates users and tenants.
    const who = [
      ...['--base-url', at.baseUrl, '--admin-password', at.password],
      ...(i > 0 ? ['--no-users'] : []),
    ];
    const status = await python([
      join(data, 'drive.py'),
      ...who,
      '--out',
      part,
      '--only',
      scenarios.join(','),
    ]);
    if (status !== 0) throw new Error(`the driver ended with status ${status}`);
    appendFileSync(out, readFileSync(part));
    rmSync(part);
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  const data = resolve(process.env.BATON_SHARED ?? join(root, '../shared'), 'conformance/rest');
  const recorded = resolve(values.expected ?? join(data, 'expected.jsonl'));
  for (const file of [recorded, join(data, 'drive.py'), join(data, 'compare.py')])
    if (!existsSync(file)) throw new Error(`no such file: ${file}`);
  const plan = planScenarios(recorded, values.only?.split(','));
  const dir = mkdtempSync(join(tmpdir(), 'baton-rest-'));
  const answers = values.out ? resolve(values.out) : join(dir, 'answers.jsonl');
  const expected = join(dir, 'expected.jsonl');
  writeFileSync(expected, plan.expected.map((line) => `${line}\n`).join(''));
  const fleet = values['base-url'] ? null : await emptyManager();
  try {
    const baseUrl = fleet?.baseUrl ?? (values['base-url'] as string);
    const password = fleet ? ADMIN_PASSWORD : (process.env.BATON_ADMIN_PASSWORD ?? ADMIN_PASSWORD);
    await drive(data, plan, { baseUrl, password }, answers);
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
