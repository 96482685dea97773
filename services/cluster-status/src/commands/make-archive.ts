import { createHash } from 'node:crypto';
import type { snapshotsRpc } from '@baton/contracts';
import { isoInstant } from '@baton/kernel';
import { productVersion } from '@baton/service-runtime';
import { RowHash, shareInstant } from '@baton/snapshot-part';
import { PART_DEADLINE_MS } from '../adapters/snapshot-parts';
import { createZipWriter, type ZipWriter } from '../adapters/zip-writer';
import {
  ARCHIVE_VERSION,
  blobEntry,
  contentHash,
  EXPORT_ORDER,
  type Manifest,
  type ManifestTable,
  type SnapshotService,
  tableEntry,
} from '../domain/snapshot-archive';
import type { JobVoice, SnapshotDeps } from './snapshot-deps';

type Pieces = AsyncIterator<snapshotsRpc.ExportPiece>;
interface OpenPart {
  service: SnapshotService;
  pieces: Pieces;
  header: snapshotsRpc.ExportHeader;
}

export interface ArchiveRequest {
  executionId: string;
  includeEvents: boolean;
  includeLogs: boolean;
}

const NEWLINE = 0x0a;

/**
 * Writes the archive of the whole manager to the file `path`: first fixes the instants of all services, then reads one service
 * after the other, a piece at a time. Nothing else is stored; after a crash the loop temporary-sweep deletes the file.
 */
export async function makeArchive(
  deps: SnapshotDeps,
  request: ArchiveRequest,
  path: string,
  voice: JobVoice,
): Promise<Manifest> {
  const { parts, isShared } = await openParts(deps, request, voice.signal);
  const zip = createZipWriter(path);
  try {
    await addText(zip, 'metadata.json', {
      snapshot_version: ARCHIVE_VERSION,
      execution_id: request.executionId,
      format: 'baton-snapshot',
    });
    const services: Manifest['services'] = {};
    const digests = new Set<string>();
    for (const part of parts) {
      const written = await writePart(zip, part, digests, voice.signal);
      services[part.service] = written;
      const rows = written.tables.reduce((sum, table) => sum + table.rows, 0);
      await voice.say(`Exported ${part.service}: ${written.tables.length} tables, ${rows} rows`);
    }
    const blobs = await writeBlobs(deps, zip, digests, voice.signal);
    await voice.say(`Exported ${blobs.count} files, ${blobs.bytes} bytes`);
    const manifest: Manifest = {
      format: 'baton-snapshot',
      snapshot_version: ARCHIVE_VERSION,
      product_version: productVersion,
      created_at: isoInstant(deps.clock.now()),
      execution_id: request.executionId,
      consistency: isShared ? 'shared' : 'ordered',
      options: { include_events: request.includeEvents, include_logs: request.includeLogs },
      services,
      blobs,
      hash: contentHash({ services, blobs }),
    };
    const digest = await addText(zip, 'manifest.json', manifest);
    await addText(zip, 'seal.json', await deps.seals.seal(digest));
    await zip.finish();
    return manifest;
  } catch (error) {
    zip.abort(error as Error);
    throw error;
  } finally {
    await Promise.allSettled(parts.map(({ pieces }) => pieces.return?.()));
  }
}

/** Opens the export of every service, in the order of EXPORT_ORDER. Every service fixes its instant before any service is read. */
async function openParts(deps: SnapshotDeps, request: ArchiveRequest, signal: AbortSignal) {
  const instant = await shareInstant(deps.db.pool);
  const { postgresSnapshot, databaseId } = instant;
  const { includeEvents, includeLogs } = request;
  const parts: OpenPart[] = [];
  try {
    for (const service of EXPORT_ORDER) {
      const stream = deps.parts[service].export(
        { postgresSnapshot, databaseId, includeEvents, includeLogs },
        { deadlineMs: PART_DEADLINE_MS, signal },
      );
      const pieces = stream[Symbol.asyncIterator]();
      const first = await pieces.next();
      if (first.done || !first.value.header) throw new Error(`${service} did not say what it exports`);
      parts.push({ service, pieces, header: first.value.header });
    }
    return { parts, isShared: parts.every(({ header }) => header.isShared) };
  } catch (error) {
    await Promise.allSettled(parts.map(({ pieces }) => pieces.return?.()));
    throw error;
  } finally {
    await instant.release();
  }
}

/**
 * Writes the export of one service. Rows come grouped by table, in the order of the header; tables without rows have no pieces.
 * Digests of blobs come at the end.
 */
async function writePart(
  zip: ZipWriter,
  { service, pieces, header }: OpenPart,
  digests: Set<string>,
  signal: AbortSignal,
): Promise<NonNullable<Manifest['services'][SnapshotService]>> {
  const tables: ManifestTable[] = [];
  let piece = await pieces.next();
  for (const { name, columns } of header.tables) {
    const hash = new RowHash();
    const entry = zip.open(tableEntry(service, name));
    for (; !piece.done && piece.value.table === name; piece = await pieces.next()) {
      signal.throwIfAborted();
      addLines(hash, piece.value.rows);
      await entry.write(piece.value.rows);
    }
    await entry.end();
    tables.push({ name, columns, rows: hash.rows, hash: hash.digest() });
  }
  let blobs = 0;
  for (; !piece.done; piece = await pieces.next()) {
    if (piece.value.table !== '') throw new Error(`${service} exports ${piece.value.table} unannounced`);
    blobs += piece.value.blobs.length;
    for (const digest of piece.value.blobs) digests.add(digest);
  }
  return { schema_version: header.schemaVersion, tables, blobs };
}

function addLines(hash: RowHash, rows: Buffer): void {
  for (let from = 0, end = rows.indexOf(NEWLINE); end >= 0; end = rows.indexOf(NEWLINE, from)) {
    hash.add(rows.subarray(from, end));
    from = end + 1;
  }
}

/** Writes the blobs. @throws when a blob that rows refer to is not in the store: such a snapshot could not be restored. */
async function writeBlobs(
  deps: SnapshotDeps,
  zip: ZipWriter,
  digests: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Manifest['blobs']> {
  const hash = new RowHash();
  let bytes = 0;
  for (const digest of digests) {
    signal.throwIfAborted();
    const stat = await deps.blobs.stat(digest);
    bytes += stat?.size ?? 0;
    await zip.add(blobEntry(digest), await deps.blobs.open(digest), false);
    hash.add(digest);
  }
  return { count: hash.rows, bytes, hash: hash.digest() };
}

/** Adds `value` as JSON text; returns the SHA-256 of the written bytes. */
async function addText(zip: ZipWriter, name: string, value: unknown): Promise<Buffer> {
  const text = Buffer.from(`${JSON.stringify(value, null, 1)}\n`, 'utf8');
  const entry = zip.open(name);
  await entry.write(text);
  await entry.end();
  return createHash('sha256').update(text).digest();
}
