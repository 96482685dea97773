// What the tests of examples share: a manager with the plugins of this repository.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './processes';

/** The package of plugins/<folder>, as `baton plugins build` makes it. */
export function builtPlugin(folder: string): Buffer {
  const place = mkdtempSync(join(tmpdir(), `baton-${folder}-`));
  try {
    const file = join(place, `${folder}.bplug`);
    const cli = ['--import', 'tsx', join(root, 'apps/cli/src/main.ts')];
    execFileSync(process.execPath, [...cli, 'plugins', 'build', `plugins/${folder}`, '--out', file], {
      cwd: root,
    });
    return readFileSync(file);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
