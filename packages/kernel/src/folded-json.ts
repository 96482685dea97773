import type { Json, JsonObject } from './json';
import { RawJson } from './raw-json';
import { defineFormat, requireFormat } from './stored-format';

/**
 * JSON text in which equal parts appear once. Each node of a plan carries all operations of its type, some 13 KB, so
 * ten thousand equal nodes take 136 MB as JSON and 3.5 MB folded. A folded text is
 * `{"$folded":1,"shared":[...],"value":{...}}`. Everywhere `{"$s":<n>}` stands for entry n of `shared`. Entries refer
 * only to earlier entries, and a whole entry is never such a reference.
 */
export const FOLDED_PREFIX = '{"$folded":1,';
/** The format number is that of `$folded`; plain JSON has number 1 too. */
export const FOLDED_FORMAT = defineFormat('folded JSON text', 1, [1]);
const NUMBER = /^\{"\$folded":([^,}]{1,20})/;
const PREFIX = `${FOLDED_PREFIX}"shared":[`;
const BETWEEN = '],"value":';
const MARK = '$s';
/** Shorter texts are written in place: a reference would not save enough. */
const LEAST_CHARS = 96;
/** Inside a JSON text this pattern cannot be part of a string: there its quotes would be escaped. */
const REFERENCE = /\{"\$s":(\d+)\}/g;

export interface FoldedJson {
  /** Folded when the value is large enough, else plain JSON. */
  text: string;
  /** Approximate characters of the plain JSON. */
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

  /** Returns a reference to the text, or the text itself when it is short. */
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

/** Whether a value looks like a reference: such a value is never written in place. */
const isMistakable = (value: Json[] | JsonObject): boolean => {
  const keys = Object.keys(value);
  return keys.length === 1 && keys[0] === MARK;
};

function joined(open: string, parts: readonly Written[], close: string): Written {
  const text = open + parts.map((part) => part.text).join(',') + close;
  return { text, size: parts.reduce((sum, part) => sum + part.size + 1, 1) };
}

/** Writes a value as text: plain up to `plainChars`, else folded. Parts that are the same object are visited once. */
export function foldJson(value: JsonObject, plainChars: number): FoldedJson {
  const folding = new Folding();
  const { text, size } = folding.write(value, false);
  if (size <= plainChars) return { text: JSON.stringify(value), size };
  return { text: `${PREFIX}${folding.shared.join(',')}${BETWEEN}${text}}`, size };
}

/** Whether a text is folded; otherwise it is plain JSON. @throws AppError when its format number is unknown here. */
export function isFoldedJson(text: string): boolean {
  if (text.startsWith(PREFIX)) return true;
  const number = text.startsWith('{"$') ? NUMBER.exec(text)?.[1] : undefined;
  if (number !== undefined && number !== '1') requireFormat(FOLDED_FORMAT, Number(number), 'a folded text');
  return false;
}

/** Reads a text, folded or not. Equal parts are the same objects, so callers must not change them. */
export function readFoldedJson(text: string): JsonObject {
  if (!isFoldedJson(text)) return JSON.parse(text) as JsonObject;
  const { shared, value } = JSON.parse(text) as { shared: Json[]; value: JsonObject };
  // Not the entries themselves: an entry that looks like a reference is a plain value.
  for (const entry of shared) if (typeof entry === 'object' && entry !== null) fill(entry, shared);
  fill(value, shared);
  return value;
}

/** Replaces references in `value` by their entries; the earlier entries of `shared` are filled already. */
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

/** Entries up to this many characters are joined: an answer in pieces of a few bytes costs more than it saves. */
const JOINED_CHARS = 1024;

/** A text, and its length with all the entries that it refers to. */
interface Plain {
  raw: RawJson;
  size: number;
}

/**
 * Returns the plain JSON of a text for an answer. A shared part is the same raw text wherever it appears, so that 136
 * MB need only the memory of their distinct parts.
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
    // The whole text is an entry that only looks like a reference.
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

/** Splits folded JSON into the texts of its parts: each entry ends where its brackets close. */
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

/** Returns the position after the object or list that begins at `at`. */
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
