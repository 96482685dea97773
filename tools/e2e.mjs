// npm run e2e -- [--mode standalone|services] [--workers N]: the end-to-end suite against a manager of that kind.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureTestServices } from './test-services.mjs';

const root = join(import.meta.dirname, '..');

/** Runs the suite; answers jest's exit status. */
export function runE2e({ mode, workers, env, filter = [] }) {
  console.log(`\ne2e: ${mode}, ${workers} worker(s)`);
  const run = spawnSync(
    process.execPath,
    [join(root, 'node_modules/jest/bin/jest.js'), '--config', 'jest.e2e.cjs', '--runInBand', ...filter],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...env, BATON_E2E_MODE: mode, BATON_E2E_WORKERS: String(workers) },
    },
  );
  return run.status ?? 1;
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    options: { mode: { type: 'string' }, workers: { type: 'string', default: '1' } },
    allowPositionals: true,
  });
  const modes = values.mode ? [values.mode] : ['standalone', 'services'];
  const unknown = modes.find((mode) => mode !== 'standalone' && mode !== 'services');
  if (unknown) {
    console.error(`--mode ${unknown}: there are standalone and services`);
    process.exit(64);
  }
  const services = await ensureTestServices();
  let status = 0;
  try {
    for (const mode of modes) {
      status ||= runE2e({ mode, workers: Number(values.workers), env: services.env, filter: positionals });
    }
  } finally {
    await services.stop();
  }
  process.exit(status);
}
