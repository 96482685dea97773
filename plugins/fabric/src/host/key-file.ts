import { open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';

const MAX_BYTES = 64 * 1024;

/** Reads a private key from a file of the worker. @throws FatalError when it cannot be read, without its content */
export async function readKeyFile(given: string): Promise<string> {
  const path = given.startsWith('~/') ? join(homedir(), given.slice(2)) : given;
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new FatalError(
      `key_filename: ${given} cannot be read on this worker (${error.code}): expected a file that the account of the plugin may read. ` +
        'A secret of the manager is better: key: { get_secret: NAME }',
    );
  });
  try {
    if (!(await file.stat()).isFile()) throw new FatalError(`key_filename: ${given} is no file`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
