/** The files that operations need besides the program (ctx, the Python runner, the host of TypeScript plugins), inside of it. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { gunzipSync } from 'node:zlib';
import { defaultAssetsDir } from '@baton/plugin-runtime';
import { z } from 'zod';
import { AgentFailure, exitCodes } from './exit-codes';

const ASSETS_NAME = 'lib.json.gz';

const packed = z.object({
  files: z.record(z.string(), z.object({ mode: z.number(), sha256: z.string(), data: z.string() })),
});
type Packed = z.infer<typeof packed>;

/**
 * Returns the folder with the assets of this program. It is unpacked below `lib` when it is missing or differs; those of older
 * versions are removed. @throws AgentFailure disk
 */
export function assetsOf(lib: string, version: string): string {
  if (!isSea()) return defaultAssetsDir;
  const { files, digest } = assetsInside();
  const folder = join(lib, `${version}-${digest.slice(0, 12)}`);
  try {
    if (!isWhole(folder, files)) unpack(folder, files);
    for (const name of readdirSync(lib))
      if (join(lib, name) !== folder) rmSync(join(lib, name), { recursive: true, force: true });
  } catch (cause) {
    throw new AgentFailure(exitCodes.disk, `${folder}: ${(cause as Error).message}`, { cause });
  }
  return folder;
}

/** Returns the assets in this program. @throws Error when they are not whole */
export function assetsInside(): Packed & { digest: string } {
  const bytes = Buffer.from(getAsset(ASSETS_NAME));
  const read = packed.parse(JSON.parse(gunzipSync(bytes).toString('utf8')));
  return { ...read, digest: createHash('sha256').update(bytes).digest('hex') };
}

function isWhole(folder: string, files: Packed['files']): boolean {
  return Object.entries(files).every(([name, { mode, sha256 }]) => {
    try {
      const path = join(folder, name);
      const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
      return digest === sha256 && (statSync(path).mode & 0o777) === mode;
    } catch {
      return false;
    }
  });
}

/** Unpacks beside the folder and renames: a crash leaves the old folder or none. */
function unpack(folder: string, files: Packed['files']): void {
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  for (const [name, { mode, data }] of Object.entries(files)) {
    const path = join(part, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    writeFileSync(path, Buffer.from(data, 'base64'));
    chmodSync(path, mode);
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(part, folder);
}
