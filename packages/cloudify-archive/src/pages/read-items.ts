import { ArchiveRefused, type Place } from '../archive-refused';
import { PageScanner } from '../json/page-scanner';
import { parseCutJson } from '../json/parse-json';
import type { Archive } from '../open-archive';
import { isObject, type Note, type ValueObject } from '../value';

export interface PageItem {
  raw: ValueObject;
  /** The JSON of the item, as it stands in the page. */
  text: Buffer;
  notes: Note[];
  place: Place;
}

/**
 * The items of a page, one after the other; one item is held at a time.
 * @throws ArchiveRefused json, limit or zip
 */
export async function* readItems(archive: Archive, file: string): AsyncGenerator<PageItem, void, void> {
  const { maxItemBytes, maxDepth } = archive.limits;
  const scanner = new PageScanner(file, { maxItemBytes, maxDepth, keepItems: true });
  for await (const piece of archive.read(file)) {
    for (const found of scanner.push(piece)) {
      if (found.kind !== 'item') continue;
      const place = { file, item: found.item };
      const { value, notes } = parseCutJson(found.text, found.isPlain, place, maxDepth);
      if (!isObject(value)) throw new ArchiveRefused('json', 'an item is no object', place);
      yield { raw: value, text: found.text, notes, place };
    }
  }
  scanner.end();
}
