import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BaseScope, FatalError } from '@baton/plugin-sdk';
import type { Target } from './local-file';

type Scope = Pick<BaseScope, 'exec'>;

/** Places a file with sudo. No program sees a shell: a path is one argument. @throws FatalError when sudo refuses */
export async function placeBySudo(
  scope: Scope,
  content: Uint8Array,
  { path, owner, mode }: Target,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-file-'));
  try {
    const draft = join(folder, 'content');
    await writeFile(draft, content, { mode: 0o600 });
    await sudo(scope, ['cp', '--', draft, path]);
    await sudo(scope, ['chown', '--', owner, path]);
    await sudo(scope, ['chmod', '--', String(mode), path]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const removeBySudo = (scope: Scope, path: string): Promise<void> =>
  sudo(scope, ['rm', '-f', '--', path]);

/** -n: without a password, since nobody is there to type one. */
async function sudo({ exec }: Scope, args: string[]): Promise<void> {
  try {
    await exec('sudo', ['-n', ...args]);
  } catch (cause) {
    throw new FatalError(
      `sudo ${args[0]} failed: the user of the worker may not use sudo here (isolated operations never may): ${(cause as Error).message}`,
      { cause },
    );
  }
}
