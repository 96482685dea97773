import { RE2JS } from 're2js';

/**
 * Regular expressions written by users, in Python's syntax, run in time linear to the text (reference 3.3, `pattern`):
 * an engine without backtracking, so lookaround and back references are not available.
 */
export interface Pattern {
  /** Whether the pattern matches at the beginning of `text`. */
  matchesStart(text: string): boolean;
}

const PATTERN_MAX = 10_000;
const REPEAT = /\{(\d+)(?:,(\d*))?\}/g;
const EXPANSION_MAX = 1000;
const cache = new Map<string, Pattern | string>();
const CACHE_MAX = 500;

/** The compiled pattern, or why it cannot be used. */
export function compilePattern(source: string): Pattern | string {
  let known = cache.get(source);
  if (known === undefined) {
    known = compile(source);
    if (cache.size >= CACHE_MAX) cache.clear();
    cache.set(source, known);
  }
  return known;
}

/** Why a text is no regular expression; null when it is one. Lookaround counts as one, though it cannot be run. */
export function checkPattern(source: string): string | null {
  const compiled = compilePattern(source);
  if (typeof compiled !== 'string') return null;
  if (source.length > PATTERN_MAX) return compiled;
  try {
    // only the syntax is asked of the built-in engine; nothing is ever matched with it
    new RegExp(toJavaScript(source));
    return null;
  } catch {
    return compiled;
  }
}

/** Steps that compiling a pattern takes, more or less: repetitions are written out. */
export function patternCost(source: string): number {
  let cost = source.length;
  for (const [, low, high] of source.matchAll(REPEAT))
    cost += 8 * Math.min(EXPANSION_MAX, Math.max(Number(low), Number(high || 0)));
  return cost;
}

function toJavaScript(source: string): string {
  return source
    .replaceAll('(?P<', '(?<')
    .replace(/\(\?P=(\w+)\)/g, '\\k<$1>')
    .replace(/^\(\?[aiLmsux]+\)/, '')
    .replaceAll('\\Z', '$')
    .replaceAll('\\A', '^');
}

function compile(source: string): Pattern | string {
  if (source.length > PATTERN_MAX) return `longer than ${PATTERN_MAX} characters`;
  for (const [, low, high] of source.matchAll(REPEAT)) {
    if (Number(low) > EXPANSION_MAX || Number(high || 0) > EXPANSION_MAX)
      return `a repetition of more than ${EXPANSION_MAX}`;
  }
  try {
    const regex = RE2JS.compile(source.replaceAll('\\Z', '\\z'));
    return { matchesStart: (text) => regex.matcher(text).lookingAt() };
  } catch (error) {
    return error instanceof Error ? error.message : 'not a regular expression';
  }
}
