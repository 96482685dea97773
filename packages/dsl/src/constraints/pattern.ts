import { RE2JS } from 're2js';

/**
 * Regular expressions of users, in Python's syntax, evaluated in time linear to the text (reference 3.3, `pattern`):
 * the engine has no backtracking, so lookaround and back references are not available.
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

/** Returns the compiled pattern, or the reason why it cannot be used. */
export function compilePattern(source: string): Pattern | string {
  let known = cache.get(source);
  if (known === undefined) {
    known = compile(source);
    if (cache.size >= CACHE_MAX) cache.clear();
    cache.set(source, known);
  }
  return known;
}

/**
 * Returns the reason why a text is no regular expression; null when it is one. Lookaround is accepted, although it
 * cannot be run.
 */
export function checkPattern(source: string): string | null {
  const compiled = compilePattern(source);
  if (typeof compiled !== 'string') return null;
  if (source.length > PATTERN_MAX) return compiled;
  try {
    // the built-in engine only checks the syntax; it never matches anything
    new RegExp(toJavaScript(source));
    return null;
  } catch {
    return compiled;
  }
}

/** Returns the approximate steps to compile a pattern: repetitions are written out. */
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
