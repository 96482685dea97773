import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../apps/cli/src/run';
import { quietIo } from '../../apps/cli/src/testing-io';
import { linkTools } from './author-folder';
import { root } from './processes';

/** Builds the package of a plugin of test/e2e/plugins, as an author does in a folder of his own. */
export async function builtPlugin(name: string): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), `baton-${name}-`));
  try {
    cpSync(join(root, 'test/e2e/plugins', name), folder, { recursive: true });
    linkTools(folder);
    const { io, err } = quietIo({});
    const file = join(folder, `${name}.bplug`);
    const code = await runCli(['node', 'baton', 'plugins', 'build', folder, '--out', file], io);
    expect([code, err()]).toEqual([0, '']);
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
