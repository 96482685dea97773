// Parses a migration: the mark in its first line, and its statements without comments, strings and function bodies.

/** Parts of SQL that do not affect the schema: comments, strings, quoted bodies. Quoted names are kept. */
const OPAQUE = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|\$([a-z_]*)\$[\s\S]*?\$\1\$/gi;

/**
 * Returns the statements of `text` in lower case, with one space between words, without comments; strings and bodies are `''`.
 * `line` counts from 1.
 */
export function statementsOf(text) {
  const plain = text.replace(OPAQUE, (part) => {
    const lines = '\n'.repeat(part.split('\n').length - 1);
    return /^(--|\/\*)/.test(part) ? ` ${lines}` : `''${lines}`;
  });
  const statements = [];
  let line = 1;
  for (const piece of plain.split(';')) {
    const before = /^\s*/.exec(piece)[0];
    const words = piece.trim().replace(/\s+/g, ' ').toLowerCase();
    if (words !== '') statements.push({ text: words, line: line + before.split('\n').length - 1 });
    line += piece.split('\n').length - 1;
  }
  return statements;
}

const MARK = /^-- (expand|contract)(, without transaction)?(?:: (\S.*))?$/;

/** Returns the mark of a file: `{ kind, isWithoutTransaction, reason }`; null when the first line is not a mark. */
export function markOf(text) {
  const found = MARK.exec(text.split('\n', 1)[0].trimEnd());
  if (!found) return null;
  return { kind: found[1], isWithoutTransaction: found[2] !== undefined, reason: found[3] ?? '' };
}

/** Splits at commas outside of brackets: the actions of an `alter table`. */
export function atTopLevel(text) {
  const parts = [''];
  let depth = 0;
  for (const char of text) {
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (char === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim());
}
