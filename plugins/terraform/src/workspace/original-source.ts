import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FatalError, type HeldLock } from '@baton/plugin-sdk';
import type { ModuleScope } from '../module/schema';
import { packFolder } from '../source/pack';
import { refuseLinksOut } from '../source/refuse-links';
import { moduleFolder } from '../source/safe-path';
import { unpack } from '../source/unpack';
import { FILES, markOf } from '../state/state-keeper';

/** Whether the original plugin has kept the module of the instance. */
export const isOriginal = ({ runtime }: Pick<ModuleScope, 'runtime'>): boolean =>
  typeof runtime.terraform_source === 'string' && runtime.terraform_source !== '';

/**
 * Moves what the original plugin keeps in the runtime property `terraform_source`, the module with its state as a zip in base64, to
 * files of the instance. Only an operation that holds the lock does it; the property goes last, so that a crash repeats the move.
 */
export async function moveOriginal(
  scope: ModuleScope,
  sourcePath: string,
  lock: HeldLock | null,
): Promise<void> {
  const { runtime, files, log } = scope;
  const packed = runtime.terraform_source;
  if (!isOriginal(scope) || lock === null) return;
  if ((await files.read(FILES.state)) === null) {
    const folder = await mkdtemp(join(tmpdir(), 'terraform-moved-'));
    try {
      await unpack(Buffer.from(packed as string, 'base64'), folder);
      await refuseLinksOut(folder);
      const state = await readFile(
        join(await moduleFolder(folder, sourcePath), 'terraform.tfstate'),
        'utf8',
      ).catch(() => null);
      if (state !== null && markOf(state) === null)
        throw new FatalError('the runtime property terraform_source holds a state that cannot be read');
      await files.write(FILES.source, await packFolder(folder));
      if (state !== null) await lock.write(state);
      log.info('Moved module and state from the runtime property terraform_source to files of the instance');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  delete runtime.terraform_source;
}
