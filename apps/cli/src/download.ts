import { createWriteStream, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Download } from '@baton/client';
import type { CliIo } from './cli-io';
import { CommandFailure } from './failure';
import type { Printer } from './output';
import { progress } from './progress';

/**
 * Writes a download to a file. What a server proposes as a name is only that: without its folders, never hidden, and never in
 * place of a file that is there. A part of a file is removed when the connection breaks; when the process dies, the part stays
 * and the command is repeated.
 * @param named file that the caller asked for
 * @param otherwise file when neither the caller nor the server names one
 * @throws CommandFailure when a file that nobody named is there already
 */
export async function saveDownload(
  { io, out }: { io: CliIo; out: Printer },
  download: Download,
  named: string | undefined,
  otherwise: string,
): Promise<void> {
  const proposed = basename((download.filename ?? '').replaceAll('\\', '/'));
  const target = named ?? (proposed === '' || proposed.startsWith('.') ? otherwise : proposed);
  if (named === undefined && existsSync(target))
    throw new CommandFailure(`${target} is there already; say where to write: the file is the last argument`);
  try {
    await pipeline(
      Readable.fromWeb(download.body),
      progress(io, 'downloaded', download.length),
      createWriteStream(target),
    );
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
  out.done(`Written to ${target}.`, { file: target }, { name: 'file' });
}
