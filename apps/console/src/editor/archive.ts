/** Reads and writes archives in the browser: tar with gzip, limited in size. */
import { packTar, type TarEntry, unpackTar } from 'modern-tar';
import type { ArchiveEntry } from './project';

export interface ArchiveBounds {
  mostBytes: number;
  mostFiles: number;
}

/** Limits of the editor, which holds all files in memory. */
export const EDITOR_BOUNDS: ArchiveBounds = { mostBytes: 32 * 1024 * 1024, mostFiles: 2000 };

export class ArchiveTooLarge extends Error {
  constructor(readonly bounds: ArchiveBounds) {
    super('The archive is too large');
    this.name = 'ArchiveTooLarge';
  }
}

/**
 * Returns the files of a tar.gz. Unpacks no more than `bounds` allows. @throws ArchiveTooLarge above the bounds, Error when the
 * bytes are not such an archive
 */
export async function readArchive(
  packed: ReadableStream<Uint8Array>,
  bounds: ArchiveBounds = EDITOR_BOUNDS,
): Promise<ArchiveEntry[]> {
  let size = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > bounds.mostBytes) controller.error(new ArchiveTooLarge(bounds));
      else controller.enqueue(chunk);
    },
  });
  const tar = packed.pipeThrough(new DecompressionStream('gzip') as never).pipeThrough(counted);
  const bytes = new Uint8Array(await new Response(tar).arrayBuffer());
  const entries = (await unpackTar(bytes)).filter(({ header }) => header.type === 'file');
  if (entries.length > bounds.mostFiles) throw new ArchiveTooLarge(bounds);
  return entries.map(({ header, data }) => ({
    path: header.name,
    bytes: data ?? new Uint8Array(),
    mode: header.mode ?? 0o644,
  }));
}

/** Creates a tar.gz with all files below one top folder, as the manager requires. */
export async function writeArchive(entries: readonly ArchiveEntry[], topFolder: string): Promise<Blob> {
  const tar = await packTar(
    entries.map(
      ({ path, bytes, mode }): TarEntry => ({
        header: { name: `${topFolder}/${path}`, size: bytes.length, mode, type: 'file' },
        body: bytes,
      }),
    ),
  );
  const packed = new Blob([tar as BlobPart]).stream().pipeThrough(new CompressionStream('gzip') as never);
  return await new Response(packed as ReadableStream).blob();
}
