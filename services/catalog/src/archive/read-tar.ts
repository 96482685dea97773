import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import unbzip2 from 'unbzip2-stream';
import { ArchiveRefused, type EntryKind } from '../domain/entry-rules';
import type { RawEntry } from './raw-entry';
import type { ArchiveKind } from './sniff';
import type { Spool } from './spool';

const KINDS: Partial<Record<NonNullable<Header['type']>, EntryKind>> = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'directory',
  symlink: 'symlink',
  link: 'hardlink',
};

function decompressor(kind: ArchiveKind): NodeJS.ReadWriteStream | null {
  if (kind === 'tar.gz') return createGunzip();
  return kind === 'tar.bz2' ? unbzip2() : null;
}

/** Yields the entries of a tar in order; each must be consumed before the next one is read. */
export async function* readTar(archive: Spool, kind: ArchiveKind): AsyncGenerator<RawEntry> {
  const tar = extract();
  const source = archive.stream();
  const unpack = decompressor(kind);
  // The error is thrown by the iteration below; nothing else waits for the pipeline.
  const stages = unpack === null ? [source, tar] : [source, unpack, tar];
  pipeline(stages as unknown as [NodeJS.ReadableStream, NodeJS.WritableStream], () => undefined);
  try {
    for await (const entry of tar) {
      const { header } = entry;
      const type = header.type ?? 'file';
      const isFolder = type === 'directory' || (type === 'file' && header.name.endsWith('/'));
      const entryKind = isFolder ? 'directory' : (KINDS[type] ?? 'other');
      const stream = entry as unknown as Readable;
      let isRead = false;
      const take = async (): Promise<Readable> => {
        isRead = true;
        return stream;
      };
      yield {
        name: header.name,
        kind: entryKind,
        mode: (header.mode ?? 0) & 0o777,
        modifiedMs: header.mtime?.getTime() ?? null,
        announcedBytes: header.size ?? 0,
        link: header.linkname ?? null,
        content: entryKind === 'file' ? take : null,
      };
      if (!isRead) stream.resume();
    }
  } catch (error) {
    if (error instanceof ArchiveRefused) throw error;
    throw new ArchiveRefused({ message: `the ${kind} archive cannot be read: ${(error as Error).message}` });
  } finally {
    source.destroy();
    tar.destroy();
  }
}
