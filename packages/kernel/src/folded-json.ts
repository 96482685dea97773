import type { Json, JsonObject } from './json';
import { RawJson } from './raw-json';
import { defineFormat, requireFormat } from './stored-format';

/**
 * JSON written so that what its parts have in common stands once. A node of a plan brings all operations of its type with
 * it, some 13 KB, so ten thousand equal nodes are 136 MB as JSON and 3.5 MB folded. A folded text is
 * `{"$folded":1,"shared":[...],"value":{...}}`: everywhere `{"$s":<n>}` stands for entry n of `shared`, entries refer to
 * earlier ones only, and an entry as a whole is never such a reference.
 */
export const FOLDED_PREFIX = '{"$folded":1,';
/** Its number is that of `$folded`; plain JSON has number 1 too. */
export const FOLDED_FORMAT = defineFormat('folded JSON text', 1, [1]);
const NUMBER = /^\{"\$folded":([^,}]{1,20})/;
const PREFIX = `${FOLDED_PREFIX}"shared":[`;
const BETWEEN = '],"value":';
const MARK = '$s';
/** Shorter texts are not worth a reference. */
const LEAST_CHARS = 96;
/** Inside a JSON text this cannot be part of a string: there its quotes would be escaped. */
const REFERENCE = /\{"\$s":(\d+)\}/g;

export interface FoldedJson {
  /** Folded when that was worth it, else plain JSON. */
  text: string;
  /** Characters of the plain JSON, about. */
  size: number;
}

interface Written {
  text: string;
  size: number;
}

class Folding {
  readonly shared: string[] = [];
  private readonly byText = new Map<string, Written>();
  private readonly byObject = new WeakMap<object, Written>();

  write(value: Json, isEntry = true): Written {
    if (typeof value !== 'object' || value === null) {
      const text = JSON.stringify(value);
      return { text, size: text.length };
    }
    const known = this.byObject.get(value);
    if (known) return known;
    const plain = Array.isArray(value) ? this.list(value) : this.object(value);
    const written = isEntry ? this.share(plain, isMistakable(value)) : plain;
    this.byObject.set(value, written);
    return written;
  }

  private list(value: readonly Json[]): Written {
    const parts = value.map((one) => this.write(one ?? null));
    return joined('[', parts, ']');
  }

  private object(value: JsonObject): Written {
    const parts: Written[] = [];
    for (const key of Object.keys(value)) {
      const inner = value[key];
      if (inner === undefined) continue;
      const name = `${JSON.stringify(key)}:`;
      const { text, size } = this.write(inner);
      parts.push({ text: name + text, size: name.length + size });
    }
    return joined('{', parts, '}');
  }

  /** A reference to the text, or the text itself where that is short. */
  private share({ text, size }: Written, isAlways: boolean): Written {
    if (!isAlways && text.length < LEAST_CHARS) return { text, size };
    let known = this.byText.get(text);
    if (!known) {
      known = { text: `{"${MARK}":${this.shared.length}}`, size };
      this.shared.push(text);
      this.byText.set(text, known);
    }
    return known;
  }
}

/** Whether a value looks like a reference: it is never written in place. */
const isMistakable = (value: Json[] | JsonObject): boolean => {
  const keys = Object.keys(value);
  return keys.length === 1 && keys[0] === MARK;
};

function joined(open: string, parts: readonly Written[], close: string): Written {
  const text = open + parts.map((part) => part.text).join(',') + close;
  return { text, size: parts.reduce((sum, part) => sum + part.size + 1, 1) };
}

/** A value as text: as it is up to `plainChars`, folded beyond. What it shares by reference is looked at once. */
export function foldJson(value: JsonObject, plainChars: number): FoldedJson {
  const folding = new Folding();
  const { text, size } = folding.write(value, false);
  if (size <= plainChars) return { text: JSON.stringify(value), size };
  return { text: `${PREFIX}${folding.shared.join(',')}${BETWEEN}${text}}`, size };
}

/** Whether a text is folded, else it is plain JSON. @throws AppError when its number is unknown here. */
export function isFoldedJson(text: string): boolean {
  if (text.startsWith(PREFIX)) return true;
  const number = text.startsWith('{"$') ? NUMBER.exec(text)?.[1] : undefined;
  if (number !== undefined && number !== '1') requireFormat(FOLDED_FORMAT, Number(number), 'a folded text');
  return false;
}

/** What a text says, folded or not. Parts that are equal are the same objects: nobody may change them. */
export function readFoldedJson(text: string): JsonObject {
  if (!isFoldedJson(text)) return JSON.parse(text) as JsonObject;
  const { shared, value } = JSON.parse(text) as { shared: Json[]; value: JsonObject };
  // Not the entries themselves, which are what they look like.
  for (const entry of shared) if (typeof entry === 'object' && entry !== null) fill(entry, shared);
  fill(value, shared);
  return value;
}

/** Puts what references in `value` stand for in their place; those of `shared` before it are filled already. */
function fill(value: Json[] | JsonObject, shared: readonly Json[]): void {
  const at = value as Record<string, Json>;
  for (const key of Object.keys(at)) {
    const inner = at[key];
    if (typeof inner !== 'object' || inner === null) continue;
    const referred = isMistakable(inner) ? shared[(inner as Record<string, number>)[MARK]!] : undefined;
    if (referred !== undefined) at[key] = referred;
    else fill(inner, shared);
  }
}

/** Entries up to so many characters are joined: an answer in pieces of some bytes each costs more than it saves. */
const JOINED_CHARS = 1024;

/** A text and its length with all that it refers to. */
interface Plain {
  raw: RawJson;
  size: number;
}

/**
 * The plain JSON of a text for an answer: what is shared is the same raw text wherever it stands, so that 136 MB need the
 * memory of their distinct parts.
 */
export function unfoldedJson(text: string): RawJson {
  if (!isFoldedJson(text)) return new RawJson(text);
  const { shared, value } = splitFolded(text);
  const known: Plain[] = [];
  for (const entry of shared) known.push(plainOf(entry, known));
  return plainOf(value, known).raw;
}

function plainOf(text: string, known: readonly Plain[]): Plain {
  const parts: (string | RawJson)[] = [];
  let size = 0;
  let from = 0;
  const add = (part: string | RawJson, chars: number): void => {
    parts.push(part);
    size += chars;
  };
  for (const match of text.matchAll(REFERENCE)) {
    // The whole text: an entry that only looks like a reference.
    const found = match[0].length === text.length ? undefined : known[Number(match[1])];
    if (!found) continue;
    if (match.index > from) add(text.slice(from, match.index), match.index - from);
    if (found.raw.parts.length === 0) add(found.raw, found.size);
    else {
      for (const part of found.raw.parts) parts.push(part);
      size += found.size;
    }
    from = match.index + match[0].length;
  }
  if (from === 0) return { raw: new RawJson(text), size: text.length };
  if (from < text.length) add(text.slice(from), text.length - from);
  const raw = new RawJson(parts);
  return { raw: size > JOINED_CHARS ? raw : new RawJson(raw.text), size };
}

/** The texts of folded JSON: each entry ends where its brackets close. */
function splitFolded(text: string): { shared: string[]; value: string } {
  const shared: string[] = [];
  let at = PREFIX.length;
  while (text[at] !== ']') {
    const end = endOf(text, at);
    shared.push(text.slice(at, end));
    at = text[end] === ',' ? end + 1 : end;
  }
  return { shared, value: text.slice(at + BETWEEN.length, -1) };
}

/** Behind the object or list that begins at `at`. */
function endOf(text: string, at: number): number {
  let depth = 0;
  let isInString = false;
  for (let i = at; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (isInString) {
      if (char === 92 /* \ */) i += 1;
      else if (char === 34 /* " */) isInString = false;
    } else if (char === 34) isInString = true;
    else if (char === 91 || char === 123 /* [ { */) depth += 1;
    else if ((char === 93 || char === 125) /* ] } */ && --depth === 0) return i + 1;
  }
  return text.length;
}
