import { chmodSync, copyFileSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { root } from './processes';

/**
 * Copies the bundles into a new folder, which the caller removes. For long runs: they start processes at any time, possibly
 * during a build. `files` are copied beside the bundles. @throws when there is no complete build.
 */
export function copyOfDist(files: string[] = []): string {
  const copy = mkdtempSync(join(tmpdir(), 'baton-dist-'));
  // Operations run as other users and read the files of the runtime in this folder.
  chmodSync(copy, 0o755);
  cpSync(join(root, 'dist'), copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.map'),
  });
  for (const file of files) copyFileSync(file, join(copy, basename(file)));
  const missing = [
    'apps/standalone/main.js',
    'apps/standalone/migrate.main.js',
    'services/worker/main.js',
    'services/executions/main.js',
  ].filter((file) => !existsSync(join(copy, file)));
  if (missing.length === 0) return copy;
  rmSync(copy, { recursive: true });
  throw new Error(`dist/ has no ${missing.join(', ')}: npm run build`);
}
