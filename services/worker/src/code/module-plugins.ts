import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Clock, isJsonObject, type Json, newId } from '@baton/kernel';
import type { ModulePlugin } from '@baton/plugin-runtime';
import { FatalError } from '@baton/plugin-sdk';
import { extract } from 'tar-stream';

/** Ending of the archive name of a TypeScript plugin; the catalog gives it to nothing else. */
const ENDING = '.bplug';
/** A plugin that is unused for this long is removed. */
const UNUSED_MS = 14 * 24 * 3600_000;
/** What is left of an unpacking whose worker died is removed after this time. */
const ABANDONED_MS = 3600_000;
/** How often the time of the last use is written. */
const TOUCH_MS = 60_000;
const MAX_BYTES = 1024 * 1024 * 1024;
const MANIFEST = 'plugin.json';

export const isModuleArchive = (archiveName: string): boolean => archiveName.endsWith(ENDING);

export interface ModulePlugins {
  /**
   * Returns the plugin with that digest, and unpacks it on this machine if needed. `locate` returns the path of the archive.
   * @throws FatalError when it cannot be unpacked
   */
  of(digest: string, locate: () => Promise<string>): Promise<Omit<ModulePlugin, 'properties'>>;
}

interface Placed {
  module: Omit<ModulePlugin, 'properties'>;
  touchedMs: number;
}

/** Manages TypeScript plugins as folders `plugins/modules/<digest>` below `workRoot`, shared by the workers of this machine. */
export function createModulePlugins({
  workRoot,
  clock,
  allowsInspect = false,
}: {
  workRoot: string;
  clock: Clock;
  /** Whether a build under development may have a debugger on this machine. */
  allowsInspect?: boolean;
}): ModulePlugins {
  const root = join(workRoot, 'plugins', 'modules');
  const placing = new Map<string, Promise<void>>();
  const placed = new Map<string, Placed>();

  const ensure = async (digest: string, target: string, locate: () => Promise<string>): Promise<void> => {
    const now = new Date(clock.now());
    if (await isTouched(target, now)) return;
    const running =
      placing.get(target) ?? place(root, { digest, target }, locate).finally(() => placing.delete(target));
    placing.set(target, running);
    await running;
    await removeUnused(root, clock.now());
  };

  return {
    of: async (digest, locate) => {
      const target = join(root, digest.replaceAll(/[^\w-]/g, '_'));
      const known = placed.get(target);
      if (known && clock.monotonic() - known.touchedMs < TOUCH_MS) return known.module;
      await ensure(digest, target, locate);
      const module = known?.module ?? {
        kind: 'module' as const,
        folder: target,
        ...(await declared(target, allowsInspect)),
      };
      placed.set(target, { module, touchedMs: clock.monotonic() });
      return module;
    },
  };
}

const isTouched = (path: string, now: Date): Promise<boolean> =>
  utimes(path, now, now).then(
    () => true,
    () => false,
  );

/** What plugin.json says: names of secrets (null: it has no list), and the port of a debugger. */
async function declared(
  folder: string,
  allowsInspect: boolean,
): Promise<Pick<ModulePlugin, 'secrets' | 'inspectPort'>> {
  const about = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as Json;
  const { secrets: names, development } = isJsonObject(about) ? about : {};
  const secrets = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : null;
  const port = isJsonObject(development) ? development.inspect : null;
  const isPort = typeof port === 'number' && Number.isInteger(port) && port >= 1024 && port <= 65_535;
  return { secrets, ...(allowsInspect && isPort ? { inspectPort: port } : {}) };
}

/**
 * Unpacks beside the target and renames, after the digest of the archive has been checked: a folder with that name is complete. When two workers unpack at once, the first one wins;
 * both have the same content.
 */
async function place(
  root: string,
  { digest, target }: { digest: string; target: string },
  locate: () => Promise<string>,
): Promise<void> {
  const archive = await locate();
  const part = join(root, `.part-${newId()}`);
  await mkdir(root, { recursive: true, mode: 0o711 });
  await mkdir(part, { mode: 0o755 });
  try {
    const found = await unpack(archive, part);
    if (found !== digest) throw new Error(`its digest is ${found}, expected ${digest}`);
    await openToAll(part);
    await rename(part, target).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } catch (cause) {
    // Another try downloads it again.
    await rm(archive, { force: true });
    if ((cause as NodeJS.ErrnoException).code === 'ENOSPC') throw cause;
    throw new FatalError(`the TypeScript plugin cannot be unpacked: ${(cause as Error).message}`, { cause });
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/**
 * Writes the files of the archive. The catalog has refused odd ones already; this worker does not rely on that. Returns the SHA-256 of the
 * archive in hex.
 */
async function unpack(archive: string, folder: string): Promise<string> {
  const tar = extract();
  const hash = createHash('sha256');
  const hashed = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
  const reading = pipeline(createReadStream(archive), hashed, createGunzip(), tar);
  reading.catch(() => undefined);
  let bytes = 0;
  for await (const entry of tar) {
    const { name, type } = entry.header;
    if (type !== 'file' || !isInside(name))
      throw new Error(`${JSON.stringify(name)} is no file inside of it`);
    const chunks: Buffer[] = [];
    for await (const chunk of entry as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new Error(`it holds more than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    const place = join(folder, name);
    await mkdir(dirname(place), { recursive: true, mode: 0o755 });
    await writeFile(place, Buffer.concat(chunks), { flag: 'wx', mode: 0o644 });
  }
  await reading;
  return hash.digest('hex');
}

/** The accounts of tenants read the files, whatever the umask of the worker is. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}

const isInside = (name: string): boolean =>
  name !== '' && !name.startsWith('/') && !/[\\\0]/.test(name) && !name.split('/').includes('..');

async function removeUnused(root: string, nowMs: number): Promise<void> {
  for (const name of await readdir(root).catch(() => [])) {
    const limitMs = name.startsWith('.part-') ? ABANDONED_MS : UNUSED_MS;
    const found = await stat(join(root, name)).catch(() => null);
    if (found && found.mtimeMs < nowMs - limitMs)
      await rm(join(root, name), { recursive: true, force: true });
  }
}
