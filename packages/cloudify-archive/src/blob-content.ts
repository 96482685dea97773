import { ArchiveRefused } from './archive-refused';
import type { Blob } from './model/record';
import type { Archive } from './open-archive';

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Content of a blob that is one file, decoded. A working folder of the new layout is a zip archive.
 * @throws ArchiveRefused layout for a blob that is a folder (see `blobFiles`); zip where the file is damaged or is no base64
 */
export async function* blobContent(archive: Archive, blob: Blob): AsyncGenerator<Buffer, void, void> {
  if (blob.kind === 'folder')
    throw new ArchiveRefused('layout', 'it is a folder, not one file', { file: blob.name });
  if (blob.kind === 'file') {
    yield* archive.read(blob.name);
    return;
  }
  let rest = '';
  let isEnded = false;
  for await (const piece of archive.read(blob.name)) {
    const text = rest + piece.toString('latin1').replace(/[\r\n\t ]/g, '');
    if (isEnded && text.length > 0) throw notBase64(blob);
    // Only groups of four are decoded; the rest waits for the next piece.
    const length = text.length - (text.length % 4);
    rest = text.slice(length);
    const group = text.slice(0, length);
    if (!BASE64.test(group)) throw notBase64(blob);
    isEnded = group.endsWith('=');
    if (length > 0) yield Buffer.from(group, 'base64');
  }
  if (rest.length === 1 || !BASE64.test(rest)) throw notBase64(blob);
  if (rest.length > 0) yield Buffer.from(rest, 'base64');
}

const notBase64 = (blob: Blob): ArchiveRefused =>
  new ArchiveRefused('zip', 'it is no base64 text', { file: blob.name });

/** Files of a blob that is a folder, by their path below it. One pass over the names of the archive. */
export function blobFiles(archive: Archive, blob: Blob): Map<string, { name: string; size: number }> {
  const files = new Map<string, { name: string; size: number }>();
  for (const [name, { isFolder, size }] of archive.entries)
    if (!isFolder && name.startsWith(blob.name)) files.set(name.slice(blob.name.length), { name, size });
  return files;
}
