import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Archive, type ArchiveRecord, blobContent, blobFiles } from '@baton/cloudify-archive';
import { createZipWriter } from '../../adapters/zip-writer';
import { ownerOf } from '../domain/owners';
import type { ImportDeps } from './import-deps';

type Blob = NonNullable<ArchiveRecord['blob']>;

/** Bytes in the blob store, as a staged record names them. */
export interface StoredBlob {
  /** SHA-256, 64 hex digits. */
  digest: string;
  /** Bytes. */
  size: number;
  /** Name of the file in the archive; a folder was packed as a zip. */
  name: string;
}

/**
 * Stores the bytes of a record. Their digest is noted by the owner of the type before they are stored: its sweep deletes them unless a
 * row of it names them in time. `folder` is for temporary files. @throws ArchiveRefused for a damaged file
 */
export async function storeBlob(
  deps: Pick<ImportDeps, 'blobs' | 'parts'>,
  archive: Archive,
  { type, blob }: ArchiveRecord,
  folder: string,
): Promise<StoredBlob | null> {
  if (!blob) return null;
  const owner = ownerOf(type) === 'catalog' ? 'catalog' : 'deployments';
  const path = join(folder, randomUUID());
  try {
    if (blob.kind === 'folder') await pack(archive, blob, path);
    else
      await pipeline(
        Readable.from(blobContent(archive, blob)),
        createWriteStream(path, { mode: 0o600, flags: 'wx' }),
      );
    const { digest, size } = await measure(path);
    await deps.parts[owner].noteBlobs({ digests: [digest] });
    await deps.blobs.put(createReadStream(path));
    return { digest, size, name: nameOf(blob) };
  } finally {
    await rm(path, { force: true });
  }
}

function nameOf({ kind, name }: Blob): string {
  const last = name.replace(/\/$/, '').split('/').at(-1)!;
  if (kind === 'folder') return `${last}.zip`;
  return kind === 'base64' ? last.replace(/\.b64zip$/, '.zip') : last;
}

/** Packs the files of a folder, in the order of their names: the same folder gives the same bytes. */
async function pack(archive: Archive, blob: Blob, path: string): Promise<void> {
  const zip = createZipWriter(path);
  try {
    for (const [file, { name }] of [...blobFiles(archive, blob)].sort(([a], [b]) => (a < b ? -1 : 1)))
      await zip.add(file, Readable.from(archive.read(name)), true);
    await zip.finish();
  } catch (error) {
    zip.abort(error as Error);
    throw error;
  }
}

async function measure(path: string): Promise<{ digest: string; size: number }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    size += piece.length;
    hash.update(piece);
  }
  return { digest: hash.digest('hex'), size };
}
