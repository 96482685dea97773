/** Bytes of a file as lines to read. Files are untrusted input: no character may hide or reorder the shown text. */

export interface TextLines {
  lines: string[];
  /** The text has more lines than shown. */
  isCut: boolean;
  /** The text contained invisible characters, which are now shown as codes. */
  hasHidden: boolean;
}

/** Maximum of shown lines. */
export const MOST_LINES = 4000;
const MOST_LINE_CHARACTERS = 5000;

// Control characters other than tab, and characters that change the text direction or have no width.
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** Returns null for binary data. `isPart`: the bytes may end within a character. */
export function textLines(bytes: Uint8Array, isPart = false): TextLines | null {
  const text = textOf(bytes, isPart);
  if (text === null) return null;
  const all = text.split(/\r\n?|\n/);
  if (all.length > 1 && all.at(-1) === '') all.pop();
  let hasHidden = false;
  const lines = all.slice(0, MOST_LINES).map((line) => {
    const short = line.length > MOST_LINE_CHARACTERS ? `${line.slice(0, MOST_LINE_CHARACTERS)}…` : line;
    const shown = visible(short);
    hasHidden ||= shown !== short;
    return shown;
  });
  return { lines, isCut: all.length > lines.length, hasHidden };
}

/** Decodes UTF-8; null when the bytes are invalid. A byte order mark is removed. */
export function textOf(bytes: Uint8Array, isPart = false): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isPart });
  } catch {
    return null;
  }
}

/** Replaces invisible characters by their codes: `[U+202E]`. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (one) => `[U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`);
