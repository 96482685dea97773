/** Compares two spellings of one object member by member. What differs is explained by a rule, or is a difference. */
import { canonicalJson } from '@baton/kernel';
import type { Rule } from './allowed';

export interface Difference {
  what: string;
  tenant: string | null;
  id: string;
  /** Members from the object down; empty: the object itself. */
  path: string;
  /** Undefined: it is not there. */
  there: unknown;
  here: unknown;
  /** Of the rule that explains it; null: nothing does. */
  reason: string | null;
}

export type Source = 'recording' | 'archive';
type Path = readonly string[];
type Found = Pick<Difference, 'path' | 'there' | 'here' | 'reason'>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

const equal = (a: unknown, b: unknown): boolean =>
  a === b || (a !== undefined && b !== undefined && canonicalJson(a as never) === canonicalJson(b as never));

const memberMatches = (pattern: string, member: string): boolean => {
  if (!pattern.includes('*')) return pattern === member;
  const escaped = pattern.split('*').map((text) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 's').test(member);
};

function pathMatches(pattern: string, path: Path): boolean {
  if (pattern === '') return path.length === 0;
  const parts = pattern.split('.');
  if (parts.at(-1) === '**') {
    const before = parts.slice(0, -1);
    return path.length > before.length && before.every((part, i) => memberMatches(part, path[i]!));
  }
  return parts.length === path.length && parts.every((part, i) => memberMatches(part, path[i]!));
}

const sorted = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((one) => canonicalJson(one as never)).sort() : value;

function holds({ when, from, to }: Rule, there: unknown, here: unknown): boolean {
  switch (when) {
    case 'any':
      return true;
    case 'absent':
      return here === undefined || here === null;
    case 'extra':
      return there === undefined;
    case 'filled':
      return isEmpty(there);
    case 'empty':
      return isEmpty(there) && isEmpty(here);
    case 'same-members':
      return Array.isArray(there) && Array.isArray(here) && equal(sorted(there), sorted(here));
    case 'becomes':
      return from!.some((value) => equal(value, there)) && isLike(to, here);
    case 'instant':
      return isSameInstant(there, here);
  }
}

const isLike = (pattern: unknown, value: unknown): boolean =>
  typeof pattern === 'string' && typeof value === 'string'
    ? memberMatches(pattern, value)
    : equal(pattern, value);

function isSameInstant(there: unknown, here: unknown): boolean {
  if (typeof there !== 'string' || typeof here !== 'string') return false;
  const [a, b] = [there, here].map((text) => Date.parse(withZone(text)));
  return a !== undefined && !Number.isNaN(a) && a === b;
}

/** The original leaves the zone out at some places; it always means UTC. */
const withZone = (text: string): string => {
  const iso = text.replace(' ', 'T');
  return /(Z|[+-]\d\d:?\d\d)$/.test(iso) ? iso : `${iso}Z`;
};

export interface Comparer {
  /** Differences of one object; `undefined` stands for an object that is not there. */
  compare(what: string, id: string, there: unknown, here: unknown): Found[];
}

export function createComparer(rules: readonly Rule[], source: Source): Comparer {
  const used = rules.filter(({ only }) => only === undefined || only === source);
  const byKind = new Map<string, Rule[]>();
  const rulesOf = (what: string): Rule[] => {
    let found = byKind.get(what);
    if (!found) byKind.set(what, (found = used.filter((rule) => rule.what === '*' || rule.what === what)));
    return found;
  };
  return {
    compare(what, id, there, here) {
      const found: Found[] = [];
      const ofObject = rulesOf(what).filter((rule) => rule.id === undefined || rule.id === id);
      walk(ofObject, [], comparable(there), comparable(here), found);
      return found;
    },
  };
}

function walk(rules: readonly Rule[], path: Path, there: unknown, here: unknown, found: Found[]): void {
  if (equal(there, here)) return;
  const rule = rules.find((one) => pathMatches(one.path, path) && holds(one, there, here));
  if (!rule && isObject(there) && isObject(here)) return members(rules, path, there, here, found);
  if (!rule && Array.isArray(there) && Array.isArray(here) && there.length === here.length) {
    for (const [i, one] of there.entries()) walk(rules, [...path, String(i)], one, here[i], found);
    return;
  }
  found.push({ path: path.join('.'), there, here, reason: rule?.reason ?? null });
}

function members(
  rules: readonly Rule[],
  path: Path,
  there: Record<string, unknown>,
  here: Record<string, unknown>,
  found: Found[],
): void {
  for (const [name, value] of Object.entries(there)) walk(rules, [...path, name], value, here[name], found);
  // Baton tells more of an object than the other manager did. Below that, a member that was not there is a difference.
  if (path.length === 0) return;
  for (const [name, value] of Object.entries(here))
    if (!Object.hasOwn(there, name)) walk(rules, [...path, name], undefined, value, found);
}

/** Labels and workflows are sets: they are compared by what names them. */
function comparable(object: unknown): unknown {
  if (!isObject(object)) return object;
  const { labels, workflows } = object;
  return {
    ...object,
    ...(Array.isArray(labels) && { labels: byName(labels, ({ key, value }) => `${key}=${value}`) }),
    ...(Array.isArray(workflows) && { workflows: byName(workflows, ({ name }) => String(name)) }),
  };
}

function byName(list: unknown[], nameOf: (item: Record<string, unknown>) => string): Record<string, unknown> {
  return Object.fromEntries(list.filter(isObject).map((item) => [nameOf(item), item]));
}
