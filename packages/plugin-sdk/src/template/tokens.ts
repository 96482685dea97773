/** A part of a template: literal text, `{{ expression }}` or `{% statement %}`; comments are removed. */
export interface Segment {
  kind: 'text' | 'output' | 'statement';
  text: string;
  line: number;
}

export class TemplateError extends Error {
  constructor(message: string, line: number) {
    super(`line ${line}: ${message}`);
    this.name = 'TemplateError';
  }
}

const OPEN = /\{\{-?|\{%-?|\{#-?/g;
/** Text that is no template. */
const RAW = /^\{%-?\s*raw\s*(-?)%\}([\s\S]*?)\{%(-?)\s*endraw\s*-?%\}/;
const CLOSE: Record<string, RegExp> = { '{{': /-?\}\}/g, '{%': /-?%\}/g, '{#': /-?#\}/g };

/** @throws TemplateError for an opening mark without its end. */
export function splitTemplate(text: string): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  let line = 1;
  let trimsNext = false;
  const addText = (raw: string, trimsEnd: boolean): void => {
    const start = trimsNext ? raw.trimStart() : raw;
    const kept = trimsEnd ? start.trimEnd() : start;
    if (kept !== '') segments.push({ kind: 'text', text: kept, line });
    line += raw.split('\n').length - 1;
  };
  for (;;) {
    OPEN.lastIndex = at;
    const open = OPEN.exec(text);
    if (!open) break;
    addText(text.slice(at, open.index), open[0].endsWith('-'));
    const raw = RAW.exec(text.slice(open.index));
    if (raw !== null) {
      const [all, before, inner, after] = raw as unknown as [string, string, string, string];
      // White-space marks inside of raw and endraw trim the text between them, as Jinja does.
      trimsNext = before === '-';
      addText(inner, after === '-');
      line += all.split('\n').length - inner.split('\n').length;
      trimsNext = all.endsWith('-%}');
      at = open.index + all.length;
      continue;
    }
    const kind = open[0].slice(0, 2);
    const end = endOf(text, open.index + open[0].length, kind);
    if (!end) throw new TemplateError(`${kind} has no end`, line);
    const inner = text.slice(open.index + open[0].length, end.index);
    if (kind !== '{#')
      segments.push({ kind: kind === '{{' ? 'output' : 'statement', text: inner.trim(), line });
    line += inner.split('\n').length - 1;
    trimsNext = end[0].startsWith('-');
    at = end.index + end[0].length;
  }
  addText(text.slice(at), false);
  return segments;
}

/** The end of a part. Braces of dictionaries, and ends inside of texts, do not count. */
function endOf(text: string, from: number, kind: string): RegExpExecArray | null {
  const close = CLOSE[kind] as RegExp;
  let depth = 0;
  let quote = '';
  for (let at = from; at < text.length && kind !== '{#'; at++) {
    const one = text[at] as string;
    if (quote !== '') {
      if (one === '\\') at++;
      else if (one === quote) quote = '';
      continue;
    }
    if (depth === 0 && (one === '}' || one === '%' || one === '-')) {
      close.lastIndex = at;
      const end = close.exec(text);
      if (end?.index === at) return end;
    }
    if (one === '"' || one === "'") quote = one;
    else if (one === '{') depth++;
    else if (one === '}') depth--;
  }
  // A quote or brace without its end: the reader of the expression says where.
  close.lastIndex = from;
  return close.exec(text);
}

export type Token =
  | { kind: 'name'; text: string }
  | { kind: 'string'; text: string }
  | { kind: 'number'; value: number }
  | { kind: 'op'; text: string };

const TOKEN =
  /\s*(?:([A-Za-z_]\w*)|(\d+(?:\.\d+)?)|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(==|!=|<=|>=|\/\/|\*\*|[-+*/%~<>()[\]{},:.|=]))/y;
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r' };

/** @throws TemplateError at the first character that starts no token. */
export function tokenize(text: string, line: number): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (text.slice(at).trim() !== '') {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match) throw new TemplateError(`cannot read "${text.slice(at).trim()}"`, line);
    const [all, name, number, single, double, op] = match;
    const quoted = single ?? double;
    if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (number !== undefined) tokens.push({ kind: 'number', value: Number(number) });
    else if (quoted !== undefined)
      tokens.push({ kind: 'string', text: quoted.replace(/\\(.)/gs, (_, c: string) => ESCAPES[c] ?? c) });
    else tokens.push({ kind: 'op', text: op as string });
    at += all.length;
  }
  return tokens;
}
