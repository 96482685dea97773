// npm run e2e -- [--mode standalone|services] [--workers N]: runs the end-to-end suite against a manager of this kind.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureTestServices } from './test-services.mjs';

const root = join(import.meta.dirname, '..');

/** Returns the Node arguments and the environment of the suite. */
export const e2eCommand = ({ mode, workers, env, filter = [] }) => ({
  args: ['node_modules/jest/bin/jest.js', '--config', 'jest.e2e.cjs', '--runInBand', ...filter],
  env: { ...env, BATON_E2E_MODE: mode, BATON_E2E_WORKERS: String(workers) },
});

function runE2e(mode, workers, env, filter) {
  console.log(`\ne2e: ${mode}, ${workers} worker(s)`);
  const command = e2eCommand({ mode, workers, env, filter });
  const options = { cwd: root, stdio: 'inherit', env: { ...process.env, ...command.env } };
  return spawnSync(process.execPath, command.args, options).status ?? 1;
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
      status ||= runE2e(mode, Number(values.workers), services.env, positionals);
    }
  } finally {
    await services.stop();
  }
  process.exit(status);
}
