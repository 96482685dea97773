import { type ReadLimits, YamlError } from './limits';

/** Quoted and block scalars: each function reads one, beginning at its indicator, and returns its end. */
export interface ScalarText {
  text: string;
  /** Offset after the scalar. */
  end: number;
}

const NL = 10;
const SPACE = 32;
const TAB = 9;

const ESCAPES: Record<string, string> = {
  '0': '\0',
  a: '\x07',
  b: '\x08',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\x0b',
  f: '\x0c',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  '\\': '\\',
  '/': '/',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};
const HEX_ESCAPES: Record<string, number> = { x: 2, u: 4, U: 8 };

/** Whether a document marker (`---` or `...`) is at `at`, the beginning of a line. */
export function isDocumentMarker(text: string, at: number): boolean {
  const c = text.charCodeAt(at);
  if (c !== 45 && c !== 46) return false;
  if (text.charCodeAt(at + 1) !== c || text.charCodeAt(at + 2) !== c) return false;
  const next = text.charCodeAt(at + 3);
  return Number.isNaN(next) || next === SPACE || next === NL || next === TAB;
}

/** Reads white space inside a quoted scalar from `at`: returns its text after line folding, and its end. */
function foldQuoted(text: string, at: number, start: number): ScalarText {
  let i = at;
  while (text.charCodeAt(i) === SPACE || text.charCodeAt(i) === TAB) i++;
  if (i >= text.length)
    throw new YamlError('scanner', 'the text ends inside a quoted scalar', start, 'a closing quote');
  if (text.charCodeAt(i) !== NL) return { text: text.slice(at, i), end: i };
  let breaks = 0;
  while (text.charCodeAt(i) === NL) {
    breaks++;
    i++;
    if (isDocumentMarker(text, i))
      throw new YamlError('scanner', 'a document marker inside a quoted scalar', i);
    while (text.charCodeAt(i) === SPACE || text.charCodeAt(i) === TAB) i++;
  }
  return { text: breaks === 1 ? ' ' : '\n'.repeat(breaks - 1), end: i };
}

/** Reads a quoted scalar; `text[start]` is its quote. */
export function scanQuoted(text: string, start: number): ScalarText {
  const quote = text.charCodeAt(start);
  const isDouble = quote === 34;
  const chunks: string[] = [];
  let i = start + 1;
  for (;;) {
    let c = text.charCodeAt(i);
    const from = i;
    while (c !== quote && c !== SPACE && c !== NL && c !== TAB && !(isDouble && c === 92) && !Number.isNaN(c))
      c = text.charCodeAt(++i);
    if (i > from) chunks.push(text.slice(from, i));
    if (Number.isNaN(c))
      throw new YamlError('scanner', 'the text ends inside a quoted scalar', start, 'a closing quote');
    if (c === quote) {
      if (isDouble || text.charCodeAt(i + 1) !== quote) return { text: chunks.join(''), end: i + 1 };
      chunks.push("'");
      i += 2;
    } else if (c === 92) {
      i = readEscape(text, i, start, chunks);
    } else {
      const folded = foldQuoted(text, i, start);
      chunks.push(folded.text);
      i = folded.end;
    }
  }
}

/** Reads an escape of a double-quoted scalar; `text[at]` is the backslash. Returns the offset after it. */
function readEscape(text: string, at: number, start: number, chunks: string[]): number {
  const c = text[at + 1] ?? '';
  if (c === '\n') {
    const folded = foldQuoted(text, at + 1, start);
    // an escaped line break joins the lines; further empty lines still count
    chunks.push(folded.text === ' ' ? '' : folded.text);
    return folded.end;
  }
  const length = HEX_ESCAPES[c];
  if (length !== undefined && Object.hasOwn(HEX_ESCAPES, c)) {
    const digits = text.slice(at + 2, at + 2 + length);
    const code = /^[0-9a-fA-F]+$/.test(digits) && digits.length === length ? Number.parseInt(digits, 16) : -1;
    if (code < 0 || code > 0x10ffff)
      throw new YamlError('scanner', `\\${c}${digits} is no character`, at, `${length} hexadecimal digits`);
    chunks.push(String.fromCodePoint(code));
    return at + 2 + length;
  }
  if (!Object.hasOwn(ESCAPES, c))
    throw new YamlError('scanner', `unknown escape \\${c}`, at, 'an escape such as \\n, \\t, \\" or \\\\');
  chunks.push(ESCAPES[c]!);
  return at + 2;
}

/**
 * Reads a literal or folded block scalar; `text[start]` is `|` or `>`. `parentIndent`: the indentation of the
 * collection that contains it (-1 at the top).
 */
export function scanBlock(text: string, start: number, parentIndent: number, limits: ReadLimits): ScalarText {
  const isFolded = text.charCodeAt(start) === 62;
  const header = readHeader(text, start);
  let i = header.end;
  const minIndent = Math.max(parentIndent + 1, 1);
  let indent: number;
  let breaks: number;
  if (header.indent === null) {
    const lead = leadingBreaks(text, i);
    indent = Math.max(minIndent, lead.maxIndent);
    ({ end: i, breaks } = skipBreaks(text, i, indent));
  } else {
    indent = minIndent + header.indent - 1;
    ({ end: i, breaks } = skipBreaks(text, i, indent));
  }
  const chunks: string[] = [];
  let lineBreak = '';
  while (columnAt(text, i) === indent && i < text.length) {
    chunks.push('\n'.repeat(breaks));
    const first = text.charCodeAt(i);
    const isPlainLine = first !== SPACE && first !== TAB;
    let end = text.indexOf('\n', i);
    if (end < 0) end = text.length;
    chunks.push(text.slice(i, end));
    if (end - start > limits.scalarLength)
      throw new YamlError(
        'limit',
        'a scalar is too long',
        start,
        `at most ${limits.scalarLength} characters`,
      );
    lineBreak = end < text.length ? '\n' : '';
    ({ end: i, breaks } = skipBreaks(text, end < text.length ? end + 1 : end, indent));
    if (columnAt(text, i) !== indent || i >= text.length) break;
    const next = text.charCodeAt(i);
    if (isFolded && lineBreak && isPlainLine && next !== SPACE && next !== TAB) {
      if (breaks === 0) chunks.push(' ');
    } else chunks.push(lineBreak);
  }
  if (header.chomp !== '-') chunks.push(lineBreak);
  if (header.chomp === '+') chunks.push('\n'.repeat(breaks));
  return { text: chunks.join(''), end: i };
}

function readHeader(text: string, start: number): { chomp: string; indent: number | null; end: number } {
  let i = start + 1;
  let chomp = '';
  let indent: number | null = null;
  for (let n = 0; n < 2; n++) {
    const c = text[i] ?? '';
    if ((c === '+' || c === '-') && chomp === '') chomp = c;
    else if (c >= '0' && c <= '9' && indent === null) {
      if (c === '0')
        throw new YamlError('scanner', 'the indentation of a block scalar cannot be 0', i, '1 to 9');
      indent = Number(c);
    } else break;
    i++;
  }
  while (text.charCodeAt(i) === SPACE) i++;
  if (text[i] === '#') while (i < text.length && text.charCodeAt(i) !== NL) i++;
  if (i < text.length && text.charCodeAt(i) !== NL) {
    throw new YamlError(
      'scanner',
      'text behind the header of a block scalar',
      i,
      'a line break after | or >',
    );
  }
  return { chomp, indent, end: Math.min(i + 1, text.length) };
}

function columnAt(text: string, at: number): number {
  return at - (text.lastIndexOf('\n', at - 1) + 1);
}

/** Returns the indentation of the first line that is not blank, or of the longest blank line before it. */
function leadingBreaks(text: string, at: number): { maxIndent: number } {
  let maxIndent = 0;
  let i = at;
  for (;;) {
    const lineStart = i;
    while (text.charCodeAt(i) === SPACE) i++;
    maxIndent = Math.max(maxIndent, i - lineStart);
    if (text.charCodeAt(i) !== NL) return { maxIndent };
    i++;
  }
}

/** Skips blank lines and at most `indent` blanks of the next line. */
function skipBreaks(text: string, at: number, indent: number): { end: number; breaks: number } {
  let i = at;
  let breaks = 0;
  for (;;) {
    const lineStart = i;
    while (i - lineStart < indent && text.charCodeAt(i) === SPACE) i++;
    if (text.charCodeAt(i) !== NL) return { end: i, breaks };
    breaks++;
    i++;
  }
}
