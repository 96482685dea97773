import type { ReadLimits } from '../yaml/limits';
import { type Document, readYaml } from '../yaml/reader';

/**
 * Cache of documents by their text, so that a types file imported by a thousand blueprints is read once. Documents are
 * immutable. The cache is limited by its characters; the least recently used documents are removed first.
 */
export interface TextCache {
  read(name: string | null, text: string, limits: ReadLimits): Document;
}

/** A document takes about ten times the memory of its text. */
const DEFAULT_CHARACTERS = 4_000_000;
/** Longer texts are main files, which are not imported: not cached. */
const LONGEST_KEPT = 400_000;

export function createTextCache(maxCharacters: number = DEFAULT_CHARACTERS): TextCache {
  const documents = new Map<string, Document>();
  let characters = 0;
  return {
    read(name, text, limits) {
      const key = `${name ?? ''}\n${limits.depth} ${limits.scalarLength} ${limits.textLength} ${limits.expandedNodes}\n${text}`;
      const known = documents.get(key);
      if (known !== undefined) {
        documents.delete(key);
        documents.set(key, known);
        return known;
      }
      const document = readYaml(name, text, limits);
      if (key.length > Math.min(maxCharacters, LONGEST_KEPT)) return document;
      documents.set(key, document);
      characters += key.length;
      for (const oldest of documents.keys()) {
        if (characters <= maxCharacters) break;
        documents.delete(oldest);
        characters -= oldest.length;
      }
      return document;
    },
  };
}

let shared: TextCache | null = null;

/** The cache for callers without their own. Reading is a pure function of the text, so sharing the cache is not observable. */
export function sharedTextCache(): TextCache {
  shared ??= createTextCache();
  return shared;
}
