import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { productVersion } from '@baton/service-runtime';
import { cliEnvironment, cliMain } from './demo';
import type { Manager } from './manager';

const LIMIT_MS = 120_000;

/**
 * Uploads the plugins that come with Baton, for all tenants: once after the first start, and once after each upgrade. A plugin that
 * somebody deletes stays away until then. Without them the manager works as well, so a failure is only told.
 * A crash before the mark is written repeats the uploads, which changes nothing.
 * @returns a sentence about a failure; null: there is none
 */
export async function offerBundledPlugins(
  manager: Manager,
  environment: NodeJS.ProcessEnv,
): Promise<string | null> {
  const mark = join(manager.home.dir, 'bundled-plugins.version');
  const isDone = existsSync(mark) && readFileSync(mark, 'utf8').trim() === productVersion;
  if (isDone || manager.adminPassword === null || !areThere()) return null;
  const problem = await upload(manager, environment);
  if (problem !== null) return `${problem} (later: baton plugins upload bundled:all)`;
  writeFileSync(mark, `${productVersion}\n`, { mode: 0o600 });
  return null;
}

/** Beside the bundle of this program; a manager that runs from its sources has none. */
const areThere = (): boolean =>
  existsSync(join(dirname(require.main?.filename ?? __filename), '../../plugins'));

function upload(manager: Manager, environment: NodeJS.ProcessEnv): Promise<string | null> {
  const command = ['plugins', 'upload', 'bundled:all', '--visibility', 'global'];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [cliMain(), ...command], {
      env: cliEnvironment(manager, environment),
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: LIMIT_MS,
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-2_000);
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => resolve(code === 0 ? null : said.trim() || `exit code ${code}`));
  });
}
