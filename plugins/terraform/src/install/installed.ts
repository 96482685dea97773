import { createHash } from 'node:crypto';
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BaseScope, FatalError, requireDownloads } from '@baton/plugin-sdk';
import * as z from 'zod';
import { download, shown } from '../source/download';
import { unpack } from '../source/unpack';

/** Where a program comes from, as a node of cloudify.nodes.terraform hands it to its modules. */
const INSTALLATION = z.object({
  source: z.string(),
  sha256: z.string().optional(),
  /** Providers, name -> URL of a zip. */
  plugins: z.record(z.string(), z.string()).default({}),
});

const MAX_BYTES = 256 * 1024 * 1024;
const NAMES = ['terraform', 'tofu'];

type Scope = Pick<BaseScope, 'log' | 'http'>;

/**
 * Returns the program of an installation, on this machine. It is downloaded once for a process of the plugin: the name of its folder
 * is the digest of the address, and a folder is there completely or not at all.
 * @throws FatalError for a refused download, another digest, or an archive without the program
 */
export async function installed(scope: Scope, given: unknown): Promise<string> {
  const parsed = INSTALLATION.safeParse(given);
  if (!parsed.success)
    throw new FatalError('the runtime property installation is not what install has written');
  const { source, sha256 } = parsed.data;
  const key = createHash('sha256')
    .update(`${source}\n${sha256 ?? ''}`)
    .digest('hex');
  const folder = join(tmpdir(), `baton-terraform-${key.slice(0, 32)}`);
  const known = await programIn(folder);
  if (known !== null) return known;
  requireDownloads(shown(source));
  scope.log.info(`Downloading ${shown(source)}`);
  const content = await download(scope, source, { maxBytes: MAX_BYTES, sha256 });
  const draft = await mkdtemp(`${folder}.`);
  try {
    await place(content, draft);
    // Somebody else may have been first: the content is the same.
    await rename(draft, folder).catch(() => undefined);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  const found = await programIn(folder);
  if (found === null) throw new FatalError(`the installation_source holds no program ${NAMES.join(' or ')}`);
  return found;
}

/** An archive, or the program itself. */
async function place(content: Uint8Array, folder: string): Promise<void> {
  const begin = Buffer.from(content.subarray(0, 4)).toString('latin1');
  const isProgram = begin.endsWith('ELF') || begin.startsWith('#!');
  if (isProgram) await writeFile(join(folder, NAMES[0]!), content, { mode: 0o700 });
  else await unpack(content, folder);
}

async function programIn(folder: string): Promise<string | null> {
  for (const name of NAMES) {
    const path = join(folder, name);
    if ((await stat(path).catch(() => null))?.isFile()) return path;
  }
  return null;
}
