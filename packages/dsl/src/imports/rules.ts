import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic';
import { type FoundText, type ImportResolver, isUnreadable, type Unreadable } from './resolver';

/** Prefix replacements before a resolver (reference 2.2, "Default import resolver config"). */
export interface ResolverRules {
  rules: { prefix: string; replacement: string }[];
  /** Whether the address itself is tried when the matching rules find nothing; true by default. */
  fallback?: boolean;
}

type Checked = { ok: true; value: ResolverRules } | { ok: false; error: Diagnostic };

/** Reads the configured form `{rules: [{PREFIX: REPLACEMENT}, ...], fallback}`. */
export function parseResolverRules(config: unknown): Checked {
  const bad = (message: string): Checked => ({
    ok: false,
    error: diagnostic('bad_resolver_rules', message, {
      path: 'rules',
      expected: 'a list of single-entry mappings PREFIX: REPLACEMENT',
    }),
  });
  const { rules = [], fallback = true } = (config ?? {}) as { rules?: unknown; fallback?: unknown };
  if (!Array.isArray(rules)) return bad('the rules of the import resolver must be a list');
  const result: ResolverRules = { rules: [], fallback: fallback !== false };
  for (const rule of rules as unknown[]) {
    if (typeof rule !== 'object' || rule === null || Array.isArray(rule))
      return bad('a rule of the import resolver must be a mapping');
    const pairs = Object.entries(rule);
    const [pair] = pairs;
    if (pairs.length !== 1 || typeof pair![1] !== 'string')
      return bad('a rule of the import resolver must have one entry');
    result.rules.push({ prefix: pair![0], replacement: pair![1] });
  }
  return { ok: true, value: result };
}

/** Applies rules before `inner`: the first readable replacement wins, then the address itself. */
export function withRules(inner: ImportResolver, config: ResolverRules): ImportResolver {
  return {
    ...inner,
    read: async (url) => {
      const failed = new Set<string>();
      let isMatched = false;
      let why: Unreadable | null = null;
      for (const { prefix, replacement } of config.rules) {
        if (!url.startsWith(prefix)) continue;
        isMatched = true;
        const target = replacement + url.slice(prefix.length);
        if (failed.has(target)) continue;
        const found = await inner.read(target);
        if (found !== null && !isUnreadable(found)) return located(found, target);
        why = found ?? why;
        failed.add(target);
      }
      if ((isMatched && config.fallback === false) || failed.has(url)) return why;
      return inner.read(url);
    },
  };
}

function located(found: string | FoundText, location: string): FoundText {
  return typeof found === 'string' ? { text: found, location } : found;
}
