import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { isAppError } from '@baton/kernel';
import { linesOf, RowHash } from '@baton/snapshot-part';
import type { z } from 'zod';
import { archiveRefused, type ZipReader } from '../adapters/zip-reader';
import {
  ARCHIVE_VERSION,
  contentHash,
  entryKind,
  MAX_LINE_BYTES,
  MAX_MANIFEST_BYTES,
  type Manifest,
  manifestSchema,
  type SnapshotService,
  sealSchema,
  tableEntry,
} from '../domain/snapshot-archive';
import type { SnapshotDeps } from './snapshot-deps';

/**
 * Reads the whole archive once and compares everything with the sealed manifest: names, counts, hashes. Writes nothing.
 * @throws AppError snapshot_action_error that names the difference.
 */
export async function verifyArchive(
  deps: Pick<SnapshotDeps, 'seals'>,
  zip: ZipReader,
  signal: AbortSignal,
): Promise<Manifest> {
  const manifest = await readManifest(deps, zip);
  checkNames(zip, manifest);
  for (const [service, { tables }] of Object.entries(manifest.services))
    for (const table of tables) {
      signal.throwIfAborted();
      const name = tableEntry(service, table.name);
      const hash = new RowHash();
      for await (const line of readLines(zip, name)) hash.add(line);
      if (hash.rows !== table.rows || hash.digest() !== table.hash)
        throw archiveRefused(`entry ${name} does not hold what the manifest says`, { entry: name });
    }
  await verifyBlobs(zip, manifest, signal);
  if (contentHash(manifest) !== manifest.hash)
    throw archiveRefused('the hash of the whole is not that of its parts');
  return manifest;
}

/** Yields the lines of a table; refuses damaged content and over-long lines. */
export async function* readLines(zip: ZipReader, name: string): AsyncGenerator<Buffer, void, void> {
  try {
    yield* linesOf(await zip.read(name), MAX_LINE_BYTES);
  } catch (error) {
    throw isAppError(error)
      ? error
      : archiveRefused(`entry ${name}: ${(error as Error).message}`, { entry: name });
  }
}

async function readManifest({ seals }: Pick<SnapshotDeps, 'seals'>, zip: ZipReader): Promise<Manifest> {
  const text = await readSmall(zip, 'manifest.json');
  const seal = parsed(sealSchema, await readSmall(zip, 'seal.json'), 'seal.json');
  const answer = await seals.check(createHash('sha256').update(text).digest(), seal);
  if (answer === 'unknown-key')
    throw archiveRefused(
      `it was made under the master key ${seal.master_key_id}, which is not configured here; set it as BATON_SECRETS_KEY or among BATON_SECRETS_OLD_KEYS`,
      { master_key_id: seal.master_key_id },
    );
  if (answer === 'forged') throw archiveRefused('its manifest is not the one that was sealed');
  const version = (JSON.parse(text.toString('utf8')) as { snapshot_version?: unknown }).snapshot_version;
  if (typeof version === 'number' && version > ARCHIVE_VERSION)
    throw archiveRefused(
      `it is of version ${version}, newer than this manager, which knows ${ARCHIVE_VERSION}`,
    );
  return parsed(manifestSchema, text, 'manifest.json');
}

async function readSmall(zip: ZipReader, name: string): Promise<Buffer> {
  const entry = zip.entries.get(name);
  if (!entry)
    throw archiveRefused(`it has no ${name}; only archives that Baton made can be restored`, { entry: name });
  if (entry.size > MAX_MANIFEST_BYTES) throw archiveRefused(`entry ${name} is too large`, { entry: name });
  const pieces: Buffer[] = [];
  for await (const piece of await zip.read(name)) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function parsed<S extends z.ZodType>(schema: S, text: Buffer, name: string): z.output<S> {
  try {
    return schema.parse(JSON.parse(text.toString('utf8')));
  } catch (error) {
    throw archiveRefused(`entry ${name} is not as it should be: ${(error as Error).message.slice(0, 500)}`);
  }
}

/** Checks that the archive has exactly the entries that the manifest names. */
function checkNames(zip: ZipReader, manifest: Manifest): void {
  let tables = 0;
  for (const name of zip.entries.keys()) {
    const kind = entryKind(name);
    if (kind === null) throw archiveRefused(`entry ${name} has no place in it`, { entry: name });
    if (kind.kind !== 'table') continue;
    const known = manifest.services[kind.service as SnapshotService]?.tables ?? [];
    if (!known.some((table) => table.name === kind.table))
      throw archiveRefused(`entry ${name} is not in the manifest`, { entry: name });
    tables++;
  }
  const named = Object.values(manifest.services).reduce((sum, { tables: list }) => sum + list.length, 0);
  if (named !== tables) throw archiveRefused(`${named - tables} tables of the manifest are missing`);
}

async function verifyBlobs(zip: ZipReader, { blobs }: Manifest, signal: AbortSignal): Promise<void> {
  const hash = new RowHash();
  for (const name of zip.entries.keys()) {
    const kind = entryKind(name);
    if (kind?.kind !== 'blob') continue;
    signal.throwIfAborted();
    if ((await digestOf(await zip.read(name))) !== kind.digest)
      throw archiveRefused(`entry ${name} does not hold what its name says`, { entry: name });
    hash.add(kind.digest);
  }
  if (hash.rows !== blobs.count || hash.digest() !== blobs.hash)
    throw archiveRefused(`it holds ${hash.rows} files, not the ${blobs.count} of its manifest`);
}

async function digestOf(content: Readable): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const piece of content) hash.update(piece as Buffer);
  } catch (error) {
    throw archiveRefused(`it is damaged: ${(error as Error).message}`);
  }
  return hash.digest('hex');
}
