/** Replaces the links of an archive by copies of their targets: no stored file is a link. */

import { MAX_LINK_STEPS } from '../domain/archive-limits';
import { ArchiveRefused, checkEntryPath, type EntryJudge, linkTarget } from '../domain/entry-rules';
import type { UnpackedFile } from './unpacked-file';

export interface Link {
  path: string;
  target: string;
  isHard: boolean;
}

/** Returns the absolute path (from the archive's root) of a link's target. Hard links name it from the root already. */
function placeOf(link: Link): string {
  const place = link.isHard ? checkEntryPath(link.target) : linkTarget(link.path, link.target);
  if (!place.ok)
    throw new ArchiveRefused({
      ...place.error,
      message: 'a link leads out of the archive',
      entry: link.path,
    });
  const root = link.path.split('/', 1)[0]!;
  if (place.value !== root && !place.value.startsWith(`${root}/`)) {
    throw new ArchiveRefused({ message: 'a link leads out of the top folder', entry: link.path });
  }
  return place.value;
}

/** Resolves links in every leading folder of `place`. */
function follow(place: string, byPath: Map<string, Link>, from: Link): string {
  let current = place;
  for (let step = 0; step <= MAX_LINK_STEPS; step++) {
    const segments = current.split('/');
    const at = segments.findIndex((_, i) => byPath.has(segments.slice(0, i + 1).join('/')));
    if (at < 0) return current;
    const link = byPath.get(segments.slice(0, at + 1).join('/'))!;
    current = [placeOf(link), ...segments.slice(at + 1)].join('/');
  }
  throw new ArchiveRefused({
    message: `a link leads in a circle or over more than ${MAX_LINK_STEPS} links`,
    entry: from.path,
  });
}

/**
 * Adds a copy to `files` for each link, to a file or to every file below a folder. Links to missing targets are omitted, because a
 * dangling link in a checkout does no harm. Copies count against the limits of the archive.
 * @throws ArchiveRefused when a link leaves the top folder or leads in a circle.
 */
export function resolveLinks(
  files: Map<string, UnpackedFile>,
  links: readonly Link[],
  maxFiles: number,
  judge: EntryJudge,
): void {
  const byPath = new Map(links.map((link) => [link.path, link]));
  const real = [...files.values()];
  const add = (path: string, source: UnpackedFile): void => {
    if (files.has(path)) return;
    if (files.size >= maxFiles)
      throw new ArchiveRefused({ message: `links make more than ${maxFiles} files`, entry: path });
    judge.count(source.size, path);
    files.set(path, { ...source, path });
  };
  for (const link of links) {
    const place = follow(placeOf(link), byPath, link);
    const file = files.get(place);
    if (file !== undefined) {
      add(link.path, file);
      continue;
    }
    for (const source of real) {
      if (source.path.startsWith(`${place}/`)) add(link.path + source.path.slice(place.length), source);
    }
  }
}
