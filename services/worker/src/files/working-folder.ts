/**
 * The working folder of a deployment, shared by all workers. The file server has the folder (services/catalog). Every worker has
 * a copy: it is brought up to date when an operation opens it, and stored when the operation ends, before its outcome is
 * reported.
 * When two operations write the same file at the same time, the later end wins, file by file. A file beside the copy
 * (`<id>.json`) lists the files that equal stored ones. Any other file is the work of an operation: it is stored at the next end,
 * and only a newer stored file replaces it. A worker that dies loses what its operations wrote since the last end; its copies are
 * deleted too (sweepOwnDirs of packages/plugin-runtime).
 */
import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { isAppError, newId } from '@baton/kernel';
import { requireCases } from '@baton/plugin-runtime';
import { FatalError } from '@baton/plugin-sdk';
import type {
  CatalogClient,
  FolderContents,
  FolderFile,
  FolderName,
  FolderWrite,
} from '../adapters/catalog.client';
import type { FolderIndex } from './folder-index';
import { type Account, type LocalFile, openInside, placeInside, removeInside, scanTree } from './local-tree';

export interface FolderDeps {
  catalog: Pick<CatalogClient, 'readStored' | 'storePiece' | 'changeFolder'>;
  index: FolderIndex;
  account: Account;
}

/** A file of the copy that equals the stored one with this digest. */
interface KnownFile {
  digest: string;
  size: number;
  modifiedMs: number;
}
type Known = Record<string, KnownFile>;

const PIECE_BYTES = 1024 * 1024;
const BATCH_FILES = 500;
/** The most bytes of content in one call, and the largest file that is sent whole in it. */
const BATCH_BYTES = 1024 * 1024;
const WHOLE_BYTES = 256 * 1024;
const DOWNLOAD_TRIES = 5;

const knownPath = (dir: string): string => `${dir}.json`;

const isClean = (local: LocalFile | undefined, known: KnownFile | undefined): boolean =>
  local !== undefined && known?.size === local.size && known.modifiedMs === local.modifiedMs;

async function readKnown(dir: string): Promise<Known> {
  const text = await readFile(knownPath(dir), 'utf8').catch(() => '{}');
  try {
    return Object.assign(Object.create(null), JSON.parse(text)) as Known;
  } catch {
    // Cut off by a crash: then every file counts as the work of an operation.
    return Object.create(null) as Known;
  }
}

async function writeKnown(dir: string, known: Known): Promise<void> {
  const part = `${knownPath(dir)}.${newId()}`;
  await writeFile(part, JSON.stringify(known), { mode: 0o600 });
  await rename(part, knownPath(dir));
}

/**
 * Brings the copy in `dir` up to date and returns the stored contents. Calls for the same folder must not overlap in a process.
 * @throws AppError when the file server cannot be reached; FatalError when this disk cannot hold two of the names
 */
export async function bringDown(deps: FolderDeps, folder: FolderName, dir: string): Promise<FolderContents> {
  for (let left = DOWNLOAD_TRIES; ; left--) {
    const stored = await deps.index.read(folder);
    await requireCases(dir, stored.files.keys());
    try {
      await replaceStale(deps, folder, dir, stored);
      return stored;
    } catch (error) {
      // A file was replaced since the list was read: the next list has the new one.
      if (left <= 1 || !isAppError(error, 'not_found_error')) throw error;
    }
  }
}

async function replaceStale(
  deps: FolderDeps,
  folder: FolderName,
  dir: string,
  stored: FolderContents,
): Promise<void> {
  const known = await readKnown(dir);
  const local = await scanTree(dir);
  try {
    for (const [path, entry] of Object.entries(known)) {
      if (stored.files.has(path)) continue;
      if (isClean(local.get(path), entry)) await removeInside(dir, path);
      delete known[path];
    }
    for (const file of stored.files.values()) {
      const there = local.get(file.path);
      const clean = isClean(there, known[file.path]);
      if (clean && known[file.path]!.digest === file.digest) continue;
      if (there && !clean && there.modifiedMs * 1000 > file.modifiedUs) continue;
      await fetchFile(deps, folder, dir, file, known);
    }
  } finally {
    // Also after a failure: the files fetched so far are recorded.
    await writeKnown(dir, known);
  }
}

async function fetchFile(
  deps: FolderDeps,
  folder: FolderName,
  dir: string,
  file: FolderFile,
  known: Known,
): Promise<void> {
  const { path, digest, mode, modifiedUs } = file;
  const content = deps.catalog.readStored(folder, path, digest);
  const placed = await placeInside(dir, path, content, { mode, modifiedUs, account: deps.account });
  // Null: the operation has something else in this place, which is left alone.
  if (placed !== null) known[path] = { digest, size: placed.size, modifiedMs: placed.modifiedMs };
}

/**
 * Stores files that differ from the stored ones, and removes files that the operation has removed (`opened`: the stored contents
 * when it opened the folder). `mayWrite` is called before each write.
 * @throws FatalError when the folder exceeds its limits, or a name in it is not UTF-8; AppError when the file server cannot be
 * reached
 */
export async function bringUp(
  deps: FolderDeps,
  folder: FolderName,
  dir: string,
  opened: FolderContents,
  mayWrite: () => boolean,
): Promise<void> {
  const unnamed: string[] = [];
  const local = await scanTree(dir, (shown) => unnamed.push(shown));
  checkNames(unnamed);
  checkCaps(local, opened);
  const known = await readKnown(dir);
  const removes = [...opened.files.values()]
    .filter((file) => !local.has(file.path))
    .map(({ path, digest }) => ({ path, digest: known[path]?.digest ?? digest }));
  const changed = [...local].filter(([path, file]) => !isClean(file, known[path]));
  if (removes.length === 0 && changed.length === 0) return;
  let batch: FolderWrite = { writes: [], removes };
  let bytes = 0;
  const send = async (): Promise<void> => {
    if (batch.writes.length === 0 && batch.removes.length === 0) return;
    if (!mayWrite()) throw new Error('the lease of the operation has run out');
    await deps.catalog.changeFolder(folder, batch);
    batch = { writes: [], removes: [] };
    bytes = 0;
  };
  for (const { path } of removes) delete known[path];
  for (const [path, file] of changed) {
    const read = await readLocal(deps, dir, path, known[path]?.digest);
    if (read === null) continue;
    known[path] = { digest: read.digest, size: file.size, modifiedMs: file.modifiedMs };
    if (read.isStored) continue;
    const { content, pieces } = read;
    batch.writes.push({
      path,
      mode: file.mode,
      modifiedUs: Math.round(file.modifiedMs * 1000),
      content,
      pieces,
    });
    bytes += content.length;
    if (batch.writes.length >= BATCH_FILES || bytes >= BATCH_BYTES) await send();
  }
  await send();
  // Only after all calls: a file that was not stored must not be recorded as stored.
  await writeKnown(dir, known);
}

interface ReadFile {
  digest: string;
  /** The content is stored already; only the time of the file differs. */
  isStored: boolean;
  content: Buffer;
  pieces: string[];
}

/**
 * Reads a file: its content for the call, or the digests of stored pieces; null when the file was removed meanwhile, or is a
 * link.
 */
async function readLocal(
  deps: FolderDeps,
  dir: string,
  path: string,
  storedDigest: string | undefined,
): Promise<ReadFile | null> {
  const file = await openInside(dir, path);
  if (file === null) return null;
  try {
    const hash = createHash('sha256');
    const pieces: string[] = [];
    // Reads only up to the present size: a program that keeps writing would never be caught up with. The time of the file then
    // differs, so the rest is stored at the next end.
    let left = (await file.stat()).size;
    const buffer = Buffer.alloc(Math.min(PIECE_BYTES, left + 1));
    const next = async (): Promise<Buffer> => {
      const part = await fill(file, buffer.subarray(0, Math.min(buffer.length, left)));
      left -= part.length;
      return part;
    };
    let content: Buffer = Buffer.alloc(0);
    for (let part = await next(); part.length > 0; part = await next()) {
      hash.update(part);
      const isWhole = pieces.length === 0 && part.length < buffer.length && part.length <= WHOLE_BYTES;
      if (isWhole) content = Buffer.from(part);
      else pieces.push(await deps.catalog.storePiece(part));
      if (part.length < buffer.length) break;
    }
    const digest = hash.digest('hex');
    return { digest, isStored: digest === storedDigest, content, pieces };
  } finally {
    await file.close();
  }
}

async function fill(
  file: { read(b: Buffer, at: number, length: number, position: null): Promise<{ bytesRead: number }> },
  buffer: Buffer,
): Promise<Buffer> {
  let at = 0;
  while (at < buffer.length) {
    const { bytesRead } = await file.read(buffer, at, buffer.length - at, null);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return buffer.subarray(0, at);
}

/**
 * Refuses names that are not UTF-8: paths of the file server are texts, so such files would silently be missing on every other
 * worker.
 */
function checkNames([first, ...others]: readonly string[]): void {
  if (first === undefined) return;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  throw new FatalError(
    `the working folder of the deployment has a file whose name is not UTF-8, ${first}${more}; it cannot be kept: rename or remove it`,
  );
}

function checkCaps(
  local: ReadonlyMap<string, LocalFile>,
  { maxFiles, maxBytes, maxFileBytes }: FolderContents,
): void {
  let bytes = 0;
  for (const [path, { size }] of local) {
    bytes += size;
    if (size > maxFileBytes)
      throw new FatalError(
        `the working folder of the deployment has a file of ${size} bytes, ${path}; at most ${maxFileBytes} can be kept`,
      );
  }
  if (local.size > maxFiles || bytes > maxBytes)
    throw new FatalError(
      `the working folder of the deployment holds ${local.size} files of ${bytes} bytes; at most ${maxFiles} files of ${maxBytes} bytes can be kept`,
    );
}
