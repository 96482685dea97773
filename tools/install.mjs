// Updates node_modules to the lock file, with only Node.js and npm present, and activates the Git hooks of this repository.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PNPM = 'pnpm@10.34.9';
const root = join(import.meta.dirname, '..');

/** Runs pnpm through npx; throws when it fails. */
function pnpm(args, options = {}) {
  const run = spawnSync('npx', ['--yes', PNPM, ...args], {
    cwd: root,
    stdio: options.quiet ? ['ignore', 'ignore', 'inherit'] : 'inherit',
    // Without a terminal pnpm refuses to replace a node_modules of another pnpm.
    env: { ...process.env, CI: '1' },
  });
  if (run.status !== 0) throw new Error(`pnpm ${args.join(' ')} failed`);
}

/**
 * Activates the Git hooks of `.githooks`. Only in its own checkout: not in an archive without Git, and not if `folder` lies
 * inside another repository. Keeps a hooks path that somebody has set.
 */
export function useHooks(folder = root) {
  const git = (...args) => spawnSync('git', args, { cwd: folder, encoding: 'utf8' });
  const top = git('rev-parse', '--show-toplevel');
  if (top.status !== 0 || realpathSync(top.stdout.trim()) !== realpathSync(folder)) return;
  if (git('config', 'core.hooksPath').stdout.trim() === '') git('config', 'core.hooksPath', '.githooks');
}

/** Installs if the lock file changed since the last time; returns whether it installed. */
export function ensureInstalled() {
  const lock = readFileSync(join(root, 'pnpm-lock.yaml'));
  const digest = createHash('sha256').update(lock).update(process.version).digest('hex');
  const stamp = join(root, 'node_modules', '.baton-installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return false;
  console.log('baton: installing dependencies ...');
  pnpm(['install', '--frozen-lockfile', '--prefer-offline'], { quiet: true });
  useHooks();
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(stamp, digest);
  return true;
}
