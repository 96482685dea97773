/**
 * Finds the position of a cursor in a document by indentation: the text is being typed, so it need not be valid YAML.
 * Functions in one line (`{ get_attribute: [web, ` ) are recognized too. Pure.
 */

export interface Ancestor {
  key: string;
  /** Line number from 0. */
  line: number;
  indent: number;
}

export interface Cursor {
  /** Keys on the way to the mapping or list that contains the cursor; items of lists have no key. */
  ancestors: Ancestor[];
  /** The key whose value is typed; null: a key, or an item of a list, is typed. */
  key: string | null;
  /** Number of list items before the cursor; null: the cursor is in no list. */
  item: number | null;
  /** The first item of that list; '' while the first one is typed. */
  first: string;
  /** The part of the word before the cursor. */
  prefix: string;
  /** Keys of the same mapping as the typed one. */
  siblings: Set<string>;
}

const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s:#{}[\],&*!|>'"%@`-][^:#]*?|-[^\s:#][^:#]*?))\s*:(?:\s+(.*))?$/;
const LINE = /^(\s*(?:-\s+)*)(.*)$/;
/** Lines that are read above and below the cursor. */
const MOST_LINES = 5000;

interface Line {
  /** Column of the content, after dashes. */
  indent: number;
  /** Column of the first dash; null without one. */
  dash: number | null;
  key: string | null;
  isEmpty: boolean;
}

const keyIn = (match: RegExpExecArray): string => match[1] ?? match[2] ?? match[3] ?? '';

function readLine(text: string): Line {
  const [, lead = '', content = ''] = LINE.exec(text)!;
  const match = KEY.exec(content);
  const isDash = content === '-';
  const dash = lead.indexOf('-');
  return {
    indent: lead.length,
    dash: dash >= 0 ? dash : isDash ? lead.length : null,
    key: match ? keyIn(match) : null,
    isEmpty: content === '' ? dash < 0 : content.startsWith('#'),
  };
}

const unquoted = (text: string): string => text.trim().replace(/^["'](.*)["']$/, '$1');

/** Returns the cursor; null where nothing can be completed, such as in a comment. */
export function cursorAt(text: string, offset: number): Cursor | null {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(start, offset);
  if (/(^|\s)#/.test(before.replace(/"[^"]*"|'[^']*'/g, ''))) return null;
  const lines = text.split('\n', MOST_LINES * 2);
  const at = text.slice(0, start).split('\n').length - 1;
  const [, lead = '', content = ''] = LINE.exec(before)!;
  const here = readLine(before);
  const around = surroundings(lines, at, lead.length, here.dash);
  const flow = flowAt(content);
  const match = KEY.exec(flow ? content.slice(0, flow.at) : content) ?? KEY.exec(`${content} `.trimEnd());
  if (flow) return inFlow(flow, match ? keyIn(match) : null, around, at, lead.length);
  if (match)
    return { ...around, key: keyIn(match), item: null, first: '', prefix: (match[4] ?? '').trimStart() };
  return { ...around, key: null, item: here.dash === null ? null : around.item, prefix: content };
}

function surroundings(
  lines: readonly string[],
  at: number,
  indent: number,
  dash: number | null,
): Pick<Cursor, 'ancestors' | 'siblings' | 'item' | 'first'> {
  const ancestors: Ancestor[] = [];
  const siblings = new Set<string>();
  let limit = indent;
  let item = 0;
  let first = '';
  let isBeside = dash === null;
  for (let i = at - 1; i >= Math.max(0, at - MOST_LINES) && (limit > 0 || indent === 0); i--) {
    const line = readLine(lines[i]!);
    if (line.isEmpty) continue;
    if (ancestors.length === 0 && line.indent === indent) {
      if (isBeside && line.key !== null) siblings.add(line.key);
      // The first key of an item: lines above belong to other items.
      if (line.dash !== null) isBeside = false;
      if (dash !== null && line.dash === dash) {
        item++;
        first = unquoted(lines[i]!.slice(line.indent));
      }
    }
    // A list may have the same indentation as its key.
    const isOwner =
      line.indent < limit ||
      (line.dash === null && dash !== null && line.indent === dash && ancestors.length === 0);
    if (line.key === null || !isOwner) continue;
    ancestors.unshift({ key: line.key, line: i, indent: line.indent });
    limit = line.indent;
  }
  for (let i = at + 1; i < Math.min(lines.length, at + MOST_LINES); i++) {
    const line = readLine(lines[i]!);
    if (line.isEmpty) continue;
    if (line.indent < indent || line.dash !== null) break;
    if (line.indent === indent && line.key !== null) siblings.add(line.key);
  }
  return { ancestors, siblings, item, first };
}

interface Flow {
  /** Position of the bracket in the content. */
  at: number;
  keys: string[];
  item: number | null;
  first: string;
  prefix: string;
  isValue: boolean;
}

/** Returns the innermost open `{` or `[` of a line, and the text typed in it. Quoted texts are skipped. */
function flowAt(content: string): Flow | null {
  const open: { kind: string; key: string | null; items: number; first: string; from: number }[] = [];
  const begin = /(?:^|:\s+|-\s+)([{[])/.exec(content);
  if (!begin) return null;
  const at = begin.index + begin[0].length - 1;
  let quote = '';
  for (let i = at; i < content.length; i++) {
    const one = content[i]!;
    const top = open.at(-1);
    if (quote !== '') {
      if (one === quote) quote = '';
    } else if (one === '"' || one === "'") quote = one;
    else if (one === '{' || one === '[')
      open.push({ kind: one, key: null, items: 0, first: '', from: i + 1 });
    else if (one === '}' || one === ']') open.pop();
    else if (one === ',' && top) {
      if (top.items === 0) top.first = unquoted(content.slice(top.from, i));
      top.items++;
      top.key = null;
      top.from = i + 1;
    } else if (one === ':' && top?.kind === '{' && top.key === null && /\s|$/.test(content[i + 1] ?? '')) {
      top.key = content.slice(top.from, i).trim();
      top.from = i + 1;
    }
  }
  const inner = open.at(-1);
  if (!inner) return null;
  return {
    at,
    keys: open.flatMap(({ kind, key }) => (kind === '{' && key !== null ? [key] : [])),
    item: inner.kind === '[' ? inner.items : null,
    first: inner.first,
    prefix: content.slice(inner.from).trimStart(),
    isValue: inner.kind === '[' || inner.key !== null,
  };
}

function inFlow(
  flow: Flow,
  key: string | null,
  around: Pick<Cursor, 'ancestors'>,
  line: number,
  indent: number,
): Cursor {
  const keys = [...(key === null ? [] : [key]), ...flow.keys];
  const last = flow.isValue ? (keys.pop() ?? null) : null;
  return {
    ancestors: [...around.ancestors, ...keys.map((one) => ({ key: one, line, indent }))],
    key: last,
    item: flow.item,
    first: flow.first,
    prefix: flow.prefix,
    siblings: new Set(),
  };
}

/** Returns the value of `key` among the children of an ancestor, as written; undefined where there is none. */
export function childText(text: string, { line, indent }: Ancestor, key: string): string | undefined {
  const lines = text.split('\n', line + MOST_LINES);
  for (let i = line + 1; i < lines.length; i++) {
    const [, lead = '', content = ''] = LINE.exec(lines[i]!)!;
    if (content === '' || content.startsWith('#')) continue;
    if (lead.length <= indent) return undefined;
    const match = KEY.exec(content);
    if (match && keyIn(match) === key) return match[4]?.replace(/\s+#.*$/, '').trim();
  }
  return undefined;
}
