/**
 * Text of others on a terminal. Descriptions, names and log lines come from blueprints and operations that a stranger may have
 * written: an escape sequence in them could move the cursor, change the title or hide what was printed before.
 */

// C0 without tab and newline, DEL, C1, and the characters that turn the direction of a line.
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const BREAKS = /\s*[\r\n]+\s*|\t/g;
/** Characters that JSON passes through although a terminal obeys them. */
const JSON_HARMFUL = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const codeOf = (character: string): string => character.charCodeAt(0).toString(16);

/** Returns the text with each control character as its code (`\x1b`). Tabs and line ends stay. */
export function plainText(text: string): string {
  return text.replace(HARMFUL, (character) =>
    character < '\u0100' ? `\\x${codeOf(character).padStart(2, '0')}` : `\\u${codeOf(character)}`,
  );
}

/** Returns the text for one cell of a table: plain, in one line. */
export function oneLine(text: string): string {
  return plainText(text.replace(BREAKS, ' '));
}

/** Returns JSON, or YAML in which such characters stand between double quotes, with them as \uXXXX: the same value. */
export function escapedDocument(text: string): string {
  return text.replace(JSON_HARMFUL, (character) => `\\u${codeOf(character).padStart(4, '0')}`);
}

/** Whether YAML must put the text between double quotes, so that `escapedDocument` can write it. */
export function needsQuotes(text: string): boolean {
  return text.search(JSON_HARMFUL) >= 0;
}
