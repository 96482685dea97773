import { isUtf8 } from 'node:buffer';
import { ArchiveRefused, type Place } from '../archive-refused';
import type { Note, Value } from '../value';
import { ExactParser } from './exact-parser';
import { ValueCutter } from './value-cutter';

export interface ParsedJson {
  value: Value;
  notes: Note[];
}

/**
 * Parses JSON that was cut out of a page. `isPlain` says that JSON.parse keeps all of it.
 * @throws ArchiveRefused json
 */
export function parseCutJson(text: Buffer, isPlain: boolean, place: Place, maxDepth: number): ParsedJson {
  if (!isUtf8(text)) throw new ArchiveRefused('json', 'it is not UTF-8', place);
  try {
    if (isPlain) return { value: JSON.parse(text.toString('utf8')) as Value, notes: [] };
    const parser = new ExactParser(text.toString('utf8'), maxDepth);
    return { value: parser.parse(), notes: parser.notes };
  } catch {
    // The message of JSON.parse quotes the text, which may be a secret.
    throw new ArchiveRefused('json', 'it is no valid JSON', place);
  }
}

/** Parses a JSON text whose nesting is not known yet. @throws ArchiveRefused json or limit */
export function parseJson(text: Buffer, place: Place, maxDepth: number): ParsedJson {
  const cutter = new ValueCutter({ maxBytes: 0, maxDepth, isKept: false, place });
  cutter.feed(text, 0);
  return parseCutJson(text, cutter.isPlain, place, maxDepth);
}
