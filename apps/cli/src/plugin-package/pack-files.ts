/** Writes the archive of a package: the same content gives the same bytes. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { CommandFailure } from '../failure';
import { packageOf } from './author-folder';

export interface PackedFile {
  name: string;
  content: Buffer;
}

const FILES = 'files';
const MAX_FILES = 10_000;
const MAX_BYTES = 256 * 1024 * 1024;
/** Position of the operating system in the head of gzip, and the number for an unknown one. */
const GZIP_SYSTEM = { at: 9, unknown: 255 };

/** The plugin's own files, with names of the archive. @throws CommandFailure for links, native addons, or too much */
export function ownFiles(folder: string): PackedFile[] {
  const found: PackedFile[] = [];
  let bytes = 0;
  const add = (name: string): void => {
    const path = join(folder, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (stat.isDirectory()) {
      for (const inner of readdirSync(path)) add(`${name}/${inner}`);
      return;
    }
    if (!stat.isFile())
      throw new CommandFailure(`${path}: only files and folders can be packed, this is a link or a device`);
    if (/\.node$/i.test(name))
      throw new CommandFailure(`${path} is a native addon: a plugin holds JavaScript only`);
    bytes += stat.size;
    if (found.length >= MAX_FILES || bytes > MAX_BYTES)
      throw new CommandFailure(
        `${join(folder, FILES)}: at most ${MAX_FILES} files and ${MAX_BYTES} bytes can be packed`,
      );
    found.push({ name, content: readFileSync(path) });
  };
  add(FILES);
  return found;
}

/** Names, versions and licences of the packages that the sources belong to, one in a line. */
export function licencesOf(sources: readonly string[], ownFolder: string): string {
  const lines = new Set<string>();
  for (const source of sources) {
    const found = packageOf(source);
    if (found !== null && found.folder !== ownFolder)
      lines.add(`${found.name} ${found.version}: ${found.license}`);
  }
  return `${[...lines].sort().join('\n')}\n`;
}

/** Returns a gzipped tar with the files sorted by name, without times and owners. */
export async function packed(files: readonly PackedFile[]): Promise<Buffer> {
  const archive = pack();
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, content } of sorted)
    archive.entry({ name, mode: 0o644, mtime: new Date(0), uid: 0, gid: 0, uname: '', gname: '' }, content);
  archive.finalize();
  const pieces: Buffer[] = [];
  for await (const piece of archive) pieces.push(piece as Buffer);
  const zipped = gzipSync(Buffer.concat(pieces), { level: 9 });
  zipped[GZIP_SYSTEM.at] = GZIP_SYSTEM.unknown;
  return zipped;
}
